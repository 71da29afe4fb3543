/**
 * Behaviour of a pool's `query` and `connect` after its database is gone: the callback, if given, gets the error, else
 * the promise rejects.
 */
export function goneWith(message: string) {
  return (...args: unknown[]): unknown => {
    const error = new Error(message);
    const callback = args.at(-1);
    return typeof callback === 'function' ? callback(error) : Promise.reject(error);
  };
}
