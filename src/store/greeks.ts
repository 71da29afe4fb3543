import type { GreeksSample, GreeksSolve } from '../domain/greeks.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { readFrom, type Store } from './connection.ts';
import { decodeSolve, recordBytes } from './greeks-record.ts';

/** Where a contract's solves are kept: under its underlying, by its path form (`O:…`). */
export interface GreeksKey {
  underlying: string;
  contract: string;
}

/** A contract's series may reach back over this many of the sessions in which it was followed. */
const sessionsBack = 10;

interface RecordRow {
  wanted: number;
  tsMs: number;
  record: Buffer;
}

/** The newest solves of several contracts, newest first, each at most `length` and none later than `throughMs`. One statement; of a minute only their records are read. */
async function newestRecords(
  store: Store,
  keys: readonly GreeksKey[],
  { throughMs, today, length }: SeriesRange,
): Promise<RecordRow[]> {
  const { rows } = await readFrom(store).query<RecordRow>({
    name: 'greeks-records',
    text: `SELECT w.wanted::int, r.ts_ms AS "tsMs", r.record FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w(underlying, contract, wanted)
           CROSS JOIN LATERAL (
             SELECT m.ts_ms, m.record FROM (
               SELECT session_date, place FROM greeks_places
               WHERE underlying = w.underlying AND contract = w.contract AND session_date <= $4
               ORDER BY session_date DESC LIMIT ${sessionsBack}) AS p
             CROSS JOIN LATERAL (
               SELECT ts_ms, substring(payload FROM p.place * ${recordBytes} + 1 FOR ${recordBytes}) AS record FROM greeks_minutes
               WHERE underlying = w.underlying AND session_date = p.session_date AND ts_ms <= $3 AND count > p.place
               ORDER BY ts_ms DESC OFFSET 0) AS m
             WHERE get_byte(m.record, ${recordBytes - 1}) > 0
             ORDER BY p.session_date DESC, m.ts_ms DESC LIMIT $5) AS r`,
    values: [keys.map((key) => key.underlying), keys.map((key) => key.contract), throughMs, today, length],
  });
  return rows;
}

interface SeriesRange {
  throughMs: number;
  /** The session of `throughMs`. */
  today: SessionDate;
  length: number;
}

/** The newest solves of several contracts in one statement, none later than `throughMs`; a contract without is absent. */
export async function readLatestGreeks(
  store: Store,
  keys: readonly GreeksKey[],
  range: Omit<SeriesRange, 'length'>,
): Promise<Map<string, GreeksSolve>> {
  const rows = await newestRecords(store, keys, { ...range, length: 1 });
  return new Map(
    rows.map(({ wanted, tsMs, record }) => [keys[wanted - 1]!.contract, decodeSolve(record, 0, Number(tsMs))!]),
  );
}

/** The newest `length` samples of several contracts up to `throughMs`, ascending, in one statement; a contract without is absent. */
export async function readGreeksSeries(
  store: Store,
  keys: readonly GreeksKey[],
  range: SeriesRange,
): Promise<Map<string, GreeksSample[]>> {
  const series = new Map<string, GreeksSample[]>();
  for (const { wanted, tsMs, record } of await newestRecords(store, keys, range)) {
    const { iv, delta, gamma, mark } = decodeSolve(record, 0, Number(tsMs))!;
    const { contract } = keys[wanted - 1]!;
    if (!series.has(contract)) series.set(contract, []);
    series.get(contract)!.push({ tsMs: Number(tsMs), iv, delta, gamma, mark });
  }
  for (const samples of series.values()) samples.reverse();
  return series;
}
