import { addDays, type SessionDate } from '../market-time.ts';

/** A point of the curve of a date. */
export interface Rate {
  date: SessionDate;
  /** Days to maturity. */
  days: number;
  /** Continuous, a fraction per year. */
  rate: number;
}

/**
 * The rate of a curve at a number of days: interpolated linearly between its points, and that of the nearest point
 * beyond them. Points of one date, ascending by days; null without any.
 */
export function rateAt(points: readonly Pick<Rate, 'days' | 'rate'>[], days: number): number | null {
  const after = points.findIndex((point) => point.days >= days);
  if (after === -1) return points.at(-1)?.rate ?? null;
  const [b, a] = [points[after]!, points[after - 1]];
  return a === undefined ? b.rate : a.rate + ((b.rate - a.rate) * (days - a.days)) / (b.days - a.days);
}

/** Days to maturity of the bills. */
const billDays = 91;

/** The first day after the last month's rate came in force on which it no longer stands, in calendar days. */
const longestHeldDays = 400;

const firstYear = 1998;

/**
 * Monthly means of three-month US Treasury bills on the secondary market, by year from 1998, January first: hundredths
 * of a percent on the bank-discount basis. Source: Board of Governors of the US Federal Reserve System, release H.15,
 * public domain.
 */
const discounts: readonly (readonly number[])[] = [
  [504, 509, 503, 495, 500, 498, 496, 490, 461, 396, 441, 439],
  [434, 444, 444, 429, 450, 457, 455, 472, 468, 486, 507, 520],
  [532, 555, 569, 566, 579, 569, 596, 609, 600, 611, 617, 577],
  [515, 488, 442, 387, 362, 349, 351, 336, 264, 216, 187, 169],
  [165, 172, 179, 171, 173, 170, 168, 162, 163, 158, 123, 119],
  [117, 117, 113, 113, 107, 92, 90, 95, 94, 92, 93, 90],
  [88, 93, 94, 94, 102, 127, 133, 148, 165, 176, 207, 219],
  [233, 254, 274, 278, 284, 297, 322, 344, 342, 371, 388, 389],
  [424, 443, 451, 460, 472, 479, 495, 496, 481, 492, 494, 485],
  [498, 503, 494, 487, 473, 461, 482, 420, 389, 390, 327, 300],
  [275, 212, 126, 129, 173, 186, 163, 172, 113, 67, 19, 3],
  [13, 30, 21, 16, 18, 18, 18, 17, 12, 7, 5, 5],
  [6, 11, 15, 16, 16, 12, 16, 16, 15, 13, 14, 14],
  [15, 13, 10, 6, 4, 4, 4, 2, 1, 2, 1, 1],
  [3, 9, 8, 8, 9, 9, 10, 10, 11, 10, 9, 7],
  [7, 10, 9, 6, 4, 5, 4, 4, 2, 5, 7, 7],
  [4, 5, 5, 3, 3, 4, 3, 3, 2, 2, 2, 3],
  [3, 2, 3, 2, 2, 2, 3, 7, 2, 2, 12, 23],
  [26, 31, 29, 23, 27, 27, 30, 30, 29, 33, 45, 51],
  [51, 52, 74, 80, 89, 98, 107, 101, 103, 107, 123, 132],
  [141, 157, 170, 176, 186, 190, 196, 203, 213, 225, 233, 237],
  [237, 239, 240, 238, 235, 217, 210, 195, 189, 165, 154, 154],
  [152, 152, 29, 14, 13, 16, 13, 10, 11, 10, 9, 9],
  [8, 4, 3, 2, 2, 4, 5, 5, 4, 5, 5, 6],
  [15, 33, 44, 76, 98, 149, 223, 263, 313, 372, 415, 425],
  [454, 465, 469, 492, 514, 516, 525, 530, 532, 534, 527, 524],
  [522, 524, 524, 524, 525, 524, 520, 505, 472, 451, 442, 427],
  [421, 422, 420, 421, 425, 423, 425, 412, 392, 382, 378, 359],
  [357, 360, 361, 361, 360, 366],
];

/** The continuous rate, a fraction per year, of a bill at a bank discount, a fraction: its price is 1 − d·91/360. */
export function billRate(discount: number): number {
  return (-Math.log(1 - (discount * billDays) / 360) * 365) / billDays;
}

/**
 * The rate of three-month US bills in force on a date: the mean of the month before, since a mean is unknown until its
 * month ends. `date`: the first day of its force. The last month's stands for 400 days. Null before 1998-02, and after
 * that.
 */
export function billOn(date: SessionDate): Rate | null {
  const months = 12 * (Number(date.slice(0, 4)) - firstYear) + Number(date.slice(5, 7)) - 2;
  const last = 12 * (discounts.length - 1) + discounts.at(-1)!.length - 1;
  const index = Math.min(months, last);
  const inForce = `${firstYear + Math.floor((index + 1) / 12)}-${String(((index + 1) % 12) + 1).padStart(2, '0')}-01`;
  if (index < 0 || date > addDays(inForce, longestHeldDays)) return null;
  const discount = discounts[Math.floor(index / 12)]![index % 12]!;
  return { date: inForce, days: billDays, rate: billRate(discount / 10_000) };
}

/** The bill rate on a date without a curve; null with one, or if none is in force. */
export function billWithout(curve: readonly unknown[], date: SessionDate): Rate | null {
  return curve.length === 0 ? billOn(date) : null;
}
