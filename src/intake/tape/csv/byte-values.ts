import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import { priceUnits, sizeParts } from '../../../core/domain/market/print.ts';
import { readNumber } from './values.ts';

/*
 * Numbers read straight from a file's bytes, `bytes[start…end)`: for trade tapes, with a hundred million lines a day.
 * All return NaN for text that is not such a number, and for blank text.
 */

const [zero, nine, point] = [0x30, 0x39, 0x2e];

// Maximum number of digits that a double represents exactly.
const exactDigits = 15;

// Up to this many digits fit a small integer, with which a processor computes faster than with doubles.
const smallDigits = 9;
const smallLimit = 10 ** smallDigits;

/** At least one digit and at most nine. */
function smallAt(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - zero;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = (value * 10 + digit) | 0;
  }
  return value;
}

/** Whole numbers from 0 to 10^15. */
export function countAt(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length <= 0 || length > exactDigits) return Number.NaN;
  if (length <= smallDigits) return smallAt(bytes, start, end);
  const middle = end - smallDigits;
  return smallAt(bytes, start, middle) * smallLimit + smallAt(bytes, middle, end);
}

/** A number parsed by `readNumber`, in `1/scale`, rounded: the fallback of `scaledAt`. */
function writtenAt(bytes: Buffer, start: number, end: number, scale: number): number {
  const value = Math.round(readNumber(bytes.toString('latin1', start, end)) * scale);
  return value >= 0 && Number.isSafeInteger(value) ? value : Number.NaN;
}

/** A decimal number from 0 in units of 10^-places: exact up to that many decimals, rounded beyond. */
function scaledAt(bytes: Buffer, start: number, end: number, places: number): number {
  let value = 0;
  let decimals = -1;
  if (end <= start || end - start > exactDigits - places) return writtenAt(bytes, start, end, 10 ** places);
  for (let i = start; i < end; i++) {
    const code = bytes[i]!;
    if (code >= zero && code <= nine) {
      // Digits beyond the unit are left to the fallback, which rounds.
      if (decimals >= places) return writtenAt(bytes, start, end, 10 ** places);
      value = value * 10 + (code - zero);
      if (decimals >= 0) decimals++;
    } else if (code === point && decimals < 0) decimals = 0;
    else return writtenAt(bytes, start, end, 10 ** places);
  }
  if (decimals <= 0 && bytes[end - 1] === point) return writtenAt(bytes, start, end, 10 ** places);
  for (let i = Math.max(decimals, 0); i < places; i++) value *= 10;
  return value;
}

const pricePlaces = Math.log10(priceUnits);
const sizePlaces = Math.log10(sizeParts);

/** Dollars from 0 as an integer of 1e-4 dollars. */
export function priceAt(bytes: Buffer, start: number, end: number): number {
  return scaledAt(bytes, start, end, pricePlaces);
}

/** Most sizes are integers of few digits. */
export function sizeMicrosAt(bytes: Buffer, start: number, end: number): number {
  // Nearly all sizes are whole and short.
  const whole = end - start <= 8 ? countAt(bytes, start, end) : Number.NaN;
  return Number.isNaN(whole) ? scaledAt(bytes, start, end, sizePlaces) : whole * sizeParts;
}

/** Epoch ms of a timestamp with a number of digits below its millisecond; NaN if it is outside the bounds. */
export function stampMsAt(
  bytes: Uint8Array,
  start: number,
  end: number,
  digits: number,
  { fromMs, toMs }: InstantBounds,
): number {
  const ms = countAt(bytes, start, end - digits);
  return ms >= fromMs && ms <= toMs ? ms : Number.NaN;
}

/** Nanoseconds of the last digit, by the number of digits below a millisecond. */
const nanosOfDigits = [1_000_000, 100_000, 10_000, 1000, 100, 10, 1];

/** The nanoseconds of a timestamp within its millisecond. */
export function stampNanosAt(bytes: Uint8Array, end: number, digits: number): number {
  return digits === 0 ? 0 : countAt(bytes, end - digits, end) * nanosOfDigits[digits]!;
}
