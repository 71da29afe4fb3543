import { isStorableText } from '../domain/account.ts';
import type { SessionDate } from '../domain/market-time.ts';
import {
  type ActivityRow,
  type CompositionRow,
  type ConcentrationRow,
  disclosureSessions,
  disclosureThreshold,
  type ProfileRow,
} from '../domain/off-exchange.ts';
import { readFrom, type Store } from './connection.ts';

/** The rows of each off-exchange table by its name. */
export interface OffExchangeRows {
  activity: ActivityRow;
  composition: CompositionRow;
  concentration: ConcentrationRow;
  profile: ProfileRow;
}
export type OffExchangeTable = keyof OffExchangeRows;

/** Sessions of a symbol from `first` to `last`; null = open. Both null: its latest session. */
export interface SessionRange {
  symbol: string;
  first: SessionDate | null;
  last: SessionDate | null;
}

/** What is stored of a symbol, and of the sessions of a range. */
export interface OffExchangeHistory {
  historySessions: number;
  /** Null when nothing is stored of the symbol. */
  latestSession: SessionDate | null;
  /** The range without its open ends. `first` is null when it is open and nothing is stored of the symbol. */
  first: SessionDate | null;
  last: SessionDate;
  /** The last session of the range, and when the newest figures in it were computed; null when it has none. */
  session: SessionDate | null;
  asOfMs: number | null;
  /** Rows withheld in the range, by table. */
  withheld: Record<OffExchangeTable, number>;
}

interface HistoryRow {
  at: number;
  history_sessions: number;
  latest_session: string | null;
  first: string | null;
  last: string;
  session: string | null;
  as_of_ms: number | null;
  activity: number;
  composition: number;
  concentration: number;
  profile: number;
}

/** What is stored for each of several ranges, in one statement; sessions after `throughSession` are not there yet. */
export async function readOffExchangeHistory(
  store: Store,
  ranges: readonly SessionRange[],
  throughSession: SessionDate,
): Promise<OffExchangeHistory[]> {
  const { rows } = await readFrom(store).query<HistoryRow>({
    name: 'off-exchange-history',
    text: `SELECT w.at::int, h.*, x.* FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS w(symbol, first, last, at)
           CROSS JOIN LATERAL (
             SELECT count(*) AS history_sessions, max(session_date) AS latest_session,
               coalesce(w.first, CASE WHEN w.last IS NULL THEN max(session_date) ELSE min(session_date) END) AS first,
               least(w.last, $4) AS last
             FROM off_exchange_sessions s WHERE s.symbol = w.symbol AND s.session_date <= $4
           ) AS h
           CROSS JOIN LATERAL (
             SELECT max(session_date) AS session, max(as_of_ms) AS as_of_ms,
               count(*) FILTER (WHERE (trade_count >= ${disclosureThreshold}) IS NOT TRUE) AS activity,
               coalesce(sum(suppressed_count), 0) AS composition, coalesce(sum(suppressed_buckets), 0) AS concentration,
               coalesce(sum(suppressed_levels), 0) AS profile
             FROM off_exchange_sessions s WHERE s.symbol = w.symbol AND s.session_date BETWEEN h.first AND h.last
           ) AS x`,
    values: [
      ranges.map((range) => range.symbol),
      ranges.map((range) => range.first),
      ranges.map((range) => range.last),
      throughSession,
    ],
  });
  return rows
    .sort((a, b) => a.at - b.at)
    .map(({ activity, composition, concentration, profile, ...row }) => ({
      historySessions: row.history_sessions,
      latestSession: row.latest_session,
      first: row.first,
      last: row.last,
      session: row.session,
      asOfMs: row.as_of_ms,
      withheld: { activity, composition, concentration, profile },
    }));
}

interface TableShape {
  table: string;
  /** What orders the rows of a session, and its type. */
  key: string;
  keyType: string;
  /** Columns by the row's property. */
  columns: Record<string, string>;
  also?: string;
}

// Categories are ordered by code point, whatever the database's language.
const shapes: Record<OffExchangeTable, TableShape> = {
  activity: {
    table: 'off_exchange_sessions',
    key: `''::text`,
    keyType: 'text',
    columns: {
      offExchVolume: 'off_exch_volume',
      notional: 'notional',
      tradeCount: 'trade_count',
      avgSize: 'avg_size',
      vwap: 'vwap',
      offExchPct: 'off_exch_pct',
      consolidatedVolume: 'consolidated_volume',
      consolidatedNotional: 'consolidated_notional',
    },
  },
  composition: {
    table: 'off_exchange_composition',
    key: 'x.category COLLATE "C"',
    keyType: 'text',
    columns: {
      category: 'category',
      volume: 'volume',
      notional: 'notional',
      tradeCount: 'trade_count',
      shareOfOffExchNotional: 'share',
    },
  },
  concentration: {
    table: 'off_exchange_concentration',
    key: 'x.rank',
    keyType: 'int',
    columns: {
      bucketMidpoint: 'bucket_midpoint',
      bucketWidth: 'bucket_width',
      volume: 'volume',
      notional: 'notional',
      tradeCount: 'trade_count',
      distinctSessions: 'distinct_sessions',
      rankScore: 'rank_score',
      rank: 'rank',
      bucketCount: 'bucket_count',
      distanceBps: 'distance_bps',
      lookbackSessions: 'lookback_sessions',
    },
    also: `AND x.distinct_sessions >= ${disclosureSessions}`,
  },
  profile: {
    table: 'off_exchange_profile',
    key: 'x.price_thousandths',
    keyType: 'bigint',
    columns: {
      priceThousandths: 'price_thousandths',
      volume: 'volume',
      notional: 'notional',
      tradeCount: 'trade_count',
    },
  },
};

// A session may have thousands of numbered rows. Bounds that compare whole rows are taken by the planner for what they are,
// many rows of which the first are wanted, so that it walks the index; of a BETWEEN it expects few, and sorts them all. For the
// same reason whether a session is published is asked of each row and not joined.
function within({ key, keyType }: TableShape): string {
  const row = `(x.session_date, ${key})`;
  if (keyType === 'text') {
    return `x.session_date BETWEEN w.first AND w.last AND (w.after_date IS NULL OR ${row} > (w.after_date, w.after_key))`;
  }
  const most = keyType === 'int' ? '2147483647' : '9223372036854775807';
  return `${row} > (coalesce(w.after_date, w.first), coalesce(w.after_key, -1)) AND ${row} <= (w.last, ${most})`;
}

/** Rows of a symbol's sessions from `first` to `last`, after the row at `after`; null = from the first. */
export interface RowRange {
  symbol: string;
  first: SessionDate;
  last: SessionDate;
  after: { date: SessionDate; key: string } | null;
}

/** What orders a row within its session, as text. */
export function rowKey(table: OffExchangeTable, row: OffExchangeRows[OffExchangeTable]): string {
  if (table === 'composition') return (row as CompositionRow).category;
  if (table === 'concentration') return String((row as ConcentrationRow).rank);
  return table === 'profile' ? String((row as ProfileRow).priceThousandths) : '';
}

/** Whether `key` is one that `rowKey` could have given. */
export function isRowKey(table: OffExchangeTable, key: string): boolean {
  if (table === 'activity') return key === '';
  if (table === 'composition') return isStorableText(key);
  return table === 'concentration' ? /^\d{1,9}$/.test(key) : /^\d{1,15}$/.test(key);
}

/**
 * The first `limit` rows of each of several ranges, in one statement; by date, then rank, category or price. The disclosure
 * rules hold here too, whatever was written: no row, and no session, of fewer than three executions.
 */
export async function readOffExchangeRows<T extends OffExchangeTable>(
  store: Store,
  table: T,
  ranges: readonly RowRange[],
  limit: number,
): Promise<OffExchangeRows[T][][]> {
  const shape = shapes[table];
  const columns = Object.entries(shape.columns).map(([name, column]) => `x.${column} AS "${name}"`);
  const { rows } = await readFrom(store).query<OffExchangeRows[T] & { at?: number; key?: unknown }>({
    name: `off-exchange-${table}`,
    text: `SELECT w.at::int, r.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::${shape.keyType}[])
             WITH ORDINALITY AS w(symbol, first, last, after_date, after_key, at)
           CROSS JOIN LATERAL (
             SELECT x.session_date AS date, ${columns.join(', ')}, ${shape.key} AS key
             FROM ${shape.table} x
             WHERE x.symbol = w.symbol AND ${within(shape)} ${shape.also ?? ''} AND x.trade_count >= ${disclosureThreshold}
               AND (SELECT s.trade_count >= ${disclosureThreshold} FROM off_exchange_sessions s
                    WHERE s.symbol = x.symbol AND s.session_date = x.session_date)
             ORDER BY x.session_date, ${shape.key} LIMIT $6
           ) AS r ORDER BY w.at, r.date, r.key`,
    values: [
      ranges.map((range) => range.symbol),
      ranges.map((range) => range.first),
      ranges.map((range) => range.last),
      ranges.map((range) => range.after?.date ?? null),
      ranges.map((range) => range.after?.key ?? null),
      limit,
    ],
  });
  const answer: OffExchangeRows[T][][] = ranges.map(() => []);
  for (const { at, key, ...row } of rows) answer[at! - 1]!.push(row as OffExchangeRows[T]);
  return answer;
}
