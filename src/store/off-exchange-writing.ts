import type { SessionDate } from '../domain/market-time.ts';
import type { CompositionRow, ConcentrationRow, OffExchangeSession, ProfileRow } from '../domain/off-exchange.ts';
import type { Transaction } from './transaction.ts';

/** The rows published of a session. */
export interface OffExchangeTables {
  composition: readonly Omit<CompositionRow, 'date'>[];
  concentration: readonly Omit<ConcentrationRow, 'date'>[];
  profile: readonly Omit<ProfileRow, 'date'>[];
}

async function saveSession(tx: Transaction, { symbol, sessionDate, activity, ...session }: OffExchangeSession) {
  await tx.query(
    `INSERT INTO off_exchange_sessions (symbol, session_date, as_of_ms, suppressed_count, suppressed_buckets, suppressed_levels,
       off_exch_volume, notional, trade_count, avg_size, vwap, off_exch_pct, consolidated_volume, consolidated_notional)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      symbol,
      sessionDate,
      session.asOfMs,
      session.suppressedCategories,
      session.suppressedBuckets,
      session.suppressedLevels,
      activity?.offExchVolume ?? null,
      activity?.notional ?? null,
      activity?.tradeCount ?? null,
      activity?.avgSize ?? null,
      activity?.vwap ?? null,
      activity?.offExchPct ?? null,
      activity?.consolidatedVolume ?? null,
      activity?.consolidatedNotional ?? null,
    ],
  );
}

/** Inserts rows given as objects of the table's column names. */
async function insert(
  tx: Transaction,
  table: string,
  key: readonly [string, string],
  columns: Record<string, string>,
  rows: readonly object[],
): Promise<void> {
  const names = Object.keys(columns);
  await tx.query(
    `INSERT INTO ${table} (symbol, session_date, ${names.join(', ')}) SELECT $1, $2, *
     FROM unnest(${Object.values(columns).map((type, i) => `$${i + 3}::${type}[]`)})`,
    [...key, ...names.map((name) => rows.map((row) => (row as Record<string, unknown>)[name]))],
  );
}

const totals = { volume: 'float8', notional: 'float8', trade_count: 'bigint' };

/** Inserts the concentration rows of a session that has none. */
export async function saveConcentrationRows(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  rows: readonly Omit<ConcentrationRow, 'date'>[],
): Promise<void> {
  await insert(
    tx,
    'off_exchange_concentration',
    [symbol, session],
    {
      rank: 'int',
      bucket_midpoint: 'float8',
      bucket_width: 'float8',
      ...totals,
      distinct_sessions: 'int',
      rank_score: 'float8',
      bucket_count: 'int',
      distance_bps: 'float8',
      lookback_sessions: 'int',
    },
    rows.map((row) => ({
      ...row,
      bucket_midpoint: row.bucketMidpoint,
      bucket_width: row.bucketWidth,
      trade_count: row.tradeCount,
      distinct_sessions: row.distinctSessions,
      rank_score: row.rankScore,
      bucket_count: row.bucketCount,
      distance_bps: row.distanceBps,
      lookback_sessions: row.lookbackSessions,
    })),
  );
}

/** Writes a symbol's session with everything published of it, replacing what was there. */
export async function saveOffExchange(
  tx: Transaction,
  session: OffExchangeSession,
  tables: OffExchangeTables,
): Promise<void> {
  const key = [session.symbol, session.sessionDate] as const;
  for (const table of ['sessions', 'composition', 'concentration', 'profile']) {
    await tx.query(`DELETE FROM off_exchange_${table} WHERE symbol = $1 AND session_date = $2`, [...key]);
  }
  await saveSession(tx, session);
  await insert(
    tx,
    'off_exchange_composition',
    key,
    { category: 'text', ...totals, share: 'float8' },
    tables.composition.map((row) => ({ ...row, trade_count: row.tradeCount, share: row.shareOfOffExchNotional })),
  );
  await saveConcentrationRows(tx, ...key, tables.concentration);
  await insert(
    tx,
    'off_exchange_profile',
    key,
    { price_thousandths: 'bigint', ...totals },
    tables.profile.map((row) => ({ ...row, price_thousandths: row.priceThousandths, trade_count: row.tradeCount })),
  );
}
