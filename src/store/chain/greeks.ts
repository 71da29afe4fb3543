import type { GreeksSample, GreeksSolve } from '../../core/domain/chain/greeks.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { statement } from '../rows/statement.ts';
import { assertSolves, decodeSolve } from './greeks-record.ts';

/** Key of a contract's solves: its underlying, and its path form (`O:…`). */
export interface GreeksKey {
  underlying: string;
  contract: string;
}

/** Maximum number of sessions, of those in which it was followed, in a contract's series. */
const sessionsBack = 10;

const records = statement(
  'chain/greeks-records',
  {
    ...({ underlyings: 'text[]', contracts: 'text[]', throughMs: 'int8', today: 'text', length: 'int8' } as const),
    sessionsBack: 'int8',
  },
  { nth: 'int8', sessionDate: 'text', tsMs: 'int8', record: 'bytea' },
);

/**
 * The newest solves of several contracts, newest first, each at most `length` and none later than `throughMs`. One
 * statement, which reads only their records of a minute.
 */
async function newestRecords(store: Store, keys: readonly GreeksKey[], { throughMs, today, length }: SeriesRange) {
  const underlyings = keys.map((key) => key.underlying);
  const contracts = keys.map((key) => key.contract);
  const asked = { underlyings, contracts, throughMs, today, length, sessionsBack };
  const rows = await records.rows(readFrom(store, 'chain', new Set(underlyings)), asked);
  for (const some of Map.groupBy(rows, ({ nth, sessionDate }) => `${nth} ${sessionDate}`).values()) {
    const { nth, sessionDate } = some[0]!;
    assertSolves.onRead({ of: keys[nth - 1]!.contract, sessionDate, tsMs: some.map(({ tsMs }) => tsMs).reverse() });
  }
  return rows;
}

interface SeriesRange {
  throughMs: number;
  /** The session of `throughMs`. */
  today: SessionDate;
  length: number;
}

/**
 * The newest solves of several contracts in one statement, none later than `throughMs`; absent for a contract without
 * one.
 */
export async function readLatestGreeks(
  store: Store,
  keys: readonly GreeksKey[],
  range: Omit<SeriesRange, 'length'>,
): Promise<Map<string, GreeksSolve>> {
  const rows = await newestRecords(store, keys, { ...range, length: 1 });
  return new Map(rows.map(({ nth, tsMs, record }) => [keys[nth - 1]!.contract, decodeSolve(record, tsMs)!]));
}

/**
 * The newest `length` samples of several contracts up to `throughMs`, ascending, in one statement; absent for a
 * contract without one.
 */
export async function readGreeksSeries(
  store: Store,
  keys: readonly GreeksKey[],
  range: SeriesRange,
): Promise<Map<string, GreeksSample[]>> {
  const series = new Map<string, GreeksSample[]>();
  for (const { nth, tsMs, record } of await newestRecords(store, keys, range)) {
    const { contract } = keys[nth - 1]!;
    if (!series.has(contract)) series.set(contract, []);
    series.get(contract)!.push(decodeSolve(record, tsMs)!);
  }
  for (const samples of series.values()) samples.reverse();
  return series;
}
