import { methodologyVersion } from '../../src/core/analytics/methodology.ts';
import type { GreeksSolve } from '../../src/core/domain/chain/greeks.ts';
import { exchangeDate } from '../../src/core/domain/market-time.ts';
import { saveGreeksMinutes, type WrittenMinute } from '../../src/store/chain/greeks.ts';
import type { Transaction } from '../../src/store/rows/transaction.ts';

/**
 * Stores solves of an underlying's contracts by path form, as minutes; what was stored of the same minutes is replaced.
 */
export async function saveSolves(
  tx: Transaction,
  underlying: string,
  solves: Readonly<Record<string, readonly GreeksSolve[]>>,
  spot: number | null = 600,
): Promise<void> {
  const all = Object.entries(solves)
    .flatMap(([contract, list]) => list.map((solve) => ({ contract, solve })))
    .sort((a, b) => a.solve.tsMs - b.solve.tsMs);
  for (const [session, ofSession] of Map.groupBy(all, ({ solve }) => exchangeDate(solve.tsMs))) {
    const minutes = [...Map.groupBy(ofSession, ({ solve }) => solve.tsMs)].map(
      ([tsMs, found]): WrittenMinute => ({
        underlying,
        tsMs,
        spot,
        rate: 0.045,
        methodologyVersion,
        solves: new Map(found.map(({ contract, solve }) => [contract, solve])),
      }),
    );
    await saveGreeksMinutes(tx, session, minutes, new Map());
  }
}
