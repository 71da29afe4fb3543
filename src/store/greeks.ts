import type { GreeksSample, GreeksSolve, MarkSource } from '../domain/greeks.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { blockVersion } from './bar-blocks.ts';
import { type Columns, decodeBlock, encodeBlock, numbers } from './codec.ts';
import type { Store } from './connection.ts';
import type { Transaction } from './transaction.ts';

/** Where a contract's greeks are kept: under its underlying, by its path form (`O:…`). */
export interface GreeksKey {
  underlying: string;
  contract: string;
}

interface LatestRow {
  contract: string;
  ts_ms: number;
  iv: number | null;
  delta: number | null;
  gamma: number | null;
  mark: number;
  mark_source: MarkSource;
  bid: number | null;
  ask: number | null;
}

/** The newest solves of several contracts in one statement, none later than `throughMs`; a contract without is absent. */
export async function readLatestGreeks(
  store: Store,
  keys: readonly GreeksKey[],
  throughMs: number,
): Promise<Map<string, GreeksSolve>> {
  const { rows } = await store.pool.query<LatestRow>({
    name: 'greeks-latest',
    text: `SELECT g.contract, g.ts_ms, g.iv, g.delta, g.gamma, g.mark, g.mark_source, g.bid, g.ask
           FROM unnest($1::text[], $2::text[]) AS w(underlying, contract)
           JOIN greeks_latest g ON g.underlying = w.underlying AND g.contract = w.contract WHERE g.ts_ms <= $3`,
    values: [keys.map((key) => key.underlying), keys.map((key) => key.contract), throughMs],
  });
  return new Map(
    rows.map(({ contract, ts_ms: tsMs, mark_source: markSource, ...row }) => [contract, { ...row, tsMs, markSource }]),
  );
}

function samplesOf(columns: Columns): GreeksSample[] {
  const [iv, delta, gamma, mark] = ['iv', 'delta', 'gamma', 'mark'].map((name) => numbers(columns, name));
  const known = (value: number) => (Number.isNaN(value) ? null : value);
  return Array.from(numbers(columns, 'tsMs'), (tsMs, i) => ({
    tsMs,
    iv: known(iv![i]!),
    delta: known(delta![i]!),
    gamma: known(gamma![i]!),
    mark: mark![i]!,
  }));
}

/**
 * The newest `length` samples of several contracts up to `throughMs`, ascending, in one statement; a contract without is
 * absent. `today` is the session whose block may reach beyond `throughMs`.
 */
export async function readGreeksSeries(
  store: Store,
  keys: readonly GreeksKey[],
  { throughMs, today, length }: { throughMs: number; today: SessionDate; length: number },
): Promise<Map<string, GreeksSample[]>> {
  // A block is needed when those after it do not fill the series; today's counts for nothing, since part of it may be cut.
  const { rows } = await store.pool.query<{ contract: string; payload: Buffer }>({
    name: 'greeks-series',
    text: `SELECT contract, payload FROM (
             SELECT g.contract, g.session_date, g.payload, sum(CASE WHEN g.session_date < $3 THEN g.count ELSE 0 END) OVER newer
               - CASE WHEN g.session_date < $3 THEN g.count ELSE 0 END AS after
             FROM unnest($1::text[], $2::text[]) AS w(underlying, contract)
             JOIN greeks_blocks g ON g.underlying = w.underlying AND g.contract = w.contract AND g.session_date <= $3
             WINDOW newer AS (PARTITION BY g.underlying, g.contract ORDER BY g.session_date DESC)
           ) AS b WHERE after < $4 ORDER BY contract, session_date`,
    values: [keys.map((key) => key.underlying), keys.map((key) => key.contract), today, length],
  });
  const series = new Map<string, GreeksSample[]>();
  for (const { contract, payload } of rows) {
    const samples = samplesOf(decodeBlock(payload)).filter((sample) => sample.tsMs <= throughMs);
    series.set(contract, [...(series.get(contract) ?? []), ...samples].slice(-length));
  }
  return series;
}

/** Writes a contract's newest solve, replacing the one before. */
export async function saveLatestGreeks(tx: Transaction, key: GreeksKey, solve: GreeksSolve): Promise<void> {
  await tx.query(
    `INSERT INTO greeks_latest (underlying, contract, ts_ms, iv, delta, gamma, mark, mark_source, bid, ask)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (underlying, contract) DO UPDATE SET ts_ms = excluded.ts_ms, iv = excluded.iv, delta = excluded.delta,
       gamma = excluded.gamma, mark = excluded.mark, mark_source = excluded.mark_source, bid = excluded.bid, ask = excluded.ask`,
    [
      key.underlying,
      key.contract,
      solve.tsMs,
      solve.iv,
      solve.delta,
      solve.gamma,
      solve.mark,
      solve.markSource,
      solve.bid,
      solve.ask,
    ],
  );
}

/** Writes the samples of a contract's session (ascending), replacing those written before. */
export async function saveGreeksSession(
  tx: Transaction,
  key: GreeksKey,
  session: SessionDate,
  samples: readonly GreeksSample[],
): Promise<void> {
  const column = (name: keyof GreeksSample) => Float64Array.from(samples, (sample) => sample[name] ?? Number.NaN);
  const payload = Buffer.from(
    encodeBlock({
      tsMs: column('tsMs'),
      iv: column('iv'),
      delta: column('delta'),
      gamma: column('gamma'),
      mark: column('mark'),
    }),
  );
  await tx.query(
    `INSERT INTO greeks_blocks (underlying, contract, session_date, count, version, payload) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (underlying, contract, session_date) DO UPDATE SET count = excluded.count, version = excluded.version,
       payload = excluded.payload`,
    [key.underlying, key.contract, session, samples.length, blockVersion(payload), payload],
  );
}
