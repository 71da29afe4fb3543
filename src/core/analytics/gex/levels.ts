import { sourceTime } from '../../domain/chain/chain.ts';
import type { GexCapture, GexExpiry, GexRow } from '../../domain/gex/gex.ts';
import type { Level, LevelKind, LevelStatus, SourceLevel } from '../../domain/levels.ts';

type Captured = Pick<
  GexCapture,
  'capturedAt' | 'delayMs' | 'sessionDate' | 'callWall' | 'putWall' | 'flipPoint' | 'zeroGamma' | 'flipStatus'
>;

/** Inputs of a capture's levels besides its figures. */
interface LevelContext {
  /** The first expiry that is open; null if there is none. */
  expiry: GexExpiry | null;
  /** Price that options of that expiry are priced with, dollars; null when unknown. */
  centre: number | null;
  /** True if the chain is known to lack contracts. */
  isPartial: boolean;
}

const dollars = (thousandths: number | null | undefined) => (thousandths == null ? null : thousandths / 1000);

/** The gamma levels of a capture: all kinds, with a null price for those that it does not have. */
export function captureLevels(
  { capturedAt, delayMs, sessionDate, callWall, putWall, flipPoint, zeroGamma, flipStatus }: Captured,
  { expiry, centre, isPartial }: LevelContext,
): SourceLevel[] {
  const asOf = sourceTime({ capturedAt, delayMs });
  const statusOf = (price: number | null): LevelStatus => (price === null ? 'none' : isPartial ? 'partial' : 'stands');
  const level = (kind: LevelKind, price: number | null, status: LevelStatus | null = statusOf(price)): SourceLevel => ({
    kind,
    price,
    capturedAt,
    sessionDate,
    asOf,
    status,
    expiry: null,
    rank: null,
  });
  const ofExpiry = (kind: LevelKind, price: number | null): SourceLevel => ({
    ...level(kind, price, price !== null && expiry?.inconsistent ? 'inconsistent' : statusOf(price)),
    expiry: expiry?.expiry ?? null,
  });
  const move = (size: number | null | undefined, sign: 1 | -1) =>
    centre === null || size == null ? null : centre + sign * size;
  const { expectedMoveStraddle: straddle, expectedMoveSigma: sigma } = expiry ?? {};
  return [
    level('call_wall', dollars(callWall)),
    level('put_wall', dollars(putWall)),
    level('flip', flipPoint, flipStatus),
    level('zero_gamma', zeroGamma),
    { ...level('max_pain', dollars(expiry?.maxPain)), expiry: expiry?.expiry ?? null },
    ofExpiry('expected_move_high', move(straddle, 1)),
    ofExpiry('expected_move_low', move(straddle, -1)),
    ofExpiry('sigma_move_high', move(sigma, 1)),
    ofExpiry('sigma_move_low', move(sigma, -1)),
  ];
}

/** The distance of a price from the spot, dollars: in dollars, and in percent of the spot. Null if unknown. */
export function distanceFrom(spot: number | null, price: number | null): Pick<Level, 'distance' | 'distancePct'> {
  if (price === null || spot === null) return { distance: null, distancePct: null };
  const distance = price - spot;
  return { distance, distancePct: spot > 0 ? (100 * distance) / spot : null };
}

/** A level with its distance from the spot, dollars, and shifted by `basis`, dollars. */
export function levelAt(level: SourceLevel, spot: number | null, basis: number): Level {
  const { price } = level;
  return { ...level, price: price === null ? null : price + basis, ...distanceFrom(spot, price) };
}

/** A strike, integer thousandths, with the gex of its calls and of its puts summed over expiries. */
export interface SidedGex {
  strike: number;
  callGex: number;
  putGex: number;
}

/** The strike of the largest value above zero, the first of equal ones; null if there is none. */
function strikeOfMost<Row extends { strike: number }>(rows: readonly Row[], value: (row: Row) => number) {
  let most: { strike: number; value: number } | null = null;
  for (const row of rows) if (value(row) > (most?.value ?? 0)) most = { strike: row.strike, value: value(row) };
  return most?.strike ?? null;
}

/**
 * Strikes, thousandths, of the largest positive and the most negative net gex; null if no strike has that sign. Ties:
 * the lower strike. Net rows, ascending by strike.
 */
export function walls(rows: readonly Pick<GexRow, 'strike' | 'gex'>[]): {
  callWall: number | null;
  putWall: number | null;
} {
  return { callWall: strikeOfMost(rows, ({ gex }) => gex), putWall: strikeOfMost(rows, ({ gex }) => -gex) };
}

/**
 * Strikes, thousandths, of the largest call gex and the largest |put gex|; null if that side has none. Ties: the lower
 * strike. Each considers one side only, so the two can be in reverse order: they are not walls.
 */
export function gexPeaks(rows: readonly SidedGex[]): { callGexPeak: number | null; putGexPeak: number | null } {
  return {
    callGexPeak: strikeOfMost(rows, ({ callGex }) => callGex),
    putGexPeak: strikeOfMost(rows, ({ putGex }) => Math.abs(putGex)),
  };
}

/** Open contracts at a strike (thousandths), calls and puts; weighted by multiplier if multipliers differ. */
export interface StrikeInterest {
  strike: number;
  calls: number;
  puts: number;
}

/**
 * The listed strike, thousandths, with the smallest payout to holders at expiry; null without open interest. Ties: the
 * lowest. Strikes ascending. The payout is convex in the settlement price and its slope between two strikes is (calls
 * at or below) − (puts above), in whole contracts: the minimum is where that first stops being negative.
 */
export function maxPain(rows: readonly StrikeInterest[]): number | null {
  let putsAbove = rows.reduce((sum, row) => sum + row.puts, 0);
  let callsBelow = 0;
  if (putsAbove === 0 && !rows.some((row) => row.calls > 0)) return null;
  for (const { strike, calls, puts } of rows) {
    callsBelow += calls;
    putsAbove -= puts;
    if (callsBelow >= putsAbove) return strike;
  }
  return null;
}
