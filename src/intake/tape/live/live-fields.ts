import { expectedTime, type InstantBounds, isWithin } from '../../../core/domain/instant-gate.ts';
import { splitNanos } from '../../../core/domain/market/print.ts';
import { readTicker } from '../../../core/domain/market/ticker.ts';
import { shown } from '../csv/values.ts';
import { largestId } from '../prints/print-fields.ts';

/** Thrown for an invalid key of a live line; the message is the line's reason. */
export class BadField extends Error {
  override readonly name = 'BadField';

  constructor(key: string, expected: string, value: unknown) {
    const got =
      value === undefined ? 'nothing' : typeof value === 'string' ? shown(value) : JSON.stringify(value)?.slice(0, 40);
    super(`${key}: expected ${expected}, got ${got}`);
  }
}

/** A JSON object with unchecked content. */
export type Unread = Record<string, unknown>;

/** A JSON value as an object. Throws `BadField` naming `key`. */
export function objectOf(value: unknown, key: string): Unread {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadField(key, 'an object', value);
  return value as Unread;
}

/** A number from 0 to `max`. Throws `BadField`. */
export function amount(line: Unread, key: string, max = Number.MAX_SAFE_INTEGER): number {
  const value = line[key];
  if (typeof value === 'number' && value >= 0 && value <= max) return value;
  throw new BadField(key, max === Number.MAX_SAFE_INTEGER ? 'a number from 0' : `a number from 0 to ${max}`, value);
}

/** A whole number from 0 to `max`; `missing` for an absent one, if given. Throws `BadField`. */
export function whole(line: Unread, key: string, max = Number.MAX_SAFE_INTEGER, missing?: number): number {
  const value = line[key] ?? missing;
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max) return value as number;
  throw new BadField(
    key,
    max === Number.MAX_SAFE_INTEGER ? 'a whole number from 0' : `a whole number from 0 to ${max}`,
    value,
  );
}

/** A number, null for null or an absent key. Throws `BadField`. */
export function optionalNumber(line: Unread, key: string): number | null {
  const value = line[key] ?? null;
  if (value === null || Number.isFinite(value)) return value as number | null;
  throw new BadField(key, 'a number or null', value);
}

/** A text of at least one character. Throws `BadField`. */
export function text(line: Unread, key: string, expected: string): string {
  const value = line[key];
  if (typeof value === 'string' && value !== '') return value;
  throw new BadField(key, expected, value);
}

const noConditions: readonly number[] = [];

/** A ticker, in capitals; in any spelling of its suffix. Throws `BadField`. */
export function tickerOf(line: Unread, key: string): string {
  const expected = 'a ticker such as SPY or BRK.B';
  const value = text(line, key, expected);
  const ticker = value === value.toUpperCase() ? readTicker(value) : null;
  if (ticker === null) throw new BadField(key, expected, value);
  return ticker;
}

/** `O:` and an OSI symbol, parsed by `read`, which returns null for an invalid one. Throws `BadField`. */
export function contractOf<T>(line: Unread, read: (text: string) => T | null): T {
  const expected = 'O: and an OSI symbol';
  const value = text(line, 'contract', expected);
  const contract = /^O:[A-Z0-9]{16,21}$/.test(value) ? read(value) : null;
  if (contract === null) throw new BadField('contract', expected, value);
  return contract;
}

/** A list of condition ids; empty if absent. Throws `BadField`. */
export function conditionIds(line: Unread): readonly number[] {
  const value = line.conditions ?? noConditions;
  const isId = (id: unknown) => Number.isInteger(id) && (id as number) >= 0 && (id as number) <= largestId;
  if (Array.isArray(value) && value.every(isId)) return value as readonly number[];
  throw new BadField('conditions', 'a list of condition ids', value);
}

/**
 * Nanoseconds since 1970, in decimal digits as a text: a JSON number would lose the last ones. Throws `BadField` unless
 * it is an instant within the bounds.
 */
export function stamp(line: Unread, bounds: InstantBounds): { tsMs: number; tsNanos: number } {
  const value = line.sip_timestamp;
  if (typeof value !== 'string' || !/^\d+$/.test(value))
    throw new BadField('sip_timestamp', 'nanoseconds since 1970 as a string of digits', value);
  const split = splitNanos(value);
  if (isWithin(bounds, split.tsMs)) return split;
  throw new BadField('sip_timestamp', expectedTime(+value, 'nanoseconds', bounds), value);
}

/** Milliseconds since 1970. Throws `BadField` unless it is an instant within the bounds. */
export function instant(line: Unread, key: string, bounds: InstantBounds): number {
  const value = whole(line, key);
  if (isWithin(bounds, value)) return value;
  throw new BadField(key, expectedTime(value, 'milliseconds', bounds), value);
}
