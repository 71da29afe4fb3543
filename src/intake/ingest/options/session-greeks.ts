import { regularSession } from '../../../core/domain/calendar.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { type GreeksSlots, removeGreeks, saveGreeksMinutes } from '../../../store/chain/greeks-minutes.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { followedWindows } from '../../../store/market/symbols.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { MinuteGreeks } from '../chains/minute-greeks.ts';
import { solveWithMinutes } from '../chains/write-chain.ts';

/** Settings of solving the contracts of a tape by the minute. */
export interface Solving {
  /** Continuous interest rate, a fraction per year. */
  rate: number;
  /** Maximum number of solved contracts per underlying, the first of a session to trade. */
  most: number;
}

/** The minute solves of an underlying's session that is computed from its whole tape. */
export interface SessionGreeks extends Pick<MinuteGreeks, 'print' | 'quote' | 'dueMs' | 'full'> {
  /** Starts the next boundary, and sometimes writes the solves of earlier ones. */
  take(): Promise<void>;
  /** Finishes and writes the last minutes, and solves the dependent chains of the session again. */
  end(): Promise<void>;
}

/** Number of minutes per write. */
const minutesAtOnce = 32;

/**
 * Solves sessions of one date, in a transaction that holds the flow: the solves of an underlying replace the stored
 * ones. Returns null for one whose contracts are not followed, else the function that starts its solves.
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
