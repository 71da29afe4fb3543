import type { SessionDate } from '../../domain/market-time.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import { statusOf } from './option-session-writer.ts';
import type { OptionTapeFiles, SessionPlan } from './option-tape-files.ts';
import { type Solving, sessionSolver } from './session-greeks.ts';

/**
 * How the sessions of a tape are made: all of them, or that of `only`. A tape without quotes is not solved: a series
 * would be made of trades alone, and what was solved live, from quotes, is worth more.
 */
export async function sessionPlan(
  tx: Transaction,
  { quotes, sessions }: OptionTapeFiles,
  { nowMs, solving, only = null }: { nowMs: number; solving: Solving; only?: SessionDate | null },
): Promise<SessionPlan> {
  const isWanted = (date: SessionDate) => only === null || date === only;
  const solvers = new Map<SessionDate, Awaited<ReturnType<typeof sessionSolver>>>();
  if (quotes > 0)
    for (const date of sessions.filter(isWanted)) solvers.set(date, await sessionSolver(tx, date, solving));
  return {
    isWanted,
    statusOf: (date) => statusOf(date, nowMs),
    solving(date, underlying) {
      const begin = solvers.get(date)?.(underlying) ?? null;
      return begin && (() => ({ greeks: begin(), nowMs }));
    },
  };
}
