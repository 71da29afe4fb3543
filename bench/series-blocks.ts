// Our column blocks beside Apache Arrow IPC: bytes, bytes on disk (a bytea in PostgreSQL, which compresses what is over
// 2 kB), encode and decode, on real data. docs/decisions/0003-series-blocks.md holds the outcome.
//   node bench/series-blocks.ts        (TAPEGRAPH_SHARED_DATA = the folder of real data)
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, gunzipSync } from 'node:zlib';
import { deltaAdjustedGex, gex } from '../src/core/analytics/gex/exposure.ts';
import type { ChainRow } from '../src/core/domain/chain/chain.ts';
import { epochDay } from '../src/core/domain/market-time.ts';
import { readChains } from '../src/intake/tape/chains/chain-file.ts';
import { openStore, type Store } from '../src/store/rows/connection.ts';
import { type Columns, decodeBlock, encodeBlock } from '../src/store/series/codec.ts';

/** The used part of apache-arrow. Its types exist only once bench/ is installed. */
interface Arrow {
  tableFromArrays(columns: Record<string, unknown>): unknown;
  tableToIPC(table: unknown, type: 'stream'): Uint8Array;
  tableFromIPC(bytes: Uint8Array): { getChild(name: string): { toArray(): unknown; toJSON(): unknown[] } | null };
}

const arrow: Arrow = await import('apache-arrow' as string);
const shared = process.env.TAPEGRAPH_SHARED_DATA ?? join(import.meta.dirname, '../../shared/data');

const codecs: Record<
  string,
  { encode(columns: Columns): Uint8Array; decode(bytes: Uint8Array, names: string[]): unknown }
> = {
  blocks: { encode: encodeBlock, decode: (bytes) => decodeBlock(bytes) },
  arrow: {
    // Float64Array becomes Float64 without a copy, a list of texts a dictionary.
    encode: (columns) => arrow.tableToIPC(arrow.tableFromArrays(columns), 'stream'),
    decode: (bytes, names) => {
      const table = arrow.tableFromIPC(bytes);
      return names.map((name) => table.getChild(name)?.toArray());
    },
  },
};

/** Microseconds a call takes: the median of nine runs of about 50 ms. */
function microseconds(work: () => unknown): number {
  const time = (times: number) => {
    const start = performance.now();
    for (let i = 0; i < times; i++) work();
    return performance.now() - start;
  };
  time(50);
  const times = Math.max(5, Math.ceil(50 / (time(20) / 20)));
  const runs = Array.from({ length: 9 }, () => (time(times) / times) * 1000);
  return runs.sort((a, b) => a - b)[4]!;
}

async function bytesOnDisk(store: Store, blocks: Uint8Array[]): Promise<number> {
  await store.pool.query('create table if not exists tried (payload bytea)');
  await store.pool.query('truncate tried');
  for (const block of blocks) await store.pool.query('insert into tried values ($1)', [Buffer.from(block)]);
  const { rows } = await store.pool.query('select sum(pg_column_size(payload))::bigint as bytes from tried');
  return rows[0].bytes;
}

/**
 * Microseconds from asking the database for the blocks (as `bytesOnDisk` left them) to their columns: the median
 * of 100.
 */
async function readMicroseconds(store: Store, decode: (bytes: Uint8Array) => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 130; i++) {
    const start = performance.now();
    const { rows } = await store.pool.query({ name: 'read', text: 'select payload from tried' });
    for (const { payload } of rows) decode(payload);
    times.push((performance.now() - start) * 1000);
  }
  return times.slice(30).sort((a, b) => a - b)[50]!;
}

const column = (rows: readonly ChainRow[], read: (row: ChainRow) => number | null) =>
  Float64Array.from(rows, (row) => read(row) ?? Number.NaN);

function chainColumns(rows: readonly ChainRow[]): Columns {
  const measures = [
    'openInterest',
    'volume',
    'bid',
    'ask',
    'last',
    'fmv',
    'iv',
    'delta',
    'gamma',
    'theta',
    'vega',
  ] as const;
  return {
    root: rows.map((row) => row.root),
    expiry: column(rows, (row) => epochDay(row.expiry)),
    put: column(rows, (row) => (row.right === 'put' ? 1 : 0)),
    strike: column(rows, (row) => row.strike),
    ...Object.fromEntries(measures.map((name) => [name, column(rows, (row) => row[name])])),
  };
}

function gexRowColumns(rows: readonly ChainRow[], spot: number): Columns {
  const position = (row: ChainRow) => ({
    right: row.right,
    gamma: row.gamma ?? 0,
    delta: row.delta ?? 0,
    openInterest: row.openInterest ?? 0,
    multiplier: 100,
  });
  return {
    strike: column(rows, (row) => row.strike),
    expiry: column(rows, (row) => epochDay(row.expiry)),
    gex: column(rows, (row) => gex(position(row), spot)),
    deltaAdj: column(rows, (row) => deltaAdjustedGex(position(row), spot)),
    callOi: column(rows, (row) => (row.right === 'call' ? row.openInterest : null)),
    putOi: column(rows, (row) => (row.right === 'put' ? row.openInterest : null)),
    gex0dte: column(rows, () => null),
  };
}

/** SPY's minute bars of a session. The files hold neither vwap nor trade count: plausible ones stand in. */
function barBlock(session: string, most: number): Columns {
  const text = gunzipSync(readFileSync(join(shared, `stocks_minute_aggs/${session}.csv.gz`))).toString();
  const lines = text.split('\n').filter((line) => line.startsWith('SPY,'));
  const bars = lines.slice(0, most).map((line) => line.split(',').map(Number));
  // ticker, volume, open, close, high, low, window_start, transactions
  const at = (index: number) => Float64Array.from(bars, (bar) => bar[index]!);
  return {
    tsMs: at(6).map((ns) => ns / 1e6),
    open: at(2),
    high: at(4),
    low: at(5),
    close: at(3),
    volume: at(1),
    vwap: Float64Array.from(bars, (bar) => Math.round(((bar[3]! + bar[4]! + bar[5]!) / 3) * 1e4) / 1e4),
    tradeCount: at(1).map((volume) => Math.ceil(volume / 120)),
  };
}

const sessions: [string, number][] = [
  ['2019-02-11', 390],
  ['2019-02-12', 390],
  ['2019-02-13', 220],
];
const {
  captures: [capture],
} = await readChains(join(shared, 'chains_cboe/spx_20240107.csv.gz'), () => {});
const rows = capture!.rows.slice(0, 5000);
const cases: Record<string, Columns[]> = {
  '1,000 1m bars in 3 blocks': sessions.map(([session, most]) => barBlock(session, most)),
  'chain capture, 5,000 rows': [chainColumns(rows)],
  'GEX rows, 5,000': [gexRowColumns(rows, 4697.2402)],
};

const dataDir = mkdtempSync(join(tmpdir(), 'tapegraph-bench-'));
chmodSync(dataDir, 0o755);
const store = await openStore({ databaseUrl: null, dataDir });
console.log('case | codec | bytes | bytes, deflated | bytes on disk | encode µs | decode µs | read µs');
for (const [name, blocks] of Object.entries(cases)) {
  for (const [codec, { encode, decode }] of Object.entries(codecs)) {
    const encoded = blocks.map(encode);
    // As the driver gives them: a Buffer somewhere in a larger one.
    const received = encoded.map((bytes) => Buffer.concat([Buffer.alloc(1), bytes]).subarray(1));
    const size = encoded.reduce((sum, bytes) => sum + bytes.length, 0);
    const deflated = encoded.reduce((sum, bytes) => sum + deflateRawSync(bytes).length, 0);
    const onDisk = await bytesOnDisk(store, encoded);
    const encodeUs = microseconds(() => blocks.map(encode));
    const decodeUs = microseconds(() => received.map((bytes, i) => decode(bytes, Object.keys(blocks[i]!))));
    const readUs = await readMicroseconds(store, (bytes) => decode(bytes, Object.keys(blocks[0]!)));
    console.log(
      [name, codec, size, deflated, onDisk, encodeUs.toFixed(0), decodeUs.toFixed(0), readUs.toFixed(0)].join(' | '),
    );
  }
}
await store.close();
rmSync(dataDir, { recursive: true, force: true });
