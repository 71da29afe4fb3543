/** An error in the form that is logged. */
export interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  cause?: LoggedError;
  errors?: LoggedError[];
  [detail: string]: unknown;
}

// Logged fields of errors of PostgreSQL, Node and Prisma besides the message. Not `detail`, `where` or `hint`, which
// repeat values; nor `input`, which errors of addresses have.
const safeFields = [
  'code',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'syscall',
  'address',
  'port',
];

const deepest = 5;

/** An error without the values that it may contain: its kind, message, location and causes, a few levels deep. */
export function safeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const known = error as unknown as Record<string, unknown>;
  const details = safeFields.filter((name) => ['string', 'number'].includes(typeof known[name]));
  const inner = depth < deepest;
  return {
    type: error.name,
    message: error.message,
    ...(error.stack !== undefined && { stack: error.stack }),
    ...Object.fromEntries(details.map((name) => [name, known[name]])),
    ...(inner && error.cause !== undefined && { cause: safeError(error.cause, depth + 1) }),
    ...(inner &&
      error instanceof AggregateError && {
        errors: error.errors.slice(0, 5).map((each) => safeError(each, depth + 1)),
      }),
  };
}
