import { createReadStream, createWriteStream, existsSync, renameSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdCompress } from 'node:zlib';
import { createContractBook } from '../src/core/domain/chain/contract-book.ts';
import { instantBounds } from '../src/core/domain/instant-gate.ts';
import { readOptionTrades } from '../src/intake/tape/prints/option-trades.ts';
import { openDuckDb, type ReaderName, runReader, scanOf } from './reader-passes.ts';
import { median } from './statistics.ts';
import { tapeFile } from './tape-file.ts';
import type { Pass } from './tape-passes.ts';

const prints = Number(process.env.READER_PRINTS ?? 1_000_000);
const rounds = 3;

/** The file of `gzip` in another format, written on first use. */
async function inForm(gzip: string, ending: string, write: (path: string) => Promise<unknown>): Promise<string> {
  const path = gzip.replace(/\.csv\.gz$/, ending);
  if (existsSync(path)) return path;
  // The extension identifies the format.
  const part = path.replace(/([^/]+)$/, `${process.pid}.$1`);
  await write(part);
  renameSync(part, path);
  return path;
}

async function forms(): Promise<Record<string, string>> {
  const gzip = await tapeFile(prints);
  const zstd = await inForm(gzip, '.csv.zst', (path) =>
    pipeline(createReadStream(gzip), createGunzip(), createZstdCompress(), createWriteStream(path)),
  );
  const parquet = await inForm(gzip, '.parquet', async (path) => {
    const connection = await openDuckDb(tmpdir());
    await connection.run(`COPY (SELECT * FROM ${scanOf(gzip)}) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`);
  });
  return { 'gzip CSV': gzip, 'Zstandard CSV': zstd, Parquet: parquet };
}

/** Both readers of a file in turn; the middle of the rounds. */
async function compareReaders(form: string, path: string, names: readonly [ReaderName, ReaderName]): Promise<void> {
  const passes: [Pass[], Pass[]] = [[], []];
  for (let round = 0; round < rounds; round++)
    for (const [i, name] of names.entries()) passes[i]!.push(await runReader(name, path));
  for (const [i, name] of names.entries()) {
    const of = (read: (pass: Pass) => number) => median(passes[i]!.map(read));
    const { found } = passes[i]![0]!;
    if (JSON.stringify(found) !== JSON.stringify(passes[0]![0]!.found) || found.outOfOrder !== 0)
      throw new Error(`${name} of ${form} found ${JSON.stringify(found)}`);
    console.log(
      `| ${form} | ${name} | ${of(({ cpuSeconds }) => cpuSeconds).toFixed(2)} CPU s ` +
        `| ${of(({ wallSeconds }) => wallSeconds).toFixed(2)} s | ${of(({ peakMiB }) => peakMiB).toFixed(0)} MiB |`,
    );
  }
}

const good = 'O:SPY261218C00600000,209,0,302,1.05,1763562600000000000,10';
/** Lines that are wrong, and what is wrong with each. */
const wrong: Record<string, string> = {
  'price no number': good.replace('1.05', 'abc'),
  'price below zero': good.replace('1.05', '-1'),
  'size with a fraction': good.replace(/10$/, '1.5'),
  'size zero': good.replace(/10$/, '0'),
  'no such contract': good.replace('O:SPY261218C00600000', 'O:SPY261318C00600000'),
  'a column too few': good.replace(/,10$/, ''),
  'a column too many': `${good},1`,
  'a quote left open': good.replace('209', '"209'),
  'no contract': good.replace('O:SPY261218C00600000', ''),
  'conditions no numbers': good.replace('209', 'x'),
  'instant not of this time': good.replace('1763562600000000000', '17'),
};

/** Compares the readers' errors about invalid lines, one file each. */
async function badLines(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tapegraph-readers-'));
  try {
    const connection = await openDuckDb(folder);
    for (const [what, line] of Object.entries(wrong)) {
      const path = join(folder, `${what.replaceAll(' ', '-')}.csv`);
      const header = 'ticker,conditions,correction,exchange,price,sip_timestamp,size';
      await writeFile(path, [header, good, line, good, ''].join('\n'));
      const said: string[] = [];
      const onBadLine = ({ line: nth, reason }: { line: number; reason: string }) =>
        void said.push(`${nth}: ${reason}`);
      const read = readOptionTrades(path, { book: createContractBook(), bounds: instantBounds(Date.now()), onBadLine });
      try {
        for await (const _ of read);
      } catch (error) {
        said.push((error as Error).message);
      }
      // Every column: DuckDB does not look at those that a query leaves out.
      const theirs = await connection
        .run(`SELECT * FROM ${scanOf(path, ', store_rejects = true')}`)
        .then(() => connection.runAndReadAll('SELECT line, error_type, column_name FROM reject_errors'))
        .then((rejects) => rejects.getRowObjects().map((row) => Object.values(row).join(' ')))
        .catch((error: Error) => [`fails: ${error.message.split('\n')[0]}`]);
      await connection.run('DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans');
      console.log(`| ${what} | ${said.join('; ') || 'nothing'} | ${theirs.join('; ') || 'nothing'} |`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Our readers and sorter against DuckDB's, over the same option trades file in three forms. */
export async function readers(): Promise<void> {
  console.log(`${prints.toLocaleString('en-US')} prints, median of ${rounds}`);
  for (const [form, path] of Object.entries(await forms())) {
    await compareReaders(`${form}, read`, path, ['readOurs', 'readDuckDb']);
    await compareReaders(`${form}, in order of time`, path, ['sortOurs', 'sortDuckDb']);
  }
  await badLines();
}
