/** The shared work of a request. */
export interface SharedWork {
  /** By name; each runs once. */
  once: Map<string, Promise<unknown>>;
}

/** Runs `work` once per request, whichever caller is first. */
export function oncePerRequest<T>({ once }: SharedWork, name: string, work: () => Promise<T>): Promise<T> {
  let done = once.get(name) as Promise<T> | undefined;
  if (!done) {
    done = work();
    once.set(name, done);
  }
  return done;
}

/** A request whose reads of a symbol are all of one commit. */
export interface OneCommit {
  /**
   * Does the work of the request whose result is its answer. If what it read was not of one commit, it is done again,
   * with nothing left of the first time, also if it threw; at last on a snapshot of the store. `mayRepeat` false: it is
   * done once, on a snapshot. `isFinal`: true for what it throws for another reason than what it read.
   */
  ofOneCommit<T>(work: () => Promise<T>, mayRepeat: boolean, isFinal?: (error: unknown) => boolean): Promise<T>;
}
