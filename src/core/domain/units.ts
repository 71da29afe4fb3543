/** The largest absolute value of an instant: 9999-12-31 and as far before 1970. */
export const maxEpochMs = 253_402_300_799_999;

/** Dollars to integer thousandths of a dollar, the unit of strikes. */
export function toThousandths(dollars: number): number {
  return Math.round(dollars * 1000);
}

/** Integer thousandths of a dollar to dollars. */
export function fromThousandths(thousandths: number): number {
  return thousandths / 1000;
}

/** Rounds to `places` decimals, half away from zero, without the drift of x·10ⁿ (1.005 → 1.01). */
export function roundTo(value: number, places: number): number {
  if (!Number.isFinite(value)) return value;
  const [mantissa, exponent = '0'] = Math.abs(value).toString().split('e') as [string, string?];
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + places}`));
  const [m, e = '0'] = shifted.toString().split('e') as [string, string?];
  return Math.sign(value) * Number(`${m}e${Number(e) - places}`);
}

/** A whole number of shares; halves are rounded to even. */
export function roundHalfEven(shares: number): number {
  const below = Math.floor(shares);
  const rest = shares - below;
  if (rest !== 0.5) return Math.round(shares);
  return below % 2 === 0 ? below : below + 1;
}
