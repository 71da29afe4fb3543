import { europeanSolves, gexCaptureCost } from './solvers.ts';
import { tapeFile } from './tape-file.ts';
import { type Pass, type PassName, runPass } from './tape-passes.ts';
import { quotesFile } from './tape-quotes-file.ts';
import { storeTape } from './tape-storing.ts';

const sizes = [1_000_000, 5_000_000, 10_000_000] as const;
/** Quotes beside the smallest tape. */
const quotesBeside = 4_000_000;
const threadCounts = [2, 4] as const;

const rate = (count: number, seconds: number) => Math.round(count / seconds).toLocaleString('en-US');

function print(what: string, prints: number, { cpuSeconds, wallSeconds, peakMiB, startMiB }: Pass): void {
  const time = `${cpuSeconds.toFixed(2)} CPU s (${wallSeconds.toFixed(2)} s)`;
  const rates = `${rate(prints, cpuSeconds).padStart(10)} prints/CPU s ${rate(prints, wallSeconds).padStart(10)} a second`;
  const memory = `peak ${peakMiB.toFixed(0)} MiB (${startMiB.toFixed(0)} before)`;
  console.log(`  ${what.padEnd(34)} ${time.padEnd(24)} ${rates}   ${memory}`);
}

async function pass(name: PassName, what: string, prints: number, path: string, threads = 1): Promise<Pass> {
  const result = await runPass(name, path, threads);
  print(what, prints, result);
  return result;
}

/** DuckDB's grouping; null where it has no package for this machine. */
async function besideDuckDb(prints: number, path: string): Promise<Pass | null> {
  try {
    return await pass('duckDb', 'DuckDB, grouped by contract', prints, path);
  } catch (error) {
    console.log(`  DuckDB is passed over: ${(error as Error).message}`);
    return null;
  }
}

function checkAlike(ours: Pass, theirs: Pass): void {
  for (const [name, value] of Object.entries(ours.found)) {
    // Premiums are summed as doubles there, in whole units here.
    if (Math.abs(theirs.found[name]! - value) > 1e-9 * value) throw new Error(`the groupings differ in ${name}`);
  }
}

/** The whole way but for the database, by one thread and by several, which must find the same; what one takes. */
async function throughThreads(prints: number, path: string): Promise<Pass> {
  const alone = await pass('events', 'to events, bars, lists: 1 thread', prints, path);
  console.log(`    ${JSON.stringify(alone.found)}`);
  for (const threads of threadCounts) {
    const { found } = await pass('events', `the same: ${threads} threads`, prints, path, threads);
    if (JSON.stringify(found) !== JSON.stringify(alone.found)) throw new Error(`${threads} threads find otherwise`);
  }
  return alone;
}

/** The tape stored, by one thread and by several: the same bytes. */
async function stored(prints: number, path: string, quotes = ''): Promise<void> {
  const hashes = new Set<string>();
  for (const threads of [1, ...threadCounts]) {
    const { cpuSeconds, databaseCpuSeconds, wallSeconds, peakMiB, hash } = await storeTape(path, quotes, threads);
    const both = cpuSeconds + databaseCpuSeconds;
    const what = `stored${quotes && ' with quotes'}, ${threads} threads`;
    const costs = `${cpuSeconds.toFixed(2)} + ${databaseCpuSeconds.toFixed(2)} CPU s (${wallSeconds.toFixed(2)} s)`;
    const rates = `${rate(prints, both)} prints/CPU s ${rate(prints, wallSeconds)} a second`;
    console.log(`  ${what.padEnd(34)} ${costs} ${rates}   peak ${peakMiB.toFixed(0)} MiB`);
    hashes.add(hash);
  }
  if (hashes.size > 1) throw new Error('threads store otherwise');
}

/** An option trades file of 1 and of 5 million prints: the whole way, its parts, and DuckDB grouping it. */
async function optionTape(): Promise<void> {
  for (const prints of sizes) {
    const path = await tapeFile(prints);
    console.log(`option tape of ${prints.toLocaleString('en-US')} prints, gzip`);
    const whole = await throughThreads(prints, path);
    await stored(prints, path);
    if (prints === sizes[0]) await stored(prints, path, await quotesFile(quotesBeside));
    if (prints !== 5_000_000) continue;
    const gunzip = await pass('gunzip', 'gunzip alone', prints, path);
    const grouped = await pass('group', 'read, grouped by contract', prints, path);
    const parted = await pass('partitioned', 'read, put aside by underlying', prints, path);
    const share = (seconds: number) => `${((100 * seconds) / whole.cpuSeconds).toFixed(0)} %`;
    const [unpacked, read, aside] = [gunzip, grouped, parted].map(({ cpuSeconds }) => cpuSeconds) as [
      number,
      number,
      number,
    ];
    console.log(
      `  of the whole: gunzip ${share(unpacked)}, parse and put aside ${share(aside - unpacked)}, engine and encoding ${share(whole.cpuSeconds - aside)}`,
    );
    const duckDb = await besideDuckDb(prints, path);
    if (!duckDb) continue;
    checkAlike(grouped, duckDb);
    console.log(
      `  CPU time over DuckDB's grouping: the same grouping ${(read / duckDb.cpuSeconds).toFixed(2)}×, the whole way ${(whole.cpuSeconds / duckDb.cpuSeconds).toFixed(2)}×`,
    );
  }
}

/** Tapes and solves, which require no store. */
export async function tape(): Promise<void> {
  const { contracts, fromOwnQuotes, first, warm } = gexCaptureCost();
  console.log(`GEX capture of ${contracts} American contracts, ${fromOwnQuotes} of them solved from their own quotes`);
  console.log(`  ${first.toFixed(2)} CPU s the first time, ${warm.toFixed(2)} CPU s afterwards`);
  const { perSecond, worstErrorUsd } = europeanSolves();
  console.log(
    `European volatilities: ${rate(perSecond, 1)} solves/CPU s, at worst ${worstErrorUsd.toExponential(1)} dollars off`,
  );
  await optionTape();
}
