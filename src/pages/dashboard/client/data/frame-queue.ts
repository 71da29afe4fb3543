// Collects bursts of messages, so that the page changes at most once per frame.

/** A queue that passes its items, in order, to `flush` at the next frame. `keep` filters the queued items. */
export function frameQueue<Item>(
  flush: (items: Item[]) => void,
  nextFrame: (run: () => void) => void,
): { put: (item: Item) => void; keep: (isKept: (item: Item) => boolean) => void } {
  let waiting: Item[] = [];
  let asked = false;
  return {
    put: (item) => {
      waiting.push(item);
      if (asked) return;
      asked = true;
      nextFrame(() => {
        asked = false;
        const items = waiting;
        waiting = [];
        if (items.length > 0) flush(items);
      });
    },
    keep: (isKept) => {
      waiting = waiting.filter(isKept);
    },
  };
}
