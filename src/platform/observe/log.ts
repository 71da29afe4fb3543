import type { Writable } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';
import { safeError } from './safe-error.ts';

/** Settings of a log. */
interface LogSettings {
  level: string;
  /** Texts that must never be logged, such as passwords. */
  secrets: readonly string[];
  /** Null, or absent: sentences on a terminal, JSON elsewhere. */
  format?: 'text' | 'json' | null;
}

// API keys, tokens of three parts, credentials in the form of a header, and passwords in a URL.
const secretForms: readonly (readonly [pattern: RegExp, shown: string])[] = [
  [/tg_live_[0-9A-Za-z]+(_[0-9A-Za-z]+)?/g, 'tg_live_***'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '***'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 ***'],
  [/(\w:\/\/[^:@/\s"]*):[^@/\s"]+@/g, '$1:***@'],
];

/** `text` with every apparent credential, and every one of `secrets`, masked. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  let safe = text;
  for (const secret of secrets) safe = safe.replaceAll(secret, '***');
  for (const [pattern, shown] of secretForms) safe = safe.replace(pattern, shown);
  return safe;
}

// Clears the rest of a progress line.
const clearLine = '\r\u001b[K';

/**
 * Opens a log of one JSON object or sentence per line. Errors are logged without their values; apparent credentials are
 * masked.
 */
export function openLog(
  { level, secrets, format }: LogSettings,
  stream: Writable & { isTTY?: boolean | undefined },
): Logger {
  // Secrets as they appear in a line; short ones are excluded, since they would mask unrelated text.
  const long = secrets.filter((secret) => secret.length >= 4);
  const hidden = [...new Set(long.flatMap((secret) => [JSON.stringify(secret).slice(1, -1), secret]))];
  const isText = (format ?? (stream.isTTY ? 'text' : 'json')) === 'text';
  const withStack = level === 'debug' || level === 'trace';
  const start = stream.isTTY ? clearLine : '';
  const shown = (line: string) => (isText ? `${start}${sentenceOf(JSON.parse(line), withStack)}\n` : line);
  const destination: DestinationStream = { write: (line) => void stream.write(withoutSecrets(shown(line), hidden)) };
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: safeError } };
  return pino(options, destination);
}

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
function sentenceOf({ level, time, msg, err, ...details }: LogEntry, withStack: boolean): string {
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
