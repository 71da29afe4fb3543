import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';
import type { OptionRight } from '../../domain/chain/option-contract.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { type GexCause, type GexDifference, type GexMoves, gexCauses } from '../../domain/gex/gex.ts';
import { priceUnits } from '../../domain/market/print.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import {
  CaptureSide,
  exposureOf,
  type GammaTerms,
  gammaSteps,
  type Holding,
  type MarketSteps,
  marketSteps,
  type PricedCapture,
} from './diff-capture.ts';

/** A contract's changes between two captures; gex in units of 1e-4 dollars, contracts null when unknown. */
interface ContractMoves {
  gex: number;
  parts: Record<GexCause, number>;
  right: 'call' | 'put';
  openInterest: number | null;
  volume: number | null;
}

/** Dollars in units of 1e-4 dollars, an integer: sums of them depend on no order. */
function gexUnits(dollars: number): number {
  return Math.round(dollars * priceUnits);
}

/** No change of gex by any cause. */
function noParts(): Record<GexCause, number> {
  return { spot: 0, time: 0, volatility: 0, openInterest: 0, listing: 0, residual: 0 };
}

const added = (sum: number | null, change: number | null) => (change === null ? sum : (sum ?? 0) + change);

/** Sum of contracts' changes. */
class GexTally {
  private gex = 0;
  private readonly parts = noParts();
  private callOi: number | null = null;
  private putOi: number | null = null;
  private volume: number | null = null;

  /** Adds one contract's changes. */
  add({ gex, parts, right, openInterest, volume }: ContractMoves): void {
    this.gex += gex;
    for (const cause of gexCauses) this.parts[cause] += parts[cause];
    if (right === 'call') this.callOi = added(this.callOi, openInterest);
    else this.putOi = added(this.putOi, openInterest);
    this.volume = added(this.volume, volume);
  }

  /** The sum in dollars and contracts. */
  moves(): GexMoves {
    const { spot, time, volatility, openInterest, listing, residual } = this.parts;
    const dollars = (units: number) => units / priceUnits;
    return {
      gex: dollars(this.gex),
      spot: dollars(spot),
      time: dollars(time),
      volatility: dollars(volatility),
      openInterest: dollars(openInterest),
      listing: dollars(listing),
      residual: dollars(residual),
      callOi: this.callOi,
      putOi: this.putOi,
      volume: this.volume,
    };
  }
}

/** Contracts re-priced before a yield to the event loop, about 2 ms of work: an American one grows two trees. */
const contractsPerYield = { european: 2000, american: 80 };

/** The prices of the underlying in dollar figures, of the earlier and the later capture. */
type Prices = readonly [number, number];

/** Exposure of a holding as it is in the sums of its capture; unknown adds nothing. */
const publishedUnits = (holding: Holding, price: number) =>
  gexUnits(holding.gamma === undefined ? 0 : exposureOf(holding, holding.gamma, price));

const hasTerms = (holding: Holding): holding is Holding & GammaTerms =>
  holding.gamma !== undefined && holding.volatility !== undefined;

/** Adds the steps of spot, time and volatility, for contracts that have what they are re-priced from. */
function addMarketParts(
  parts: Record<GexCause, number>,
  old: Holding,
  now: Holding,
  steps: MarketSteps | null,
  [before, after]: Prices,
): void {
  if (steps === null || old.openInterest === 0 || !hasTerms(old) || !hasTerms(now)) return;
  const gammas = gammaSteps(old.row, steps, old, now);
  if (!gammas.every(Number.isFinite)) return;
  const [start, ...moved] = gammas.map((gamma, i) => gexUnits(exposureOf(old, gamma, i === 0 ? before : after)));
  const [spot, time, volatility] = moved as [number, number, number];
  parts.spot = spot - start!;
  parts.time = time - spot;
  parts.volatility = volatility - time;
}

/** Splits the change of a contract's gex; null = the capture does not have it. */
function splitContract(
  old: Holding | null,
  now: Holding | null,
  steps: MarketSteps | null,
  prices: Prices,
): Pick<ContractMoves, 'gex' | 'parts'> {
  const [before, after] = prices;
  const gex = (now ? publishedUnits(now, after) : 0) - (old ? publishedUnits(old, before) : 0);
  const parts = noParts();
  if (!old || !now) return { gex, parts: { ...parts, listing: gex } };
  addMarketParts(parts, old, now, steps, prices);
  if (now.gamma !== undefined)
    parts.openInterest = publishedUnits(now, after) - gexUnits(exposureOf(old, now.gamma, after));
  parts.residual = gex - parts.spot - parts.time - parts.volatility - parts.openInterest;
  return { gex, parts };
}

/** The change of a count; null if neither capture has it. */
function changeOf(old: number | null | undefined, now: number | null | undefined): number | null {
  return old == null && now == null ? null : (now ?? 0) - (old ?? 0);
}

/** The sums of a difference while they are made. */
class Sums {
  readonly total = new GexTally();
  readonly strikes = new Map<number, GexTally>();
  readonly expiries = new Map<SessionDate, GexTally>();
  contractsAdded = 0;
  contractsRemoved = 0;

  add(expiry: SessionDate, strike: number, moves: ContractMoves): void {
    this.total.add(moves);
    tallyOf(this.strikes, strike).add(moves);
    tallyOf(this.expiries, expiry).add(moves);
  }

  difference(): GexDifference {
    const { contractsAdded, contractsRemoved } = this;
    const strikes = Array.from(this.strikes, ([strike, tally]) => ({ strike, ...tally.moves() }));
    const expiries = Array.from(this.expiries, ([expiry, tally]) => ({ expiry, ...tally.moves() }));
    return {
      ...this.total.moves(),
      strikes: strikes.sort((a, b) => a.strike - b.strike),
      expiries: expiries.sort((a, b) => (a.expiry < b.expiry ? -1 : 1)),
      contractsAdded,
      contractsRemoved,
    };
  }
}

function tallyOf<K>(tallies: Map<K, GexTally>, key: K): GexTally {
  const tally = tallies.get(key) ?? new GexTally();
  tallies.set(key, tally);
  return tally;
}

/** Two captures of an underlying, side by side. */
class Comparison {
  readonly sums = new Sums();
  private readonly sides: readonly [CaptureSide, CaptureSide];
  private readonly prices: Prices;

  constructor(sides: readonly [CaptureSide, CaptureSide]) {
    this.sides = sides;
    this.prices = [sides[0].price, sides[1].price];
  }

  /** The groups that either capture has, by `root expiry`. */
  keys(): string[] {
    const [before, after] = this.sides;
    return [...new Set([...before.groups.keys(), ...after.groups.keys()])];
  }

  /** The style of a group, which decides how long its contracts take. */
  style(key: string): 'european' | 'american' {
    const [before, after] = this.sides;
    return (before.groups.get(key) ?? after.groups.get(key))!.root.style;
  }

  /** Adds the contracts of a group, a strike an iteration. */
  *add(key: string): Generator<void> {
    const [before, after] = this.sides.map((side) => side.groups.get(key));
    const { expiry } = (before ?? after)!;
    const steps = this.stepsOf(key);
    const old = new Map(before?.strikes.map((listed) => [listed.strike, listed]));
    const now = new Map(after?.strikes.map((listed) => [listed.strike, listed]));
    for (const strike of new Set([...old.keys(), ...now.keys()])) {
      for (const right of ['call', 'put'] as const)
        this.addContract(key, right, steps, [old.get(strike)?.[right] ?? -1, now.get(strike)?.[right] ?? -1], (moves) =>
          this.sums.add(expiry, strike, moves),
        );
      yield;
    }
  }

  private addContract(
    key: string,
    right: OptionRight,
    steps: MarketSteps | null,
    indexes: readonly [number, number],
    add: (moves: ContractMoves) => void,
  ): void {
    const [before, after] = this.sides;
    const [old, now] = [before.holding(key, indexes[0]), after.holding(key, indexes[1])];
    if (!old && !now) return;
    if (!old) this.sums.contractsAdded++;
    if (!now) this.sums.contractsRemoved++;
    const openInterest = changeOf(old?.row.openInterest, now?.row.openInterest);
    const volume = changeOf(old?.row.volume, now?.row.volume);
    add({ ...splitContract(old, now, steps, this.prices), right, openInterest, volume });
  }

  private stepsOf(key: string): MarketSteps | null {
    const [before, after] = this.sides;
    const [old, now] = [before.market(key), after.market(key)];
    const root = before.groups.get(key)?.root;
    return root && old && now ? marketSteps(root, old, now, this.spotRatio()) : null;
  }

  /** The new price that options are priced with over the old: the implied ones, else the source's. */
  private spotRatio(): number {
    const [before, after] = this.sides;
    if (before.impliedSpot !== null && after.impliedSpot !== null) return after.impliedSpot / before.impliedSpot;
    return after.price / before.price;
  }
}

/**
 * Splits the change of gex between two captures of an underlying (methodology 10). The parts of every contract are
 * rounded to 1e-4 dollars before they are summed, so that at each strike, for each expiry and in all they add up to the
 * change.
 */
export async function diffGex(from: PricedCapture, to: PricedCapture, roots: OptionRoots): Promise<GexDifference> {
  const comparison = new Comparison([new CaptureSide(from, roots), new CaptureSide(to, roots)]);
  let work = 0;
  for (const key of comparison.keys()) {
    const each = 2 / contractsPerYield[comparison.style(key)];
    for (const _strike of comparison.add(key)) {
      work += each;
      if (work < 1) continue;
      work = 0;
      await yieldToEventLoop();
    }
  }
  return comparison.sums.difference();
}
