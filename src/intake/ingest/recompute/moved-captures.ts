import { type CaptureInstant, lastOfSession } from '../../../core/domain/chain/chain.ts';
import type { GexCapture, GexExpiry } from '../../../core/domain/gex/gex.ts';
import type { PublishedFigures } from '../../../store/gex/captures.ts';

/** Figures of a capture before and after; null = nothing was published. */
interface Pair {
  before: PublishedFigures | null;
  after: PublishedFigures | null;
}

/** Versions of the methodology that published the peaks of one side as walls. */
const peaksAsWalls = new Set(['1', '2']);

const wallsOf = ({ methodologyVersion, callWall, putWall, callGexPeak, putGexPeak }: PublishedFigures) =>
  peaksAsWalls.has(methodologyVersion) ? [callGexPeak, putGexPeak] : [callWall, putWall];

/** The least differences that count: of dollars, and of volatilities, annualized fractions. */
const [leastDollars, leastVolatility] = [0.005, 0.00005];

/** True if some of two figures' numbers differ. */
function differ(before: readonly (number | null)[], after: readonly (number | null)[], least: number): boolean {
  return before.some((was, i) => {
    const is = after[i] ?? null;
    return was === null || is === null ? was !== is : Math.abs(is - was) >= least;
  });
}

/** Compares numbers of the expiries that both captures have. */
const expiriesDiffer =
  (least: number, ...names: ('maxPain' | 'expectedMoveStraddle' | 'expectedMoveSigma' | 'atmIv')[]) =>
  (before: PublishedFigures, after: PublishedFigures): boolean => {
    const numbersOf = (expiry: GexExpiry) => names.map((name) => expiry[name]);
    const old = new Map(before.expiries.map((expiry) => [expiry.expiry, expiry]));
    return after.expiries.some((expiry) => {
      const was = old.get(expiry.expiry);
      return was !== undefined && differ(numbersOf(was), numbersOf(expiry), least);
    });
  };

const dollarsDiffer =
  (name: 'netGex' | 'flipPoint' | 'zeroGamma' | 'impliedSpot' | 'netVanna' | 'netCharm') =>
  (before: PublishedFigures, after: PublishedFigures): boolean =>
    differ([before[name]], [after[name]], leastDollars);

/** The figures whose moves are counted, and the test of two captures of which both were published. */
const moves = {
  nets: dollarsDiffer('netGex'),
  walls: (before, after) => differ(wallsOf(before), wallsOf(after), 1),
  flipPoints: dollarsDiffer('flipPoint'),
  flipStatuses: (before, after) => before.flipStatus !== after.flipStatus,
  zeroGammas: dollarsDiffer('zeroGamma'),
  impliedSpots: dollarsDiffer('impliedSpot'),
  staleSpots: (before, after) => before.spotStale !== after.spotStale,
  atmIvs: expiriesDiffer(leastVolatility, 'atmIv'),
  maxPains: expiriesDiffer(1, 'maxPain'),
  expectedMoves: expiriesDiffer(leastDollars, 'expectedMoveStraddle', 'expectedMoveSigma'),
  inconsistentExpiries: (before, after) => before.inconsistentExpiries !== after.inconsistentExpiries,
  vannas: dollarsDiffer('netVanna'),
  charms: dollarsDiffer('netCharm'),
} as const satisfies Record<string, (before: PublishedFigures, after: PublishedFigures) => boolean>;
export type MovedFigure = keyof typeof moves;

/** Effects of recomputing a session's captures on the main figures. */
export interface MovedCaptures {
  /** Number of recomputed captures. */
  captures: number;
  /** Net gex of the session's last capture, dollars per $1 move; null if none was published. */
  netBefore: number | null;
  netAfter: number | null;
  /** Largest change of a capture's net gex, dollars per $1 move; 0 if none was published both before and after. */
  largestNetChange: number;
  /**
   * Number of captures in which each figure is different: another strike or word, a price that differs by half a cent
   * or more, a volatility by half a hundredth of a point.
   */
  moved: Record<MovedFigure, number>;
}

function isMoved({ before, after }: Pair, figure: MovedFigure): boolean {
  return before === null || after === null ? before !== after : moves[figure](before, after);
}

/** Counts moves, capture by capture. */
export class MoveCounter {
  readonly #pairs = new Map<CaptureInstant, Pair>();

  add(capture: CaptureInstant, before: PublishedFigures | null, after: GexCapture | null): void {
    this.#pairs.set(capture, { before, after });
  }

  /** The moves so far. */
  moved(): MovedCaptures {
    const pairs = [...this.#pairs.values()];
    const capture = lastOfSession([...this.#pairs.keys()]);
    const last = capture && this.#pairs.get(capture);
    const changes = pairs.map(({ before, after }) => (before && after ? Math.abs(after.netGex - before.netGex) : 0));
    const figures = Object.keys(moves) as MovedFigure[];
    const count = (figure: MovedFigure) => pairs.filter((pair) => isMoved(pair, figure)).length;
    return {
      captures: pairs.length,
      netBefore: last?.before?.netGex ?? null,
      netAfter: last?.after?.netGex ?? null,
      largestNetChange: Math.max(0, ...changes),
      moved: Object.fromEntries(figures.map((figure) => [figure, count(figure)])) as Record<MovedFigure, number>,
    };
  }
}
