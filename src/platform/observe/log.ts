import type { Writable } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';
import { sentenceOf } from './log-sentence.ts';
import { safeError } from './safe-error.ts';

/** Settings of a log. */
export interface LogSettings {
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
export function withoutSecrets(text: string, secrets: readonly string[]): string {
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
