import { minuteMs } from '../../../platform/runtime/clock.ts';
import { regularSession } from '../../domain/calendar.ts';
import type { TradedContract } from '../../domain/chain/contract-book.ts';
import type { OptionPrint, OptionQuote } from '../../domain/market/print.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { tapeSettings } from '../methodology.ts';
import { MinuteQuotes } from './minute-quotes.ts';
import { MinutePrints } from './prints.ts';
import type { FollowedContract } from './solve.ts';

/** A followed contract with its data on the tape. */
export type TapedContract = Omit<FollowedContract, 'previousClose'> & { traded: TradedContract };

/** The tape at a minute's boundary, by underlying: contracts in the order in which they began to be followed. */
export interface TapedMinute {
  tsMs: number;
  underlyings: ReadonlyMap<string, readonly TapedContract[]>;
}

export interface MinuteTapeOptions {
  session: SessionDate;
  /** True if a contract must be followed once it trades. */
  follows(contract: TradedContract): boolean;
  /** Maximum number of followed contracts per underlying, the first to trade. */
  most?: number | undefined;
}

/**
 * The part of a session's option tape that its minute solves read. It follows from the tape alone, in any order within
 * the lateness bound. Its boundaries are the minutes after the open up to and with the close; none when the session
 * does not trade.
 */
export class MinuteTape {
  readonly #follows: (contract: TradedContract) => boolean;
  readonly #most: number;
  readonly #closeMs: number;
  #nextMs: number;
  readonly #quotes: MinuteQuotes;
  readonly #prints = new MinutePrints();
  /** By underlying. */
  readonly #followed = new Map<string, TradedContract[]>();
  readonly #full = new Set<string>();
  // By contract index: whether it has been looked at.
  readonly #met: boolean[] = [];

  constructor({ session, follows, most = tapeSettings.solvedContracts }: MinuteTapeOptions) {
    const { openMs, closeMs } = regularSession(session) ?? { openMs: Infinity, closeMs: -Infinity };
    this.#follows = follows;
    this.#most = most;
    this.#closeMs = closeMs;
    this.#nextMs = openMs + minuteMs;
    this.#quotes = new MinuteQuotes(this.#nextMs);
  }

  /** Event time from which on the next boundary may be taken: all before it has come. Infinity after the close. */
  get dueMs(): number {
    return this.#nextMs <= this.#closeMs ? this.#nextMs + tapeSettings.latenessMs : Infinity;
  }

  /** The next boundary. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** Underlyings with more contracts that trade than are followed. */
  get full(): ReadonlySet<string> {
    return this.#full;
  }

  /** Takes a print in; none of `dueMs` or later before the boundary was taken. */
  print(print: OptionPrint): void {
    this.#prints.add(print);
  }

  /** Takes a quote in, as `print` does. */
  quote(quote: OptionQuote): void {
    this.#quotes.add(quote);
  }

  /** The next boundary, as of its instant. */
  take(): TapedMinute {
    const tsMs = this.#nextMs;
    this.#meetTraded();
    const underlyings = new Map(
      [...this.#followed].map(([symbol, contracts]) => [symbol, contracts.map((each) => this.#taped(each))]),
    );
    this.#goOn();
    return { tsMs, underlyings };
  }

  /** The same, when nothing is asked for but to go on. */
  skipBoundary(): void {
    this.#meetTraded();
    this.#goOn();
  }

  /** Follows the contracts that traded before the boundary. */
  #meetTraded(): void {
    this.#prints.pass(this.#nextMs, (contract) => this.#meet(contract));
  }

  #meet(contract: TradedContract): void {
    if (this.#met[contract.index]) return;
    this.#met[contract.index] = true;
    if (!this.#follows(contract)) return;
    const { symbol } = contract.underlying;
    let list = this.#followed.get(symbol);
    if (!list) {
      list = [];
      this.#followed.set(symbol, list);
    }
    if (list.length < this.#most) list.push(contract);
    else this.#full.add(symbol);
  }

  #taped(traded: TradedContract): TapedContract {
    const trade = this.#prints.last(traded);
    return {
      traded,
      contract: traded.contract,
      quote: this.#quotes.inForce(traded),
      trade: trade && { ...trade, eligible: true },
    };
  }

  #goOn(): void {
    this.#nextMs += minuteMs;
    this.#quotes.pass(this.#nextMs);
  }
}
