/**
 * Settles as `work` does; rejects with the signal's reason if that is aborted first. For many pieces of work beside one
 * signal: `Promise.race` with a promise that stays pending keeps every result for as long as it does.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    const isOver = () => signal.removeEventListener('abort', onAbort);
    work.then(resolve, reject).then(isOver);
  });
}
