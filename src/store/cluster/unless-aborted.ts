/**
 * Settles like `work`; rejects with the signal's reason if that is aborted first. For many pieces of work with one
 * signal: `Promise.race` with a pending promise would retain every result.
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
