import type { SessionDate } from '../../core/domain/market-time.ts';
import {
  type CompositionRow,
  type ConcentrationRow,
  disclosureSessions,
  disclosureThreshold,
  type OffExchangeRows,
  type OffExchangeTable,
  type ProfileRow,
} from '../../core/domain/offexchange/off-exchange.ts';
import { isStorableText } from '../../platform/runtime/storable-text.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { columnTypes } from '../rows/models/columns.ts';
import { statement } from '../rows/statement.ts';

/** Sessions of a symbol from `first` to `last`; null = open. Both null: its latest session. */
export interface SessionRange {
  symbol: string;
  first: SessionDate | null;
  last: SessionDate | null;
}

/** Stored off-exchange data of a symbol, and of the sessions of a range. */
export interface OffExchangeHistory {
  historySessions: number;
  /** Null if nothing is stored of the symbol. */
  latestSession: SessionDate | null;
  /** The range without open ends. `first` is null if it is open and nothing is stored of the symbol. */
  first: SessionDate | null;
  last: SessionDate;
  /** The last session of the range, and the time at which its newest figures were computed; null if it has none. */
  session: SessionDate | null;
  asOfMs: number | null;
  /** Number of withheld rows in the range, by table. */
  withheld: Record<OffExchangeTable, number>;
  /** Number of sessions of the range whose concentration has to be recomputed. */
  unconcentrated: number;
}

const history = statement(
  'offexchange/off-exchange-history',
  { symbols: 'text[]', first: 'text[]?', last: 'text[]?', through: 'text', threshold: 'int8' },
  {
    nth: 'int8',
    historySessions: 'int8',
    latestSession: 'text?',
    first: 'text?',
    last: 'text',
    session: 'text?',
    asOfMs: 'int8?',
    activity: 'int8',
    composition: 'int8',
    concentration: 'int8',
    profile: 'int8',
    unconcentrated: 'int8',
  },
);

/** Reads the stored data of each of several ranges, in one statement; sessions after `throughSession` are ignored. */
export async function readOffExchangeHistory(
  store: Store,
  ranges: readonly SessionRange[],
  throughSession: SessionDate,
): Promise<OffExchangeHistory[]> {
  const symbols = ranges.map((range) => range.symbol);
  const rows = await history.rows(readFrom(store, 'offexchange', symbols), {
    symbols,
    first: ranges.map((range) => range.first),
    last: ranges.map((range) => range.last),
    through: throughSession,
    threshold: disclosureThreshold,
  });
  return rows
    .sort((a, b) => a.nth - b.nth)
    .map(({ nth: _, activity, composition, concentration, profile, ...row }) => ({
      ...row,
      withheld: { activity, composition, concentration, profile },
    }));
}

const range = { symbols: 'text[]', first: 'text[]', last: 'text[]', afterDates: 'text[]?' } as const;
const most = { limit: 'int8', threshold: 'int8' } as const;

const pages = {
  activity: statement(
    'offexchange/off-exchange-activity',
    { ...range, ...most },
    { nth: 'int8', ...columnTypes('OffExchangeSession') },
  ),
  composition: statement(
    'offexchange/off-exchange-composition',
    { ...range, afterKeys: 'text[]?', ...most },
    { nth: 'int8', ...columnTypes('OffExchangeComposition') },
  ),
  concentration: statement(
    'offexchange/off-exchange-concentration',
    { ...range, afterKeys: 'int4[]?', ...most, leastSessions: 'int4' },
    { nth: 'int8', ...columnTypes('OffExchangeConcentration') },
  ),
  profile: statement(
    'offexchange/off-exchange-profile',
    { ...range, afterKeys: 'int8[]?', ...most },
    { nth: 'int8', ...columnTypes('OffExchangeProfile') },
  ),
};

/** Rows of a symbol's sessions from `first` to `last`, after the row at `after`; null = from the first. */
export interface RowRange {
  symbol: string;
  first: SessionDate;
  last: SessionDate;
  after: { date: SessionDate; key: string } | null;
}

/** A row with its symbol. */
export type StoredRow<T extends OffExchangeTable> = OffExchangeRows[T] & { symbol: string };

/** The sort key of a row within its session, as text. */
export function rowKey(table: OffExchangeTable, row: OffExchangeRows[OffExchangeTable]): string {
  if (table === 'composition') return (row as CompositionRow).category;
  if (table === 'concentration') return String((row as ConcentrationRow).rank);
  return table === 'profile' ? String((row as ProfileRow).priceThousandths) : '';
}

/** True if `key` has the form of `rowKey`. */
export function isRowKey(table: OffExchangeTable, key: string): boolean {
  if (table === 'activity') return key === '';
  if (table === 'composition') return isStorableText(key);
  return table === 'concentration' ? /^\d{1,9}$/.test(key) : /^\d{1,15}$/.test(key);
}

/**
 * The first `limit` rows of each of several ranges, in one statement; by date, then rank, category or price. The
 * disclosure rules are enforced here again, whatever was written: no row, and no session, of fewer than three
 * executions.
 */
export async function readOffExchangeRows<T extends OffExchangeTable>(
  store: Store,
  table: T,
  ranges: readonly RowRange[],
  limit: number,
): Promise<StoredRow<T>[][]> {
  const symbols = ranges.map((each) => each.symbol);
  const from = readFrom(store, 'offexchange', symbols);
  const keys = ranges.map(({ after }) => after?.key ?? null);
  const numbers = keys.map((key) => (key === null ? null : Number(key)));
  const asked = {
    symbols,
    first: ranges.map((each) => each.first),
    last: ranges.map((each) => each.last),
    afterDates: ranges.map(({ after }) => after?.date ?? null),
    limit,
    threshold: disclosureThreshold,
  };
  const read = {
    activity: () => pages.activity.rows(from, asked),
    composition: () => pages.composition.rows(from, { ...asked, afterKeys: keys }),
    concentration: () =>
      pages.concentration.rows(from, { ...asked, afterKeys: numbers, leastSessions: disclosureSessions }),
    profile: () => pages.profile.rows(from, { ...asked, afterKeys: numbers }),
  };
  const answer: StoredRow<T>[][] = ranges.map(() => []);
  for (const { nth, sessionDate: date, ...found } of await read[table]())
    answer[nth - 1]!.push({ date, ...found } as unknown as StoredRow<T>);
  return answer;
}
