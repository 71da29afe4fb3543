/**
 * PostgreSQL's code of an error response, e.g. `57014`, for `pg`'s and Prisma's statements. Null for any other error: a
 * broken connection, a missing answer.
 */
export function sqlStateOf(error: unknown): string | null {
  const { code, severity, meta } = (error ?? {}) as { code?: unknown; severity?: unknown; meta?: unknown };
  if (typeof severity === 'string' && typeof code === 'string') return code;
  const { driverAdapterError } = (meta ?? {}) as { driverAdapterError?: { cause?: { originalCode?: unknown } } };
  const original = driverAdapterError?.cause?.originalCode;
  return typeof original === 'string' ? original : null;
}
