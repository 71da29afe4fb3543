import { reasonOf } from '../../store/rows/connection-failure.ts';

/** An error as text. An AggregateError, as of a connection that fails at every address, has no message of its own. */
export function failureText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(failureText).join('; ');
  if (!(error instanceof Error)) return String(error);
  return reasonOf(error) || ((error as NodeJS.ErrnoException).code ?? error.name);
}
