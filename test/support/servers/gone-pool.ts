/**
 * What `query` and `connect` of a pool do when its database is gone: a callback that is given gets the error, else the
 * promise.
 */
export function goneWith(message: string) {
  return (...args: unknown[]): unknown => {
    const error = new Error(message);
    const callback = args.at(-1);
    return typeof callback === 'function' ? callback(error) : Promise.reject(error);
  };
}
