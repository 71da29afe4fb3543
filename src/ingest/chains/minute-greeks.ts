import { methodologyVersion } from '../../analytics/methodology.ts';
import { minuteMarket } from '../../analytics/minute/market.ts';
import { type MinuteMarket, minuteSolve } from '../../analytics/minute/solve.ts';
import { createMinuteTape, type MinuteTape, type TapedContract } from '../../analytics/minute/tape.ts';
import type { KnownGroups } from '../../analytics/pricing/group-market.ts';
import type { MarketReference } from '../../analytics/pricing/market-reference.ts';
import type { TradedContract } from '../../domain/chain/contract-book.ts';
import type { GreeksSolve } from '../../domain/chain/greeks.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { addDays, type SessionDate } from '../../domain/market-time.ts';
import { minuteMs } from '../../domain/units.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { WrittenMinute } from '../../store/chain/greeks-minutes.ts';
import { type MinuteMarketOptions, type MinuteMarketSource, minuteMarketSource } from './minute-market.ts';

/** The minute solves of one session being made. */
export interface MinuteGreeks extends Pick<MinuteTape, 'print' | 'quote' | 'dueMs'> {
  /** Takes the boundary that is due: the solves of the one before are finished, then its own are begun. */
  begin(): Promise<void>;
  /** Continues with about this many American solves; true when none is left. */
  work(units: number): boolean;
  /** Ends the solves that were begun, a few an iteration of the event loop. */
  finish(): Promise<void>;
  /**
   * The minutes whose solves are ended since this was last asked, in order; a minute comes whole, with all its
   * underlyings.
   */
  takeSolved(): WrittenMinute[];
  /** The last boundary that was handed out so, or was solved before; null before the first. */
  readonly solvedMs: number | null;
  /** Underlyings with more contracts that trade than are followed. */
  readonly full: ReadonlySet<string>;
}

export interface MinuteGreeksOptions extends MinuteMarketOptions {
  /**
   * Days from the session within which a followed contract expires, by underlying; one that is not in it is not
   * followed.
   */
  windows: ReadonlyMap<string, number>;
  /** Contracts of an underlying that are followed; the usual number when absent. */
  most?: number | undefined;
  /** The last boundary that was solved before the process started: up to it the tape is only taken in. */
  solvedMs?: number | null;
}

/** Cost of a European solve, in American ones. */
const europeanUnits = 0.02;
const unsolvedUnits = 0.005;
const yieldUnits = 0.02;
/** Units of work before a yield to the event loop: about 10 ms. */
const unitsPerYield = 150;

/** One underlying at a minute, being solved. */
interface Underway {
  minute: WrittenMinute & { solves: Map<string, GreeksSolve> };
  contracts: readonly TapedContract[];
  reference: MarketReference;
  /** Pricing inputs of its chain. */
  chain: KnownGroups;
  /** Null until its first contract is solved. */
  market: MinuteMarket | null;
  next: number;
}

function marketOf({ minute, contracts, reference, chain }: Underway, roots: OptionRoots): MinuteMarket {
  const { underlying, tsMs, spot } = minute;
  return minuteMarket(contracts, { underlying, tsMs, spot, reference, chain, roots });
}

/** The minute solves of a session, of nothing yet. */
export function createMinuteGreeks(options: MinuteGreeksOptions): MinuteGreeks {
  const { session, rate, roots, windows } = options;
  const lastExpiry = new Map<string, SessionDate>(
    [...windows].map(([symbol, days]) => [symbol, addDays(session, days)]),
  );
  const follows = ({ underlying, contract }: TradedContract) =>
    contract.expiry <= (lastExpiry.get(underlying.symbol) ?? '');
  const tape = createMinuteTape({ session, follows, most: options.most });
  const source: MinuteMarketSource = minuteMarketSource(options);
  // By contract index; NaN = there was none.
  const closes: number[] = [];
  const underway: Underway[] = [];
  let ended: WrittenMinute[] = [];
  // The boundary whose solves were begun last, and the one handed out last.
  let begunMs = -Infinity;
  let solvedMs = options.solvedMs ?? null;

  async function learnCloses(underlyings: ReadonlyMap<string, readonly TapedContract[]>): Promise<void> {
    const fresh = [...underlyings.values()].flat().filter(({ traded }) => closes[traded.index] === undefined);
    if (fresh.length === 0) return;
    const found = await source.closes(
      fresh.map(({ traded }) => ({ underlying: traded.underlying.symbol, contract: traded.id })),
    );
    for (const { traded } of fresh) closes[traded.index] = found.get(traded.id) ?? Number.NaN;
  }

  /** The next solve, or what it needs; what it cost. */
  function solveNext(one: Underway): number {
    if (one.market === null) {
      one.market = marketOf(one, roots);
      return yieldUnits * one.contracts.length;
    }
    const { traded, contract, quote, trade } = one.contracts[one.next++]!;
    const close = closes[traded.index]!;
    const solve = minuteSolve(
      { contract, quote, trade, previousClose: Number.isNaN(close) ? null : close },
      one.market,
    );
    if (solve !== null) one.minute.solves.set(traded.id, solve);
    if (solve === null || solve.markSource === 'close') return unsolvedUnits;
    return roots.of(contract.root, session).style === 'european' ? europeanUnits : 1;
  }

  function work(units: number): boolean {
    for (let left = units; left > 0; ) {
      const one = underway[0];
      if (!one) break;
      if (one.next < one.contracts.length) left -= solveNext(one);
      else {
        underway.shift();
        ended.push(one.minute);
      }
    }
    return underway.length === 0;
  }

  async function finish(): Promise<void> {
    while (!work(unitsPerYield)) await yieldToEventLoop();
  }

  async function begin(): Promise<void> {
    if (solvedMs !== null && tape.nextMs <= solvedMs) return tape.skip();
    await finish();
    const { tsMs, underlyings } = tape.take();
    begunMs = tsMs;
    await learnCloses(underlyings);
    const spots = await source.spots(tsMs, [...underlyings.keys()]);
    for (const [underlying, contracts] of underlyings) {
      const minute = {
        ...{ underlying, tsMs, spot: spots.get(underlying) ?? null, rate, methodologyVersion },
        solves: new Map<string, GreeksSolve>(),
      };
      const [reference, chain] = [await source.reference(underlying), await source.groups(tsMs, underlying)];
      underway.push({ minute, contracts, reference, chain, market: null, next: 0 });
    }
  }

  return {
    get dueMs() {
      return tape.dueMs;
    },
    print: tape.print,
    quote: tape.quote,
    begin,
    work,
    finish,
    takeSolved() {
      if (begunMs === -Infinity) return [];
      // One that is being solved is not handed out in part.
      const throughMs = underway.length > 0 ? begunMs - minuteMs : begunMs;
      const solved = ended.filter(({ tsMs, solves }) => tsMs <= throughMs && solves.size > 0);
      ended = ended.filter(({ tsMs }) => tsMs > throughMs);
      solvedMs = Math.max(solvedMs ?? -Infinity, throughMs);
      return solved;
    },
    get solvedMs() {
      return solvedMs;
    },
    full: tape.full,
  };
}
