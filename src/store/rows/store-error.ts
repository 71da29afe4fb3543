/**
 * An error for the operator of the gateway: why the store cannot be opened, and what to do. Its message is complete and
 * holds no secret; `name` is `StoreRefused`, by which the command line knows to print it without a stack.
 */
export function storeError(message: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  error.name = 'StoreRefused';
  return error;
}
