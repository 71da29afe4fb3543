/** An error as people read it. Not every one has words: a refused connection is an AggregateError without a message. */
export function failureText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(failureText).join('; ');
  if (!(error instanceof Error)) return String(error);
  return error.message || ((error as NodeJS.ErrnoException).code ?? error.name);
}
