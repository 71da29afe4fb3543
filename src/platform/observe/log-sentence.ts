/** An error in a log entry. */
interface LoggedError {
  message?: string;
  stack?: string;
  cause?: LoggedError;
  errors?: LoggedError[];
}

/** A parsed line of the log. */
interface LogEntry {
  level: number;
  time: string;
  msg?: string;
  err?: LoggedError;
  [detail: string]: unknown;
}

// Names by pino's lowest number of each level; lower levels have none, because the sentence says enough.
const prefixes = [
  [60, 'Fatal: '],
  [50, 'Error: '],
  [40, 'Warning: '],
] as const;

// Control characters that would move the cursor or change the colors of a terminal.
const controls = /[\p{Cc}\u2028\u2029]+/gu;

function messagesOf(error: LoggedError | undefined): string[] {
  if (error === undefined) return [];
  return [error.message ?? '', ...messagesOf(error.cause), ...(error.errors ?? []).flatMap(messagesOf)].filter(
    (message) => message !== '',
  );
}

function detailOf([name, value]: [string, unknown]): string {
  return `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

/**
 * A line of the log for people: the event, its error and causes, and the details in parentheses. Warnings and errors
 * are labelled. `withStack` adds the stack of the error.
 */
export function sentenceOf({ level, time, msg, err, ...details }: LogEntry, withStack: boolean): string {
  const prefix = prefixes.find(([from]) => level >= from)?.[1] ?? '';
  // A message may repeat the text of its error.
  const causes = messagesOf(err).filter((message) => !msg?.includes(message));
  const what = [...(msg ? [msg] : []), ...causes].join(': ');
  const said = prefix === '' ? what.charAt(0).toUpperCase() + what.slice(1) : prefix + what;
  const shown = Object.entries(details).map(detailOf).join(', ');
  const whole = `${said}${shown === '' ? '' : ` (${shown})`}`.replace(controls, ' ');
  // A period after a URL would be copied with it.
  const end = /[.!?]$|:\/\/\S*$/.test(whole) ? '' : '.';
  const stack = withStack && err?.stack ? err.stack.split('\n').slice(1) : [];
  return [`${whole}${end}`, ...stack.map((line) => line.replace(controls, ' '))].join('\n');
}
