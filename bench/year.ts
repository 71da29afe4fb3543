import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { ensureSampleMarket } from '../src/intake/ingest/sample/sample-market.ts';
import { sampleShape } from '../src/intake/sample/market/plan.ts';
import { openStore } from '../src/store/rows/connection.ts';
import { median } from './statistics.ts';

// Signed volume per contract and minute of the sample market: bytes in the store by session, and of a year of these.

const sessions = Number(process.env.SESSIONS ?? 20);
const sessionsAYear = 252;
const now = () => exchangeInstant('2026-11-20', 8 * 60);
const shape = {
  ...sampleShape,
  barSessions: sessions + 1,
  chainSessions: sessions,
  tapeSessions: sessions,
  historySessions: 1,
  // One chain a session: its roots and open interest are enough.
  captureEveryMinutes: 390,
};

const tables = `SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
  WHERE relkind = 'r' AND relname IN ('contract_minute_blocks', 'cross_sections', 'flow_events', 'flow_legs', 'option_bar_blocks')`;
const bySession = `SELECT session_date AS session, count(*)::int AS blocks, sum(pg_column_size(b.*))::int AS bytes
  FROM contract_minute_blocks b GROUP BY session_date ORDER BY session_date`;

/** Measures the store after sessions of tapes of the sample market. */
export async function year(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tapegraph-year-'));
  await chmod(dataDir, 0o755);
  const store = await openStore({ databaseUrl: process.env.DATABASE_URL ?? null, dataDir });
  try {
    await ensureSampleMarket(store, { dataDir, now, shape });
    const { rows } = await store.pool.query<{ session: string; blocks: number; bytes: number }>(bySession);
    const bytes = rows.map((row) => row.bytes);
    const mean = bytes.reduce((sum, each) => sum + each, 0) / rows.length;
    console.log(`minutes of contracts: ${rows.length} sessions, ${rows.map(({ blocks }) => blocks).join(' ')} blocks`);
    const range = `${Math.min(...bytes)} to ${Math.max(...bytes)}, median ${median(bytes)}, mean ${mean.toFixed(0)}`;
    console.log(`bytes a session: ${range}; a year ${((mean * sessionsAYear) / 1e6).toFixed(1)} MB`);
    await store.pool.query('VACUUM FULL contract_minute_blocks');
    const { rows: sizes } = await store.pool.query<{ name: string; bytes: string }>(tables);
    for (const { name, bytes: size } of sizes)
      console.log(
        `${name.padEnd(24)} ${size} bytes with indexes; a year ${((Number(size) / rows.length) * sessionsAYear * 1e-6).toFixed(1)} MB`,
      );
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
