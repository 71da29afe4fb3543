/**
 * An error for the operator of the gateway: the reason for which the store cannot be opened, and the remedy. Its
 * message is complete and contains no secret; by the `name` `StoreRefused` the command line prints it without a stack.
 */
export function storeError(message: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  error.name = 'StoreRefused';
  return error;
}
