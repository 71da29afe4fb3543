import type { SessionDate } from '../../../core/domain/market-time.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { statusOf } from './option-session-writer.ts';
import type { OptionTapeFiles, SessionPlan } from './option-tape-files.ts';
import { type Solving, sessionSolver } from './session-greeks.ts';

/**
 * Plan of the wanted sessions of a tape. A tape without quotes is not solved: its series would be based on trades only,
 * and live solves, based on quotes, are better.
 */
export async function sessionPlan(
  tx: Transaction,
  { quotes, parts }: OptionTapeFiles,
  { nowMs, solving, isWanted }: { nowMs: number; solving: Solving } & Pick<SessionPlan, 'isWanted'>,
): Promise<SessionPlan> {
  const solvers = new Map<SessionDate, Awaited<ReturnType<typeof sessionSolver>>>();
  if (quotes > 0)
    for (const date of new Set(
      parts.filter(({ session, symbol }) => isWanted(session, symbol)).map(({ session }) => session),
    ))
      solvers.set(date, await sessionSolver(tx, date, solving));
  return {
    isWanted,
    statusOf: (date) => statusOf(date, nowMs),
    solving(date, underlying) {
      const begin = solvers.get(date)?.(underlying) ?? null;
      return begin && (() => ({ greeks: begin(), nowMs }));
    },
  };
}
