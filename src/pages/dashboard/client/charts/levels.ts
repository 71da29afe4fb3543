// The price levels of a capture, and the strikes worth drawing.
import type { GexCapture, GexStrikeRow } from '../../../../../generated/pages/operation-types.ts';
import { crossingsOf } from '../gex/crossings.ts';

/** A level on the price axis. */
export interface Level {
  name: string;
  /** Dollars. */
  at: number;
  /** Its colour in the palette. */
  colour: 'text' | 'warn' | 'call' | 'put' | 'muted';
  /** True for computed levels, which are dashed; traded ones are solid. */
  dashed: boolean;
}

/** The levels of a capture: the newest spot, flip and zero gamma, walls; unknown ones are omitted. */
export function levelsOf(capture: GexCapture | null, spot: number | null): Level[] {
  const level = (name: string, at: number | null | undefined, colour: Level['colour'], dashed: boolean): Level[] =>
    at == null ? [] : [{ name, at, colour, dashed }];
  return [
    ...level('Spot', spot ?? capture?.spot, 'text', false),
    ...crossingsOf(capture).flatMap(({ name, at }) => level(name, at, name === 'Flip' ? 'warn' : 'muted', true)),
    ...level('Call wall', capture?.callWall == null ? null : capture.callWall / 1000, 'call', true),
    ...level('Put wall', capture?.putWall == null ? null : capture.putWall / 1000, 'put', true),
  ];
}

/**
 * The strikes around the spot with all but `tail` (a fraction) of the weight on either side; at least `least` of them,
 * or all. Far strikes of little weight would compress the others.
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

/** The typical distance of neighbouring strikes: the median, in the unit of the strikes; null with fewer than two. */
export function typicalStep(strikes: readonly number[]): number | null {
  const steps = strikes.slice(1).map((strike, i) => strike - strikes[i]!);
  return steps.sort((a, b) => a - b)[Math.floor((steps.length - 1) / 2)] ?? null;
}

/**
 * Ascending positions of labels beside an axis, moved apart so that neighbours are at least `gap` apart, each as close
 * as possible to its original position, within [from, to] as far as there is room.
 */
export function spread(positions: readonly number[], gap: number, from: number, to: number): number[] {
  const placed = positions.map((at) => Math.max(from, at));
  for (let i = 1; i < placed.length; i++) placed[i] = Math.max(placed[i]!, placed[i - 1]! + gap);
  let limit = to;
  for (let i = placed.length - 1; i >= 0 && placed[i]! > limit; i--, limit -= gap) placed[i] = limit;
  return placed;
}

/** Open interest of a row's calls and puts, contracts. */
export const openInterestOf = ({ callOi, putOi }: GexStrikeRow) => (callOi ?? 0) + (putOi ?? 0);
