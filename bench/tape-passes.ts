// Measurements over an option trades file, each in a process of its own, so that its CPU time and memory are separate.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type RankedPrints, rankedLists } from '../src/core/analytics/flow/ranked-prints.ts';
import { emptyCounts } from '../src/core/analytics/session/option-tape.ts';
import { createContractBook } from '../src/core/domain/chain/contract-book.ts';
import { standardRoots } from '../src/core/domain/chain/option-root.ts';
import { instantBounds } from '../src/core/domain/instant-gate.ts';
import { readOptionTape, type SessionPlan } from '../src/intake/ingest/options/option-tape-files.ts';
import { type OnBadLine, readBytes } from '../src/intake/tape/csv/tape-file.ts';
import { readOptionTrades } from '../src/intake/tape/prints/option-trades.ts';
import { fileReaderOptions } from '../src/platform/runtime/memory-plan.ts';

/** Result and cost of a pass. */
export interface Pass {
  /** CPU time of the whole process, with all its threads: unpacking has its own. */
  cpuSeconds: number;
  wallSeconds: number;
  /** Most memory the process ever had, MiB, and what it had before it began. */
  peakMiB: number;
  startMiB: number;
  /** Figures that verify the pass. */
  found: Record<string, number>;
}

/** Contracts, prints, volume (contracts) and premium (dollars) of a grouped file. */
interface Grouped extends Record<string, number> {
  contracts: number;
  prints: number;
  volume: number;
  premiumUsd: number;
}

const onBadLine: OnBadLine = ({ line, reason }) => {
  throw new Error(`line ${line}: ${reason}`);
};

async function gunzip(path: string): Promise<Record<string, number>> {
  let bytes = 0;
  for await (const chunk of readBytes(path)) bytes += chunk.length;
  return { bytes };
}

/** Volume, premium and count per contract, including cancels, by our reader; DuckDB computes the same. */
async function group(path: string): Promise<Grouped> {
  const volumes: number[] = [];
  const premiums: number[] = [];
  const counts: number[] = [];
  for await (const prints of readOptionTrades(path, {
    book: createContractBook(),
    bounds: instantBounds(Date.now()),
    onBadLine,
  })) {
    for (const { contract, price, size } of prints) {
      const { index } = contract;
      volumes[index] = (volumes[index] ?? 0) + size;
      premiums[index] = (premiums[index] ?? 0) + price * size * contract.multiplier;
      counts[index] = (counts[index] ?? 0) + 1;
    }
  }
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  return { contracts: counts.length, prints: sum(counts), volume: sum(volumes), premiumUsd: sum(premiums) / 1e4 };
}

const reading = (path: string, threads: number) => ({
  trades: [{ path, onBytes: () => {} }],
  quotes: { files: [] },
  threads,
  bounds: instantBounds(Date.now()),
  roots: standardRoots,
  onBadLine,
  onBytes: () => {},
  refused: () => false,
});

/** All that is done before sessions are made: read, numbered, put aside by underlying. */
async function partitioned(path: string, threads: number): Promise<Record<string, number>> {
  const files = await readOptionTape(reading(path, threads));
  await files.close();
  return { prints: files.prints };
}

/** The whole way but for the database: events, cross-sections, ranked lists and bars, encoded as they are stored. */
async function events(path: string, threads: number): Promise<Record<string, number>> {
  const files = await readOptionTape(reading(path, threads));
  const counts = emptyCounts();
  const tops: ReturnType<RankedPrints['tops']> = [];
  const found = { events: 0, printsInEvents: 0, crossSectionRows: 0, barBlocks: 0 };
  const plan: SessionPlan = { isWanted: () => true, statusOf: () => 'eod_reconciled', solving: () => null };
  for await (const { underlying, top, section, events, bars, largeTrades, ...made } of files.make(plan)) {
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += made.counts[name];
    found.crossSectionRows += section.byStrike.length + section.byExpiration.length;
    found.events += largeTrades;
    found.printsInEvents += events.legs.count;
    found.barBlocks += bars.count;
    tops.push({ underlying, prints: top });
  }
  await files.close();
  const ranked = rankedLists(tops, (symbol) => symbol === 'SPX' || symbol === 'NDX', {
    sessionDate: files.sessions[0]!,
    coverageStatus: 'eod_reconciled',
    scannedAtMs: 0,
    source: 'bench',
  });
  return { ...counts, ...found, rankedPrints: ranked.reduce((sum, list) => sum + list.prints.length, 0) };
}

/** The used part of DuckDB. Its types exist only once bench/ is installed. */
interface DuckDb {
  DuckDBInstance: {
    create(
      path: string,
      settings: Record<string, string>,
    ): Promise<{
      connect(): Promise<{
        runAndReadAll(sql: string): Promise<{ getRows(): unknown[][] }>;
      }>;
    }>;
  };
}

const duckDbColumns =
  "{'ticker': 'VARCHAR', 'conditions': 'VARCHAR', 'correction': 'INTEGER', 'exchange': 'INTEGER', 'price': 'DOUBLE', 'sip_timestamp': 'BIGINT', 'size': 'BIGINT'}";

/** The grouping by DuckDB on one thread, with given columns, so that it need not detect them. */
async function duckDb(path: string): Promise<Grouped> {
  const { DuckDBInstance }: DuckDb = await import('@duckdb/node-api' as string);
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const result = await connection.runAndReadAll(
    `SELECT ticker, sum(size)::DOUBLE, sum(price * size) * 100, count(*)::DOUBLE
     FROM read_csv('${path.replaceAll("'", "''")}', header = true, delim = ',', columns = ${duckDbColumns}) GROUP BY ticker`,
  );
  const rows = result.getRows() as [string, number, number, number][];
  const sum = (column: 1 | 2 | 3) => rows.reduce((total, row) => total + row[column], 0);
  return { contracts: rows.length, prints: sum(3), volume: sum(1), premiumUsd: sum(2) };
}

const passes = { gunzip, group, partitioned, events, duckDb };
export type PassName = keyof typeof passes;

/** Runs a pass over a file in a process of its own. Rejects when it ends without an answer. */
export function runPass(name: PassName, path: string, threads = 1): Promise<Pass> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--pass', name, path, String(threads)], {
      execArgv: [...process.execArgv, ...fileReaderOptions],
    });
    child.once('message', (pass) => resolve(pass as Pass));
    child.once('exit', (code) => reject(new Error(`the pass ${name} ended with ${code}`)));
  });
}

async function measure(name: PassName, path: string, threads: number): Promise<Pass> {
  const startMiB = process.memoryUsage.rss() / 2 ** 20;
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  const found = await passes[name](path, threads);
  const { user, system } = process.cpuUsage(cpu);
  return {
    cpuSeconds: (user + system) / 1e6,
    wallSeconds: (performance.now() - wall) / 1000,
    peakMiB: process.resourceUsage().maxRSS / 1024,
    startMiB,
    found,
  };
}

if (process.argv[2] === '--pass') {
  const [name, path, threads = '1'] = process.argv.slice(3) as [PassName, string, string?];
  const pass = await measure(name, path, Number(threads));
  if (process.send) process.send(pass, () => process.exit(0));
  else console.log(pass);
}
