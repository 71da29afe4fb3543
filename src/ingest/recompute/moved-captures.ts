import type { GexCapture } from '../../domain/gex/gex.ts';
import type { PublishedLevels } from '../../store/gex/published-levels.ts';

/** Effects of recomputing a session's captures on the main figures. */
export interface MovedCaptures {
  /** Number of recomputed captures. */
  captures: number;
  /** Net gex of the session's last capture, dollars per $1 move; null if none was published. */
  netBefore: number | null;
  netAfter: number | null;
  /** Largest change of a capture's net gex, dollars per $1 move; 0 if none was published both before and after. */
  largestNetChange: number;
  /** Number of captures with another level: another strike, or a price that differs by half a cent or more. */
  wallsMoved: number;
  flipPointsMoved: number;
  zeroGammasMoved: number;
}

/** Levels of a capture before and after; null = nothing was published. */
interface Pair {
  before: PublishedLevels | null;
  after: PublishedLevels | null;
}

/** Versions of the methodology that published the peaks of one side as walls. */
const peaksAsWalls = new Set(['1', '2']);

const wallsOf = ({ methodologyVersion, callWall, putWall, callGexPeak, putGexPeak }: PublishedLevels) =>
  peaksAsWalls.has(methodologyVersion) ? [callGexPeak, putGexPeak] : [callWall, putWall];

function priceMoved({ before, after }: Pair, level: 'flipPoint' | 'zeroGamma'): boolean {
  const [was, is] = [before?.[level] ?? null, after?.[level] ?? null];
  return was === null || is === null ? was !== is : Math.abs(is - was) >= 0.005;
}

function wallMoved({ before, after }: Pair): boolean {
  if (before === null || after === null) return before !== after;
  const [was, is] = [wallsOf(before), wallsOf(after)];
  return was.some((strike, i) => strike !== is[i]);
}

/** Counts moves, capture by capture in order of time. */
export class MoveCounter {
  readonly #pairs: Pair[] = [];

  add(before: PublishedLevels | null, after: GexCapture | null): void {
    this.#pairs.push({ before, after });
  }

  /** The moves so far. */
  moved(): MovedCaptures {
    const count = (isMoved: (pair: Pair) => boolean) => this.#pairs.filter(isMoved).length;
    const last = this.#pairs.at(-1);
    const changes = this.#pairs.map(({ before, after }) =>
      before && after ? Math.abs(after.netGex - before.netGex) : 0,
    );
    return {
      captures: this.#pairs.length,
      netBefore: last?.before?.netGex ?? null,
      netAfter: last?.after?.netGex ?? null,
      largestNetChange: Math.max(0, ...changes),
      wallsMoved: count(wallMoved),
      flipPointsMoved: count((pair) => priceMoved(pair, 'flipPoint')),
      zeroGammasMoved: count((pair) => priceMoved(pair, 'zeroGamma')),
    };
  }
}
