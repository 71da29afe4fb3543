import { expectedTime, type InstantBounds, isWithin } from '../../domain/instant-gate.ts';

function isDigitOrPoint(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 46;
}

/**
 * A decimal number as vendors write it (`1.5`, `-.25`, `3e-05`); NaN for everything else, blank and `0x10` included.
 */
export function readNumber(text: string): number {
  const first = text.charCodeAt(0);
  if (!(isDigitOrPoint(first) || first === 45) || !isDigitOrPoint(text.charCodeAt(text.length - 1))) return Number.NaN;
  // 0x, 0b and 0o are numbers to JavaScript only.
  const second = text.charCodeAt(1) | 32;
  if (second === 120 || second === 98 || second === 111) return Number.NaN;
  const value = +text;
  return Number.isFinite(value) ? value : Number.NaN;
}

const grouped = /^[+\u2212-]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/;

/**
 * A number as pages write it: as `readNumber`, also with a plus or a typographic minus, and with commas in threes
 * before the point. NaN for everything else: a decimal comma is never guessed.
 */
export function readGroupedNumber(text: string): number {
  const plain = readNumber(text);
  if (!Number.isNaN(plain)) return plain;
  return grouped.test(text) ? +text.replace('\u2212', '-').replaceAll(',', '') : Number.NaN;
}

const blank = /^(?:|-+|n\/?a|nan|null)$/i;

/** Whether a page writes this where it has no value: nothing, `--`, `N/A`, `NaN`. */
export function isBlank(text: string): boolean {
  return blank.test(text);
}

/** As `readNumber` for whole numbers from 0 to 2^53. */
export function readCount(text: string): number {
  const value = readNumber(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}

const digits = /^\d+$/;

/**
 * Epoch ms of a nanosecond stamp (the part below a millisecond is dropped); NaN when it is none within the bounds.
 */
export function readNanoseconds(text: string, bounds: InstantBounds): number {
  const ms = digits.test(text) ? +text.slice(0, -6) : Number.NaN;
  return isWithin(bounds, ms) ? ms : Number.NaN;
}

/** Why a text is no nanosecond stamp within the bounds. */
export function problemOfNanoseconds(text: string, bounds: InstantBounds): string {
  const value = digits.test(text) ? +text : Number.NaN;
  return `expected ${expectedTime(value, 'nanoseconds', bounds)}, got ${shown(text)}`;
}

/** What a bad field's reason says of it. */
export function shown(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}
