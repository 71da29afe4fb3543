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
