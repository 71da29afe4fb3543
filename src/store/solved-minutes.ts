import type { GreeksSolve } from '../domain/greeks.ts';
import type { SessionDate } from '../domain/market-time.ts';
import type { Store } from './connection.ts';
import { decodeSolve, recordBytes } from './greeks-record.ts';
import type { Transaction } from './transaction.ts';

/** All solves of an underlying at a minute. Shared by its readers: not to be changed. */
export interface SolvedMinute {
  underlying: string;
  sessionDate: SessionDate;
  tsMs: number;
  /** Dollars, as the solves used it; null when unknown. */
  spot: number | null;
  /** By contract path form. */
  solves: ReadonlyMap<string, GreeksSolve>;
}

interface MinuteFacts {
  underlying: string;
  sessionDate: SessionDate;
  tsMs: number;
  version: string;
}

const cacheKey = ({ underlying, tsMs, version }: MinuteFacts) => `solved-minute:${underlying}:${tsMs}:${version}`;
/** Bytes a solve takes in the cache, about. */
const solveBytes = 250;

async function readMinutes(
  from: Pick<Transaction, 'query'>,
  wanted: readonly Omit<MinuteFacts, 'version'>[],
): Promise<{ minute: SolvedMinute; version: string }[]> {
  if (wanted.length === 0) return [];
  // Minute and places in one statement, so that both are of one state of the store.
  const { rows } = await from.query<
    MinuteFacts & { spot: number | null; payload: Buffer; contracts: readonly string[] }
  >({
    name: 'solved-minute-payloads',
    text: `SELECT m.underlying, m.session_date AS "sessionDate", m.ts_ms AS "tsMs", m.version, m.spot, m.payload, ARRAY(
             SELECT p.contract FROM greeks_places p WHERE p.underlying = m.underlying AND p.session_date = m.session_date
               AND p.place < m.count ORDER BY p.place) AS contracts
           FROM unnest($1::text[], $2::text[], $3::bigint[]) AS w(underlying, session_date, ts_ms)
           JOIN greeks_minutes m ON m.underlying = w.underlying AND m.session_date = w.session_date AND m.ts_ms = w.ts_ms`,
    values: [wanted.map((one) => one.underlying), wanted.map((one) => one.sessionDate), wanted.map((one) => one.tsMs)],
  });
  return rows.map(({ payload, contracts, spot, version, ...facts }) => {
    const solves = new Map<string, GreeksSolve>();
    contracts.forEach((contract, place) => {
      const solve = decodeSolve(payload, place * recordBytes, facts.tsMs);
      if (solve !== null) solves.set(contract, solve);
    });
    return { minute: { ...facts, spot, solves }, version };
  });
}

/** The last solved minute of an underlying's session at or before an instant, inside the caller's transaction; null when there is none. */
export async function solvedMinuteAt(
  from: Pick<Transaction, 'query'>,
  underlying: string,
  sessionDate: SessionDate,
  throughMs: number,
): Promise<SolvedMinute | null> {
  const { rows } = await from.query<{ tsMs: number | null }>(
    'SELECT max(ts_ms) AS "tsMs" FROM greeks_minutes WHERE underlying = $1 AND session_date = $2 AND ts_ms <= $3',
    [underlying, sessionDate, throughMs],
  );
  const { tsMs } = rows[0]!;
  const [found] = tsMs === null ? [] : await readMinutes(from, [{ underlying, sessionDate, tsMs }]);
  return found?.minute ?? null;
}

/** The last solved minute of each underlying at or before `throughMs`, whose session is `today`, in their order; null where there is none. Two statements, one when all are cached. */
export async function lastSolvedMinutes(
  store: Store,
  underlyings: readonly string[],
  { throughMs, today }: { throughMs: number; today: SessionDate },
): Promise<(SolvedMinute | null)[]> {
  const { rows } = await store.pool.query<MinuteFacts>({
    name: 'last-solved-minutes',
    text: `SELECT m.* FROM unnest($1::text[]) AS w(underlying) CROSS JOIN LATERAL (
             SELECT underlying, session_date AS "sessionDate", ts_ms AS "tsMs", version FROM greeks_minutes
             WHERE underlying = w.underlying AND session_date <= $2 AND ts_ms <= $3
             ORDER BY session_date DESC, ts_ms DESC LIMIT 1) AS m`,
    values: [underlyings, today, throughMs],
  });
  const cached = new Map(rows.map((facts) => [facts.underlying, store.blocks.get<SolvedMinute>(cacheKey(facts))]));
  const read = new Map<string, SolvedMinute>();
  const missing = rows.filter(({ underlying }) => !cached.get(underlying));
  for (const { minute, version } of await readMinutes(store.pool, missing)) {
    store.blocks.set(cacheKey({ ...minute, version }), minute, 200 + minute.solves.size * solveBytes);
    read.set(minute.underlying, minute);
  }
  return underlyings.map((underlying) => cached.get(underlying) ?? read.get(underlying) ?? null);
}
