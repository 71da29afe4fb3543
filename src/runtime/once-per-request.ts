/** Where the shared work of a request is. */
export interface SharedWork {
  /** By name, done once. */
  once: Map<string, Promise<unknown>>;
}

/** Does `work` once a request, whichever caller asks first. */
export function oncePerRequest<T>({ once }: SharedWork, name: string, work: () => Promise<T>): Promise<T> {
  let done = once.get(name) as Promise<T> | undefined;
  if (!done) {
    done = work();
    once.set(name, done);
  }
  return done;
}
