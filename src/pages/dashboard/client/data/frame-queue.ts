// Gathers what comes in a burst, so that the page changes at most once a frame however many messages come.

/** A queue that hands what was put into it, in order, to `flush` at the next frame; `keep` drops the rest before. */
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
