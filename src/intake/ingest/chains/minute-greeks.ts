import { methodologyVersion } from '../../../core/analytics/methodology.ts';
import { minuteMarket } from '../../../core/analytics/minute/minute-market.ts';
import { type MinuteMarket, minuteSolve } from '../../../core/analytics/minute/solve.ts';
import { MinuteTape, type TapedContract } from '../../../core/analytics/minute/tape.ts';
import type { KnownGroups } from '../../../core/analytics/pricing/group-market.ts';
import type { MarketReference } from '../../../core/analytics/pricing/group-rate.ts';
import type { TradedContract } from '../../../core/domain/chain/contract-book.ts';
import type { GreeksSolve } from '../../../core/domain/chain/greeks.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { addDays, type SessionDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';
import type { WrittenMinute } from '../../../store/chain/greeks.ts';
import { type MinuteMarketOptions, MinuteMarketSource } from './minute-market.ts';

export interface MinuteGreeksOptions extends MinuteMarketOptions {
  /**
   * Number of days from the session within which a followed contract expires, by underlying; an absent underlying is
   * not followed.
   */
  windows: ReadonlyMap<string, number>;
  /** Maximum number of followed contracts per underlying; the default if absent. */
  most?: number | undefined;
  /** The last boundary solved before the process started: up to it the tape is only replayed. */
  solvedMs?: number | null;
}

/** Cost of a European solve, relative to an American one. */
const europeanUnits = 0.02;
const unsolvedUnits = 0.005;
const yieldUnits = 0.02;
/** Units of work before a yield to the event loop: about 10 ms. */
const unitsPerYield = 150;

/** The solves of one underlying at a minute, in progress. */
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

/** The minute solves of one session, computed while its tape is read. */
export class MinuteGreeks {
  readonly #session: SessionDate;
  readonly #rate: number;
  readonly #roots: OptionRoots;
  readonly #tape: MinuteTape;
  readonly #source: MinuteMarketSource;
  /** By contract index; NaN = none. */
  readonly #closes: number[] = [];
  readonly #underway: Underway[] = [];
  #ended: WrittenMinute[] = [];
  /** The boundary whose solves were started last. */
  #begunMs = -Infinity;
  #solvedMs: number | null;

  constructor(options: MinuteGreeksOptions) {
    const { session, rate, roots, windows, most, solvedMs = null } = options;
    const lastExpiry = new Map<string, SessionDate>(
      [...windows].map(([symbol, days]) => [symbol, addDays(session, days)]),
    );
    const follows = ({ underlying, contract }: TradedContract) =>
      contract.expiry <= (lastExpiry.get(underlying.symbol) ?? '');
    this.#session = session;
    this.#rate = rate;
    this.#roots = roots;
    this.#tape = new MinuteTape({ session, follows, most });
    this.#source = new MinuteMarketSource(options);
    this.#solvedMs = solvedMs;
  }

  print(print: Parameters<MinuteTape['print']>[0]): void {
    this.#tape.print(print);
  }

  quote(quote: Parameters<MinuteTape['quote']>[0]): void {
    this.#tape.quote(quote);
  }

  /** The next boundary, epoch ms. */
  get dueMs(): number {
    return this.#tape.dueMs;
  }

  /** The last boundary that was returned, or was solved before; null before the first. */
  get solvedMs(): number | null {
    return this.#solvedMs;
  }

  /** Underlyings with more traded contracts than are followed. */
  get full(): ReadonlySet<string> {
    return this.#tape.full;
  }

  /** Starts the solves of the next boundary, after finishing those of the one before. */
  async begin(): Promise<void> {
    if (this.#solvedMs !== null && this.#tape.nextMs <= this.#solvedMs) return this.#tape.skipBoundary();
    await this.finish();
    const { tsMs, underlyings } = this.#tape.take();
    this.#begunMs = tsMs;
    await this.#learnCloses(underlyings);
    const spots = await this.#source.spots(tsMs, [...underlyings.keys()]);
    for (const [underlying, contracts] of underlyings) {
      const minute = {
        underlying,
        tsMs,
        spot: spots.get(underlying) ?? null,
        rate: this.#rate,
        methodologyVersion,
        solves: new Map<string, GreeksSolve>(),
      };
      const reference = await this.#source.reference(underlying);
      const chain = await this.#source.groups(tsMs, underlying);
      this.#underway.push({ minute, contracts, reference, chain, market: null, next: 0 });
    }
  }

  /** Continues with about this many American solves. Returns true if none is left. */
  work(units: number): boolean {
    for (let left = units; left > 0; ) {
      const one = this.#underway[0];
      if (!one) break;
      if (one.next < one.contracts.length) left -= this.#solveNext(one);
      else {
        this.#underway.shift();
        this.#ended.push(one.minute);
      }
    }
    return this.#underway.length === 0;
  }

  /** Finishes the started solves, a few per iteration of the event loop. */
  async finish(): Promise<void> {
    while (!this.work(unitsPerYield)) await yieldToEventLoop();
  }

  /** The minutes finished since the last call, in order; a minute is returned whole, with all its underlyings. */
  takeSolved(): WrittenMinute[] {
    if (this.#begunMs === -Infinity) return [];
    // A minute in progress is not returned in part.
    const throughMs = this.#underway.length > 0 ? this.#begunMs - minuteMs : this.#begunMs;
    const solved = this.#ended.filter(({ tsMs, solves }) => tsMs <= throughMs && solves.size > 0);
    this.#ended = this.#ended.filter(({ tsMs }) => tsMs > throughMs);
    this.#solvedMs = Math.max(this.#solvedMs ?? -Infinity, throughMs);
    return solved;
  }

  async #learnCloses(underlyings: ReadonlyMap<string, readonly TapedContract[]>): Promise<void> {
    const fresh = [...underlyings.values()].flat().filter(({ traded }) => this.#closes[traded.index] === undefined);
    if (fresh.length === 0) return;
    const found = await this.#source.closes(
      fresh.map(({ traded }) => ({ underlying: traded.underlying.symbol, contract: traded.id })),
    );
    for (const { traded } of fresh) this.#closes[traded.index] = found.get(traded.id) ?? Number.NaN;
  }

  /** Runs the next solve, or reads its market. Returns the cost. */
  #solveNext(one: Underway): number {
    if (one.market === null) {
      one.market = marketOf(one, this.#roots);
      return yieldUnits * one.contracts.length;
    }
    const { traded, contract, quote, trade } = one.contracts[one.next++]!;
    const close = this.#closes[traded.index]!;
    const previousClose = Number.isNaN(close) ? null : close;
    const solve = minuteSolve({ contract, quote, trade, previousClose }, one.market);
    if (solve !== null) one.minute.solves.set(traded.id, solve);
    if (solve === null || solve.markSource === 'close') return unsolvedUnits;
    return this.#roots.of(contract.root, this.#session).style === 'european' ? europeanUnits : 1;
  }
}
