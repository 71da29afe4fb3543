/**
 * PostgreSQL's code for an error that it answered with, e.g. `57014`, whether the statement was `pg`'s or Prisma's.
 * Null for any other error: a connection that broke, an answer that did not come.
 */
export function sqlStateOf(error: unknown): string | null {
  const { code, severity, meta } = (error ?? {}) as { code?: unknown; severity?: unknown; meta?: unknown };
  if (typeof severity === 'string' && typeof code === 'string') return code;
  const { driverAdapterError } = (meta ?? {}) as { driverAdapterError?: { cause?: { originalCode?: unknown } } };
  const original = driverAdapterError?.cause?.originalCode;
  return typeof original === 'string' ? original : null;
}
