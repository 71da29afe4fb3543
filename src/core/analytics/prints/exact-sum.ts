import { priceUnits, sizeParts } from '../../domain/market/print.ts';

/*
 * Sums of decimal sizes and of prices times them, exact, so that the order of arrival changes no digit. Whole shares
 * and millionths are summed apart; so are whole price units of money (1e-4 dollars) and their millionths.
 */

/** A sum with parts of 1e-6: `whole + micros / 1e6`, micros always in 0…999,999, even if negative values are added. */
export interface ExactSum {
  whole: number;
  micros: number;
}

/** A sum of nothing. */
export function exactZero(): ExactSum {
  return { whole: 0, micros: 0 };
}

/** Adds `whole + micros / 1e6`; micros may be any integer up to 2^53. */
export function addExact(sum: ExactSum, whole: number, micros: number): void {
  sum.whole += whole;
  if (micros === 0) return;
  const all = sum.micros + (micros % sizeParts);
  const carry = Math.floor(all / sizeParts);
  sum.whole += Math.trunc(micros / sizeParts) + carry;
  sum.micros = all - carry * sizeParts;
}

/** The sum as a double. */
export function exactValue({ whole, micros }: ExactSum): number {
  return micros === 0 ? whole : whole + micros / sizeParts;
}

/** A sum of money in 1e-4 dollars, as dollars. */
export function exactDollars(sum: ExactSum): number {
  return exactValue(sum) / priceUnits;
}

/** Executions together: shares, money (1e-4 dollars), count. */
export interface PrintTotal {
  volume: ExactSum;
  notional: ExactSum;
  count: number;
}

/** A total of nothing. */
export function emptyTotal(): PrintTotal {
  return { volume: exactZero(), notional: exactZero(), count: 0 };
}

/** Adds an execution of `size + sizeMicros / 1e6` shares at `price` (1e-4 dollars); `sign` −1 removes it. */
export function addPrint(total: PrintTotal, price: number, size: number, sizeMicros: number, sign: 1 | -1): void {
  addExact(total.volume, sign * size, sign * sizeMicros);
  addExact(total.notional, sign * price * size, sign * price * sizeMicros);
  total.count += sign;
}

/** Adds one total to another. */
export function addTotal(total: PrintTotal, part: PrintTotal): void {
  addExact(total.volume, part.volume.whole, part.volume.micros);
  addExact(total.notional, part.notional.whole, part.notional.micros);
  total.count += part.count;
}
