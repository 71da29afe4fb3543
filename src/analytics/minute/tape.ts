import { regularSession } from '../../domain/calendar.ts';
import type { TradedContract } from '../../domain/chain/contract-book.ts';
import type { OptionPrint, OptionQuote } from '../../domain/market/print.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { minuteMs } from '../../domain/units.ts';
import { tapeSettings } from '../methodology.ts';
import { MinutePrints } from './prints.ts';
import { createMinuteQuotes } from './quotes.ts';
import type { FollowedContract } from './solve.ts';

/** A contract that is followed, as the tape has it. */
export type TapedContract = Omit<FollowedContract, 'previousClose'> & { traded: TradedContract };

/**
 * The tape at a minute's boundary, by underlying: contracts in the order in which they came to be followed.
 */
export interface TapedMinute {
  tsMs: number;
  underlyings: ReadonlyMap<string, readonly TapedContract[]>;
}

/**
 * The part of a session's option tape that its minute solves read. It follows from the tape alone, in any order within
 * the lateness bound.
 */
export interface MinuteTape {
  /** Event time from which on the next boundary may be taken: all before it has come. Infinity after the close. */
  readonly dueMs: number;
  /** The next boundary. */
  readonly nextMs: number;
  /** Take records in; none of `dueMs` or later before the boundary was taken. */
  print(print: OptionPrint): void;
  quote(quote: OptionQuote): void;
  /** The next boundary, as of its instant. */
  take(): TapedMinute;
  /** The same, when nothing is asked for but to go on. */
  skipBoundary(): void;
  /** Underlyings with more contracts that trade than are followed. */
  readonly full: ReadonlySet<string>;
}

export interface MinuteTapeOptions {
  session: SessionDate;
  /** True if a contract is one to follow once it trades. */
  follows(contract: TradedContract): boolean;
  /** Contracts of an underlying that are followed, the first to trade. */
  most?: number | undefined;
}

/**
 * An empty tape of a session. Its boundaries are the minutes after the open up to and with the close; none when it does
 * not trade.
 */
export function createMinuteTape({
  session,
  follows,
  most = tapeSettings.solvedContracts,
}: MinuteTapeOptions): MinuteTape {
  const hours = regularSession(session) ?? { openMs: Infinity, closeMs: -Infinity };
  let boundary = hours.openMs + minuteMs;
  const quotes = createMinuteQuotes(boundary);
  const prints = new MinutePrints();
  const followed = new Map<string, TradedContract[]>();
  const full = new Set<string>();
  // By contract index: whether it has been looked at.
  const met: boolean[] = [];

  function meet(contract: TradedContract) {
    if (met[contract.index]) return;
    met[contract.index] = true;
    if (!follows(contract)) return;
    const { symbol } = contract.underlying;
    let list = followed.get(symbol);
    if (!list) {
      list = [];
      followed.set(symbol, list);
    }
    if (list.length < most) list.push(contract);
    else full.add(symbol);
  }

  function goOn() {
    boundary += minuteMs;
    quotes.pass(boundary);
  }

  const tapedOf = (traded: TradedContract): TapedContract => {
    const trade = prints.last(traded);
    return {
      traded,
      contract: traded.contract,
      quote: quotes.inForce(traded),
      trade: trade && { ...trade, eligible: true },
    };
  };

  return {
    get dueMs() {
      return boundary <= hours.closeMs ? boundary + tapeSettings.latenessMs : Infinity;
    },
    get nextMs() {
      return boundary;
    },
    print: (print) => prints.add(print),
    quote: (quote) => quotes.add(quote),
    take() {
      const tsMs = boundary;
      prints.pass(tsMs, meet);
      const underlyings = new Map([...followed].map(([symbol, list]) => [symbol, list.map(tapedOf)]));
      goOn();
      return { tsMs, underlyings };
    },
    skipBoundary() {
      prints.pass(boundary, meet);
      goOn();
    },
    full,
  };
}
