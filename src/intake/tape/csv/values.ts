import {
  digitsBelowMs,
  expectedTime,
  type FineUnit,
  type InstantBounds,
  isWithin,
} from '../../../core/domain/instant-gate.ts';

function isDigitOrPoint(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 46;
}

/**
 * A decimal number in vendors' notation (`1.5`, `-.25`, `3e-05`); NaN for everything else, including blank and `0x10`.
 */
export function readNumber(text: string): number {
  const first = text.charCodeAt(0);
  if (!(isDigitOrPoint(first) || first === 45) || !isDigitOrPoint(text.charCodeAt(text.length - 1))) return Number.NaN;
  // Only JavaScript accepts 0x, 0b and 0o.
  const second = text.charCodeAt(1) | 32;
  if (second === 120 || second === 98 || second === 111) return Number.NaN;
  const value = +text;
  return Number.isFinite(value) ? value : Number.NaN;
}

const grouped = /^[+\u2212-]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/;

/**
 * A number in pages' notation: like `readNumber`, also with a plus or a typographic minus, and with thousands
 * separators before the point. NaN for everything else: a decimal comma is never guessed.
 */
export function readGroupedNumber(text: string): number {
  const plain = readNumber(text);
  if (!Number.isNaN(plain)) return plain;
  return grouped.test(text) ? +text.replace('\u2212', '-').replaceAll(',', '') : Number.NaN;
}

const blank = /^(?:|-+|n\/?a|nan|null)$/i;

/** True if a page writes this for no value: blank, `--`, `N/A`, `NaN`. */
export function isBlank(text: string): boolean {
  return blank.test(text);
}

/** Like `readNumber`, for whole numbers from 0 to 2^53. */
export function readCount(text: string): number {
  const value = readNumber(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}

const digits = /^\d+$/;

/** Epoch ms of a timestamp (the part below a millisecond is dropped); NaN if it is invalid or outside the bounds. */
export function readInstant(text: string, unit: FineUnit, bounds: InstantBounds): number {
  const ms = digits.test(text) ? +text.slice(0, text.length - digitsBelowMs[unit]) : Number.NaN;
  return isWithin(bounds, ms) ? ms : Number.NaN;
}

/** The reason why a text is not a timestamp within the bounds. */
export function problemOfInstant(text: string, unit: FineUnit, bounds: InstantBounds): string {
  const value = digits.test(text) ? +text : Number.NaN;
  return `expected ${expectedTime(value, unit, bounds)}, got ${shown(text)}`;
}

/** The expected times of a contract whose last session ends at `endMs`. */
export function beforeExpiry(endMs: number): string {
  return `a time before ${new Date(endMs).toISOString()}, the end of the contract's last session`;
}

/** A text in the form shown in the reason for a bad field. */
export function shown(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}
