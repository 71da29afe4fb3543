import { z } from 'zod';
import { dayMs } from '../runtime/clock.ts';

/** The parts of a comma-separated list, without duplicates. */
export function list(text: string): string[] {
  return [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '');
}

/** A URL of one of these protocols, such as `https:`. */
export function urlOf(protocols: readonly string[]) {
  return z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `expected a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  });
}

/** A URL of a Redis server, as ioredis reads it. */
export const redisUrl = z.string().refine(
  (text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, hostname, pathname } = new URL(text);
    return ['redis:', 'rediss:'].includes(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname);
  },
  {
    error:
      'expected a URL such as redis://host:6379 or rediss://user:password@host:6379/0, the password percent-encoded',
  },
);

/** `true` or `false`. */
export const trueOrFalse = z
  .enum(['true', 'false'], { error: 'expected true or false' })
  .transform((text) => text === 'true');

/** A whole number from `min` to `max`; `what` names it in the message. */
export function wholeNumber(min: number, max: number, what: string) {
  return z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `expected ${what}`,
    })
    .transform(Number);
}

/** True if a text is an origin, in the form that browsers send. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

/** Requests per minute. */
export const perMinute = wholeNumber(1, 1_000_000, 'requests per minute, a whole number from 1 to 1000000');

/** Milliseconds from 0 to `max`. */
export function milliseconds(max: number) {
  return wholeNumber(0, max, `milliseconds, a whole number from 0 to ${max}`);
}

/** A host name or address to listen on. */
export const host = z.string().regex(/^[\w.:%-]+$/, { error: 'expected a host name or address such as 127.0.0.1' });

/** A TCP port. */
export const port = wholeNumber(0, 65_535, 'a port, a whole number from 0 to 65535');

/** Description of a valid number of workers. */
export const workersExpected = 'a number of processes from 1 to 256, or auto';

/** True for a valid number of workers. */
export function isWorkers(text: string): boolean {
  return text === 'auto' || (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 256);
}

/** Parses `name=value` pairs in OpenTelemetry's format: separated by commas, values percent-encoded. */
export function headersOf(text: string): Record<string, string> {
  const pairs = list(text).map((pair) => [
    pair.slice(0, pair.indexOf('=')).trim(),
    pair.slice(pair.indexOf('=') + 1).trim(),
  ]);
  return Object.fromEntries(pairs.map(([name, value]) => [name, decodeURIComponent(value!)]));
}

/** A number of days, such as `90d`, as milliseconds. */
export const days = z
  .string()
  .refine((text) => /^\d{1,5}d?$/.test(text) && Number.parseInt(text, 10) <= 36_500, {
    error: 'expected days such as 90d, from 0 to 36500d',
  })
  .transform((text) => Number.parseInt(text, 10) * dayMs);

/** A number of connections. */
export const connections = wholeNumber(1, 1_000_000, 'connections at a time, a whole number from 1 to 1000000');
