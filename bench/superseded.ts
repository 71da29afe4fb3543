import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { ingestFiles } from '../src/intake/ingest/ingest.ts';
import { openStore, type Store } from '../src/store/rows/connection.ts';
import { readStoreSize } from '../src/store/superseded/size.ts';
import { tapeFile } from './tape-file.ts';
import { tapeSession } from './tape-market.ts';

// The cost of superseded generations: a session's option tape, read again with one print corrected.

const prints = Number(process.env.PRINTS ?? 300_000);
const sessionsAYear = 252;
const daysKept = 90;
const evening = exchangeInstant(tapeSession, 1200);
const hourMs = 3_600_000;

/** Bytes in force and superseded, with indexes, and the number of superseded rows. */
async function sizesOf(store: Store) {
  await store.pool.query('VACUUM ANALYZE');
  const { tables } = await readStoreSize(store);
  const sum = (of: (table: (typeof tables)[number]) => number) => tables.reduce((all, each) => all + of(each), 0);
  return {
    inForce: sum(({ bytes }) => bytes),
    superseded: sum(({ superseded }) => superseded?.bytes ?? 0),
    rows: sum(({ superseded }) => superseded?.rows ?? 0),
  };
}

async function read(store: Store, path: string, nowMs: number): Promise<void> {
  const { files } = await ingestFiles(store, 'option-trades', [path], { now: () => nowMs });
  if (files[0]!.status !== 'stored') throw new Error(`${files[0]!.reason}`);
}

/** Measures what a store keeps of a session that was read twice. */
export async function superseded(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tapegraph-superseded-'));
  await chmod(dataDir, 0o755);
  const store = await openStore({ databaseUrl: null, dataDir });
  try {
    const before = await sizesOf(store);
    const first = await tapeFile(prints);
    await read(store, first, evening);
    const once = await sizesOf(store);
    // The last print has one contract more.
    const lines = gunzipSync(await readFile(first))
      .toString()
      .trimEnd();
    const corrected = join(dataDir, 'corrected.csv');
    await writeFile(corrected, `${lines.replace(/\d+$/, (size) => String(Number(size) + 1))}\n`);
    await read(store, corrected, evening + hourMs);
    const twice = await sizesOf(store);
    const session = once.inForce - before.inForce;
    const kept = twice.superseded - once.superseded;
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    const share = daysKept / 365;
    console.log(`a session of ${prints} prints: ${megabytes(session)}; a year ${megabytes(session * sessionsAYear)}`);
    console.log(`read again with one print corrected: ${twice.rows} rows superseded, ${megabytes(kept)}`);
    console.log(
      `every session corrected once, kept for ${daysKept} days: ${megabytes(kept * sessionsAYear * share)}, ` +
        `${((100 * kept * share) / session).toFixed(0)} % of the year`,
    );
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
