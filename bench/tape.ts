import { europeanSolves, gexCaptureCost } from './solvers.ts';
import { tapeFile } from './tape-file.ts';
import { type Pass, type PassName, runPass } from './tape-passes.ts';

const sizes = [1_000_000, 5_000_000] as const;

const rate = (count: number, seconds: number) => Math.round(count / seconds).toLocaleString('en-US');

function print(what: string, prints: number, { cpuSeconds, wallSeconds, peakMiB, startMiB }: Pass): void {
  const time = `${cpuSeconds.toFixed(2)} CPU s (${wallSeconds.toFixed(2)} s)`;
  console.log(
    `  ${what.padEnd(34)} ${time.padEnd(24)} ${rate(prints, cpuSeconds).padStart(10)} prints/CPU s   peak ${peakMiB.toFixed(0)} MiB (${startMiB.toFixed(0)} before)`,
  );
}

async function pass(name: PassName, what: string, prints: number, path: string): Promise<Pass> {
  const result = await runPass(name, path);
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

/** An option trades file of 1 and of 5 million prints: the whole way, its parts, and DuckDB grouping it. */
async function optionTape(): Promise<void> {
  for (const prints of sizes) {
    const path = await tapeFile(prints);
    console.log(`option tape of ${prints.toLocaleString('en-US')} prints, gzip`);
    const whole = await pass('events', 'to events, sections, ranked lists', prints, path);
    console.log(`    ${JSON.stringify(whole.found)}`);
    if (prints !== sizes.at(-1)) continue;
    const gunzip = await pass('gunzip', 'gunzip alone', prints, path);
    const grouped = await pass('group', 'read, grouped by contract', prints, path);
    const inOrder = await pass('inOrder', 'read and put in order', prints, path);
    const share = (seconds: number) => `${((100 * seconds) / whole.cpuSeconds).toFixed(0)} %`;
    const [unpacked, read, ordered] = [gunzip, grouped, inOrder].map(({ cpuSeconds }) => cpuSeconds) as [
      number,
      number,
      number,
    ];
    console.log(
      `  of the whole: gunzip ${share(unpacked)}, parse ${share(read - unpacked)}, order ${share(ordered - read)}, engine ${share(whole.cpuSeconds - ordered)}`,
    );
    const duckDb = await besideDuckDb(prints, path);
    if (!duckDb) continue;
    checkAlike(grouped, duckDb);
    console.log(
      `  CPU time over DuckDB's grouping: the same grouping ${(read / duckDb.cpuSeconds).toFixed(2)}×, the whole way ${(whole.cpuSeconds / duckDb.cpuSeconds).toFixed(2)}×`,
    );
  }
}

/** Tapes and what is solved: nothing here needs a store. */
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
