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

/** A statement that was not answered in time, or a connection that was lost, or not made in time. */
export type DriverFailure = 'unanswered' | 'lost' | 'unreachable';

// The errors that `pg` makes itself have no code. This is the only place that knows their texts.
const driverTexts: ReadonlyMap<string, DriverFailure> = new Map([
  ['Query read timeout', 'unanswered'],
  ['Connection terminated', 'lost'],
  ['Connection terminated unexpectedly', 'lost'],
  ['Client was closed and is not queryable', 'lost'],
  ['Client has encountered a connection error and is not queryable', 'lost'],
  ['timeout expired', 'unreachable'],
  ['Connection terminated due to connection timeout', 'unreachable'],
  ['timeout exceeded when trying to connect', 'unreachable'],
]);

/** The failure behind an error of `pg` itself; null for any other, such as an error response of PostgreSQL. */
export function driverFailureOf(error: unknown): DriverFailure | null {
  return error instanceof Error ? (driverTexts.get(error.message) ?? null) : null;
}
