// The price levels that a capture names, and what of the strikes is worth drawing.
import type { GexCapture, GexStrikeRow } from '../data/operation-types.ts';

/** A level on the price axis. */
export interface Level {
  name: string;
  /** Dollars. */
  at: number;
  /** Which of the page's colours it has. */
  colour: 'text' | 'warn' | 'call' | 'put' | 'muted';
  /** Solid for what is traded, dashed for what is computed. */
  dashed: boolean;
}

/** The levels of a capture: spot (the newest there is), flip, walls; those unknown are omitted. */
export function levelsOf(capture: GexCapture | null, spot: number | null): Level[] {
  const level = (name: string, at: number | null | undefined, colour: Level['colour'], dashed: boolean): Level[] =>
    at == null ? [] : [{ name, at, colour, dashed }];
  return [
    ...level('Spot', spot ?? capture?.spot, 'text', false),
    ...level('Flip', capture?.flipPoint, 'warn', true),
    ...level('Call wall', capture?.callWall == null ? null : capture.callWall / 1000, 'call', true),
    ...level('Put wall', capture?.putWall == null ? null : capture.putWall / 1000, 'put', true),
  ];
}

/**
 * The strikes around the spot that hold all but `tail` (a fraction) of the weight on either side; at least `least` of them, where
 * there are so many. Far strikes of next to no weight would press the others together.
 */
export function weightyStrikes<Row>(
  rows: readonly Row[],
  weight: (row: Row) => number,
  { tail = 0.004, least = 15 }: { tail?: number; least?: number } = {},
): readonly Row[] {
  const total = rows.reduce((sum, row) => sum + Math.abs(weight(row)), 0);
  if (total === 0 || rows.length <= least) return rows;
  let [from, to] = [0, rows.length];
  for (let left = total * tail; to - from > least && left >= Math.abs(weight(rows[from]!)); from++)
    left -= Math.abs(weight(rows[from]!));
  for (let left = total * tail; to - from > least && left >= Math.abs(weight(rows[to - 1]!)); to--)
    left -= Math.abs(weight(rows[to - 1]!));
  return rows.slice(from, to);
}

/** Where a price lies among ascending strikes, counted in strikes: 2.5 is half way from the third to the fourth. Null = outside. */
export function placeAmong(strikes: readonly number[], price: number): number | null {
  const first = strikes[0];
  const last = strikes.at(-1);
  if (first === undefined || last === undefined || price < first || price > last) return null;
  const after = strikes.findIndex((strike) => strike >= price);
  if (after <= 0) return 0;
  const before = strikes[after - 1]!;
  return after - 1 + (price - before) / (strikes[after]! - before);
}

/** The strike nearest a price, thousandths; null without strikes. */
export function nearestStrike(strikes: readonly number[], dollars: number | null): number | null {
  if (dollars === null || strikes.length === 0) return null;
  return strikes.reduce((best, strike) =>
    Math.abs(strike - dollars * 1000) < Math.abs(best - dollars * 1000) ? strike : best,
  );
}

/** Open interest of a row's calls and puts, contracts. */
export const openInterestOf = ({ callOi, putOi }: GexStrikeRow) => (callOi ?? 0) + (putOi ?? 0);
