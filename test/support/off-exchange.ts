import type { CompositionRow, ConcentrationRow, ProfileRow } from '../../src/core/domain/offexchange/off-exchange.ts';
import { saveOffExchange } from '../../src/store/offexchange/writing.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';

/** A session's data to store: names of categories, and numbers of buckets and price levels. */
export interface OffExchangeDay {
  /** Executions; under 3 nothing is published. */
  tradeCount?: number;
  categories?: string[];
  buckets?: number;
  levels?: number;
  asOfMs?: number;
}

/** The rows that `storeOffExchange` writes, by table, without their date. */
export function offExchangeRows({ categories = [], buckets = 0, levels = 0 }: OffExchangeDay) {
  const composition = categories.map((category, i): Omit<CompositionRow, 'date'> => {
    return { category, volume: 100.5 + i, notional: 1000.25, tradeCount: 3 + i, shareOfOffExchNotional: 0.013 };
  });
  const concentration = Array.from({ length: buckets }, (_, i): Omit<ConcentrationRow, 'date'> => {
    return {
      bucketMidpoint: 600.125 + i,
      bucketWidth: 0.25,
      volume: 5000.5,
      notional: 3_000_000,
      tradeCount: 40,
      distinctSessions: 2 + i,
      rankScore: 12.5 - i,
      rank: i + 1,
      bucketCount: buckets,
      distanceBps: i === 0 ? null : -12.5,
      lookbackSessions: 20,
    };
  });
  const profile = Array.from({ length: levels }, (_, i): Omit<ProfileRow, 'date'> => {
    return { priceThousandths: 600_000 + 10 * i, volume: 10.5, notional: 6300, tradeCount: 3 };
  });
  return { composition, concentration, profile };
}

/** Stores a symbol's sessions; one category, two buckets and three levels of each are withheld. */
export async function storeOffExchange(
  store: Store,
  symbol: string,
  days: Record<string, OffExchangeDay>,
): Promise<void> {
  await inTransaction(store, async (tx) => {
    for (const [sessionDate, day] of Object.entries(days)) {
      const { tradeCount = 5_000_000_000, asOfMs = 1_790_000_000_000 } = day;
      const totals = { offExchVolume: 1234.5, notional: 740_700, avgSize: 41.15, vwap: 600.0125 };
      const consolidated = { offExchPct: 0.375, consolidatedVolume: 2844.5, consolidatedNotional: 1_706_000 };
      await saveOffExchange(
        tx,
        {
          symbol,
          sessionDate,
          asOfMs,
          suppressedCategories: 1,
          suppressedBuckets: 2,
          suppressedLevels: 3,
          activity: tradeCount < 3 ? null : { ...totals, ...consolidated, tradeCount },
        },
        offExchangeRows(day),
      );
    }
  });
}
