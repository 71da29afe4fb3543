// Readers of one vendor file, each in a process of its own, so that its CPU time and memory are its alone.
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContractBook } from '../src/core/domain/chain/contract-book.ts';
import { instantBounds } from '../src/core/domain/instant-gate.ts';
import { RecordSorter } from '../src/intake/ingest/files/record-sorter.ts';
import { readOptionTrades } from '../src/intake/tape/prints/option-trades.ts';
import type { Pass } from './tape-passes.ts';

/** The used part of a query's result. */
interface Rows {
  fetchChunk(): Promise<{ rowCount: number; getColumns(): unknown[][] } | null>;
}

export interface Connection {
  run(sql: string): Promise<unknown>;
  stream(sql: string): Promise<Rows>;
  runAndReadAll(sql: string): Promise<{ getRowObjects(): Record<string, unknown>[] }>;
}

/** DuckDB on one thread with 300 MB, as the ingest of a small machine would give it; its files go to `folder`. */
export async function openDuckDb(folder: string): Promise<Connection> {
  const { DuckDBInstance } = await import('@duckdb/node-api' as string);
  const settings = { threads: '1', memory_limit: '300MB', temp_directory: folder };
  return (await DuckDBInstance.create(':memory:', settings)).connect();
}

const columnTypes = `{'ticker': 'VARCHAR', 'conditions': 'VARCHAR', 'correction': 'INTEGER', 'exchange': 'INTEGER',
  'price': 'DOUBLE', 'sip_timestamp': 'BIGINT', 'size': 'BIGINT'}`;

/** SQL that reads a file with given columns, so that it need not detect them. */
export function scanOf(path: string, more = ''): string {
  const name = `'${path.replaceAll("'", "''")}'`;
  if (path.endsWith('.parquet')) return `read_parquet(${name})`;
  return `read_csv(${name}, header = true, delim = ',', columns = ${columnTypes}${more})`;
}

interface Summed extends Record<string, number> {
  prints: number;
  volume: number;
  /** Prints that came before the one ahead of them. */
  outOfOrder: number;
}

/** Checked prints with their contracts, as records of six numbers. */
async function* ours(path: string): AsyncGenerator<number[]> {
  const onBadLine = ({ line, reason }: { line: number; reason: string }) => {
    throw new Error(`line ${line}: ${reason}`);
  };
  for await (const prints of readOptionTrades(path, {
    book: createContractBook(),
    bounds: instantBounds(Date.now()),
    onBadLine,
  }))
    for (const { contract, price, size, exchange, tsMs, tsNanos } of prints)
      yield [tsMs, tsNanos, contract.index, price, size, exchange];
}

async function readOurs(path: string): Promise<Summed> {
  const found = { prints: 0, volume: 0, outOfOrder: 0 };
  for await (const [, , , , size] of ours(path)) {
    found.prints++;
    found.volume += size!;
  }
  return found;
}

async function sortOurs(path: string): Promise<Summed> {
  const found = { prints: 0, volume: 0, outOfOrder: 0 };
  const sorter = new RecordSorter({ width: 6, keys: [0, 1] });
  try {
    for await (const record of ours(path)) await sorter.push(record);
    let [lastMs, lastNanos] = [0, 0];
    for await (const batch of sorter.sorted()) {
      for (let at = 0; at < batch.length; at += 6) {
        const [tsMs, tsNanos] = [batch[at]!, batch[at + 1]!];
        if (tsMs < lastMs || (tsMs === lastMs && tsNanos < lastNanos)) found.outOfOrder++;
        [lastMs, lastNanos] = [tsMs, tsNanos];
        found.prints++;
        found.volume += batch[at + 4]!;
      }
    }
  } finally {
    await sorter.close();
  }
  return found;
}

/** Rows of a query, brought into JavaScript. */
async function duckDb(path: string, order: string): Promise<Summed> {
  const folder = await mkdtemp(join(tmpdir(), 'tapegraph-duckdb-'));
  const found = { prints: 0, volume: 0, outOfOrder: 0 };
  try {
    const connection = await openDuckDb(folder);
    const columns = 'ticker, conditions, correction, exchange, price, sip_timestamp, size';
    const rows = await connection.stream(`SELECT ${columns} FROM ${scanOf(path)} ${order}`);
    let last = 0n;
    for (let chunk = await rows.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await rows.fetchChunk()) {
      const [, , , , , instants, sizes] = chunk.getColumns() as [...unknown[][]] & Record<5 | 6, bigint[]>;
      for (let i = 0; i < chunk.rowCount; i++) {
        if (order !== '' && instants[i]! < last) found.outOfOrder++;
        last = instants[i]!;
        found.prints++;
        found.volume += Number(sizes[i]);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return found;
}

const passes = {
  readOurs,
  sortOurs,
  readDuckDb: (path: string) => duckDb(path, ''),
  sortDuckDb: (path: string) => duckDb(path, 'ORDER BY sip_timestamp'),
};
export type ReaderName = keyof typeof passes;

/** Runs a reader over a file in a process of its own. Rejects when it ends without an answer. */
export function runReader(name: ReaderName, path: string): Promise<Pass> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--reader', name, path]);
    child.once('message', (pass) => resolve(pass as Pass));
    child.once('exit', (code) => reject(new Error(`the reader ${name} ended with ${code}`)));
  });
}

if (process.argv[2] === '--reader') {
  const [name, path] = process.argv.slice(3) as [ReaderName, string];
  const startMiB = process.memoryUsage.rss() / 2 ** 20;
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  const found = await passes[name](path);
  const { user, system } = process.cpuUsage(cpu);
  const pass: Pass = {
    cpuSeconds: (user + system) / 1e6,
    wallSeconds: (performance.now() - wall) / 1000,
    peakMiB: process.resourceUsage().maxRSS / 1024,
    startMiB,
    found,
  };
  process.send!(pass, () => process.exit(0));
}
