import { contractSolves } from '../../core/analytics/chain/contract-solves.ts';
import { type GreeksSample, type GreeksSolve, greeksSeriesLength } from '../../core/domain/chain/greeks.ts';
import { contractId, type OptionContract } from '../../core/domain/chain/option-contract.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { contractLines } from '../../store/chain/contract-lines.ts';
import { throughMs } from '../as-of.ts';
import { fromSource, type RequestContext, rootsOf, withUnderlyings } from '../context.ts';

/** Number of contracts whose lines are converted to solves before a yield to the event loop: about 5 ms of work. */
const contractsPerYield = 20;

/** The solves in the last `captures` chain captures, ascending; null for a contract whose underlying has none. */
async function solvesOf(
  context: RequestContext,
  contracts: readonly OptionContract[],
  captures: number,
): Promise<(GreeksSolve[] | null)[]> {
  const [roots, listed] = await Promise.all([rootsOf(context), withUnderlyings(context, contracts)]);
  const range = { throughMs: throughMs(context), captures };
  const lines = await fromSource(context, 'chain', () => contractLines(context.store, listed, range));
  const solves: (GreeksSolve[] | null)[] = [];
  for (const contract of contracts) {
    const found = lines.get(contractId(contract));
    solves.push(found ? contractSolves(contract, found, roots) : null);
    if (solves.length % contractsPerYield === 0) await yieldToEventLoop();
  }
  return solves;
}

/**
 * The solves of a contract in its underlying's last 390 chain captures, ascending. Contracts of one request are read
 * together.
 */
export async function capturedSolves(context: RequestContext, contract: OptionContract): Promise<GreeksSolve[]> {
  const read = (contracts: readonly OptionContract[]) => solvesOf(context, contracts, greeksSeriesLength);
  return (await batched(context, 'captured solves', contract, read, contractId)) ?? [];
}

/**
 * The newest captured solve of each contract; null for one never captured. The latest capture decides if it quotes the
 * contract; if it does not list it, or only earlier trades can give the mark, earlier captures are read too.
 */
export async function latestCapturedSolves(
  context: RequestContext,
  contracts: readonly OptionContract[],
): Promise<(GreeksSolve | null)[]> {
  const newest = await solvesOf(context, contracts, 1);
  return Promise.all(
    contracts.map(async (contract, i) => {
      const solves = newest[i]!;
      if (solves === null) return null;
      if (solves.at(-1)?.markSource === 'mid') return solves.at(-1)!;
      return (await capturedSolves(context, contract)).at(-1) ?? null;
    }),
  );
}

/** Merges minute solves and captured solves, ascending: one per minute, the minute solve if there are both. */
export function mergedSeries(stored: readonly GreeksSample[], captured: readonly GreeksSolve[]): GreeksSample[] {
  if (captured.length === 0) return [...stored];
  const byMinute = new Map<number, GreeksSample>();
  for (const solve of captured) {
    const tsMs = Math.floor(solve.tsMs / minuteMs) * minuteMs;
    byMinute.set(tsMs, { ...solve, tsMs });
  }
  for (const sample of stored) byMinute.set(sample.tsMs, sample);
  return [...byMinute.values()].sort((a, b) => a.tsMs - b.tsMs).slice(-greeksSeriesLength);
}
