import { regularSession } from '../../domain/calendar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { type GreeksSlots, removeGreeks, saveGreeksMinutes } from '../../store/chain/greeks-minutes.ts';
import { readRoots } from '../../store/market/option-roots.ts';
import { followedWindows } from '../../store/market/symbols.ts';
import type { Transaction } from '../../store/rows/transaction.ts';
import { solveWithMinutes } from '../chains/chain.ts';
import { MinuteGreeks } from '../chains/minute-greeks.ts';

/** Settings of solving the contracts of a tape by the minute. */
export interface Solving {
  /** Continuous interest rate, a fraction a year. */
  rate: number;
  /** Contracts of an underlying that are solved, the first of a session to trade. */
  most: number;
}

/** The minute solves of an underlying's session that is made from its whole tape. */
export interface SessionGreeks extends Pick<MinuteGreeks, 'print' | 'quote' | 'dueMs' | 'full'> {
  /** Takes the boundary that is due, and writes the solves of those before every now and then. */
  take(): Promise<void>;
  /** No boundary comes any more: all is written, and the chains of the session that use it are solved again. */
  end(): Promise<void>;
}

/** Minutes that are written together. */
const minutesAtOnce = 32;

/**
 * Solves sessions of one date, in a transaction that holds the flow: what is solved of an underlying takes the place of
 * what was stored of it. Gives null for one whose contracts are not followed, else what begins its solves.
 */
export async function sessionSolver(
  tx: Transaction,
  session: SessionDate,
  { rate, most }: Solving,
): Promise<(symbol: string) => (() => SessionGreeks) | null> {
  const windows = most === 0 || regularSession(session) === null ? new Map() : await followedWindows(tx);
  const roots = await readRoots(tx);
  function begin(symbol: string): SessionGreeks {
    const minutes = new MinuteGreeks({ from: tx, session, rate, roots, most, windows });
    const slots: GreeksSlots = new Map();
    let taken = 0;
    async function write() {
      await minutes.finish();
      if (slots.size === 0) {
        await removeGreeks(tx, session, [symbol]);
        slots.set(symbol, new Map());
      }
      await saveGreeksMinutes(tx, session, minutes.takeSolved(), slots);
    }
    return {
      print: (print) => minutes.print(print),
      quote: (quote) => minutes.quote(quote),
      get dueMs() {
        return minutes.dueMs;
      },
      full: minutes.full,
      async take() {
        await minutes.begin();
        if (++taken % minutesAtOnce === 0) await write();
      },
      async end() {
        await write();
        const fromMs = Number.MIN_SAFE_INTEGER;
        await solveWithMinutes(tx, { underlying: symbol, sessionDate: session, fromMs }, rate);
      },
    };
  }
  return (symbol) => (windows.has(symbol) ? () => begin(symbol) : null);
}
