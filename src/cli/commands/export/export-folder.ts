import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { exchangeDate, exchangeInstant } from '../../../core/domain/market-time.ts';
import { maxEpochMs } from '../../../core/domain/units.ts';
import { processExists } from '../../../platform/runtime/folders.ts';
import { productVersion } from '../../../platform/runtime/product-version.ts';
import type { ColumnType } from '../../../rest/contract/table.ts';
import type { Store } from '../../../store/rows/connection.ts';
import { type CommandResult, megabytes } from '../../io/command-result.ts';
import type { Terminal } from '../../io/terminal.ts';
import { type Exporter, type ExportRow, exporters, lengthOf } from './exporters.ts';
import { columnsOf, counting } from './formats.ts';

const exportedFile = z.object({
  path: z.string(),
  dataset: z.string(),
  date: z.string().nullable(),
  symbol: z.string().nullable(),
  rows: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** A file of a folder of exports. `path` is relative to the folder; null = it is of all dates, of all symbols. */
type ExportedFile = z.infer<typeof exportedFile>;

const format = z.object({ version: z.literal(1), files: z.array(exportedFile) });

/** The list of a folder's files, with their checksums and columns: `manifest.json`. */
class Manifest {
  readonly #file: string;
  readonly #folder: string;
  readonly #files: Map<string, ExportedFile>;

  private constructor(folder: string, files: readonly ExportedFile[]) {
    this.#folder = folder;
    this.#file = join(folder, 'manifest.json');
    this.#files = new Map(files.map((file) => [file.path, file]));
  }

  /** Reads that of a folder; empty if there is none. Throws if it is none that this version writes. */
  static async read(folder: string): Promise<Manifest> {
    const file = join(folder, 'manifest.json');
    if (!existsSync(file)) return new Manifest(folder, []);
    try {
      return new Manifest(folder, format.parse(JSON.parse(await readFile(file, 'utf8'))).files);
    } catch (error) {
      throw new Error(`${file} is not a manifest of tapegraph export; move it away, or name another folder`, {
        cause: error,
      });
    }
  }

  find(path: string): ExportedFile | undefined {
    return this.#files.get(path);
  }

  set(file: ExportedFile): void {
    this.#files.set(file.path, file);
  }

  /** Replaces the file on disk at once. Files that somebody has deleted are no longer listed. */
  async write({
    writtenAt,
    datasets,
  }: {
    writtenAt: string;
    datasets: Readonly<Record<string, Readonly<Record<string, ColumnType>>>>;
  }): Promise<void> {
    const files = [...this.#files.values()]
      .filter(({ path }) => existsSync(join(this.#folder, path)))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
    const text = { version: 1, product_version: productVersion, written_at: writtenAt, datasets, files };
    const draft = `${this.#file}.partial`;
    await writeFile(draft, `${JSON.stringify(text, null, 1)}\n`, { flush: true });
    await rename(draft, this.#file);
  }
}

/** Exporters of a folder; the others have the same rows under another name. */
const wanted = Object.entries(exporters).filter(([name]) => name !== 'stock-bars' && name !== 'option-bars');

/** Request for an export to a folder. */
interface FolderOptions {
  folder: string;
  /** One symbol, without the datasets of all; null = all symbols. */
  symbol: string | null;
  /** Range of the datasets that have a date; whole New York dates. */
  fromMs: number;
  toMs: number;
  /** True if a file may be replaced by one with fewer rows. */
  allowsFewer: boolean;
  onProgress: (label: string, fraction: number) => void;
}

/** Rows of one date after the other. Each group must be read to its end. */
async function* byDate(
  rows: AsyncIterable<ExportRow>,
  dateOf: (row: ExportRow) => string | null,
): AsyncGenerator<{ date: string | null; rows: AsyncIterable<ExportRow> }> {
  const iterator = rows[Symbol.asyncIterator]();
  let next = await iterator.next();
  while (!next.done) {
    const date = dateOf(next.value);
    const group = async function* () {
      for (; !next.done && dateOf(next.value) === date; next = await iterator.next()) yield next.value;
    };
    yield { date, rows: group() };
  }
}

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size;

type Outcome = 'written' | 'unchanged' | 'kept';

/** One run of an export to a folder: a Parquet file per dataset, date and symbol. */
class FolderExport {
  readonly #store: Store;
  readonly #options: FolderOptions;
  readonly #manifest: Manifest;
  readonly files: Record<Outcome, ExportedFile[]> = { written: [], unchanged: [], kept: [] };

  constructor(store: Store, manifest: Manifest, options: FolderOptions) {
    this.#store = store;
    this.#options = options;
    this.#manifest = manifest;
  }

  /** Exports a dataset, of a symbol unless that is null. */
  async export(dataset: string, exporter: Exporter, symbol: string | null): Promise<void> {
    const { fromMs, toMs } = exporter.dateOf ? this.#options : { fromMs: 0, toMs: maxEpochMs };
    const range = { symbol, fromMs, toMs, timeframe: lengthOf(exporter, undefined) };
    const done = new Set<string | null>();
    for await (const { date, rows } of byDate(exporter.rows(this.#store, range), exporter.dateOf ?? (() => null))) {
      if (done.has(date)) throw new Error(`${dataset} of ${symbol}: rows of ${date} are not together`);
      done.add(date);
      const folders = [`dataset=${dataset}`, ...(date === null ? [] : [`date=${date}`])];
      const path = [...folders, `${encodeURIComponent(symbol ?? dataset)}.parquet`].join('/');
      await this.#write({ path, dataset, date, symbol }, exporter, rows);
    }
  }

  /** Writes a file beside the one that is there, which it replaces if it differs and has no fewer rows. */
  async #write(
    about: Pick<ExportedFile, 'path' | 'dataset' | 'date' | 'symbol'>,
    exporter: Exporter,
    rows: AsyncIterable<ExportRow>,
  ): Promise<void> {
    const file = join(this.#options.folder, about.path);
    const draft = `${file}.partial`;
    await mkdir(dirname(file), { recursive: true });
    const counted = { rows: 0 };
    const hash = createHash('sha256');
    let bytes = 0;
    const measured = async function* (parts: AsyncIterable<Uint8Array>) {
      for await (const part of parts) {
        hash.update(part);
        bytes += part.length;
        yield part;
      }
    };
    try {
      const parts = columnsOf(exporter, counting(rows, counted), 'parquet');
      await pipeline(parts, measured, createWriteStream(draft, { flush: true }));
      const made = { ...about, rows: counted.rows, bytes, sha256: hash.digest('hex') };
      const outcome = this.#outcome(file, made);
      this.files[outcome].push(made);
      if (outcome !== 'written') return;
      await rename(draft, file);
      this.#manifest.set(made);
    } finally {
      await rm(draft, { force: true });
    }
  }

  #outcome(file: string, made: ExportedFile): Outcome {
    const known = this.#manifest.find(made.path);
    if (!known || sizeOf(file) !== known.bytes) return 'written';
    if (known.sha256 === made.sha256) return 'unchanged';
    return made.rows < known.rows && !this.#options.allowsFewer ? 'kept' : 'written';
  }
}

/** The start of the New York date of an instant; the limits of a range that is open stay. */
const startOfDate = (ms: number) => (ms === 0 || ms === maxEpochMs ? ms : exchangeInstant(exchangeDate(ms)));

/** Steps of an export: each dataset whole, or of each symbol. */
async function stepsOf(store: Store, only: string | null) {
  const { storedSymbols } = await import('../../../store/market/symbols.ts');
  const all = only === null ? await storedSymbols(store) : [only];
  return wanted.flatMap(([dataset, exporter]) => {
    const symbols = exporter.whole ? (only === null ? [null] : []) : all;
    return symbols.map((symbol) => ({ dataset, exporter, symbol }));
  });
}

function resultOf({ files }: FolderExport, folder: string): CommandResult {
  const { written, unchanged, kept } = files;
  const total = (list: readonly ExportedFile[], of: 'rows' | 'bytes') => list.reduce((sum, file) => sum + file[of], 0);
  const size = `${total(written, 'rows')} rows, ${megabytes(total(written, 'bytes'))}`;
  return {
    json: { folder, written: written.length, unchanged: unchanged.length, kept: kept.map(({ path }) => path) },
    lines: [
      `${written.length} files written to ${folder} (${size}), ${unchanged.length} unchanged`,
      ...kept.map(
        ({ path, rows }) => `${path}: kept, because the store has only ${rows} rows; --allow-fewer replaces it`,
      ),
    ],
    failed: kept.length > 0,
  };
}

/**
 * Exports the store to a folder: `dataset=…/date=…/SYMBOL.parquet`, and `manifest.json`. Only files whose content
 * changed are replaced, each at once, so that a killed run leaves the last good ones.
 */
export async function exportToFolder(
  { now, interrupted }: Terminal,
  store: Store,
  options: FolderOptions,
): Promise<CommandResult> {
  const { folder, symbol, onProgress } = options;
  const [fromMs, toMs] = [options.fromMs, options.toMs].map(startOfDate);
  await mkdir(folder, { recursive: true });
  return withFolder(folder, async () => {
    const manifest = await Manifest.read(folder);
    const run = new FolderExport(store, manifest, { ...options, fromMs: fromMs!, toMs: toMs! });
    const steps = await stepsOf(store, symbol);
    try {
      for (const [index, step] of steps.entries()) {
        interrupted.throwIfAborted();
        onProgress(`${step.dataset} ${step.symbol ?? ''}`.trim(), index / steps.length);
        await run.export(step.dataset, step.exporter, step.symbol);
      }
    } finally {
      const datasets = Object.fromEntries(wanted.map(([name, { columns }]) => [name, columns]));
      await manifest.write({ writtenAt: new Date(now()).toISOString(), datasets });
    }
    return resultOf(run, folder);
  });
}

/** Runs `work` while no other process exports to the folder. The lock of a killed process is taken over. */
async function withFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = join(folder, '.export.lock');
  const take = () => writeFile(file, String(process.pid), { flag: 'wx' });
  try {
    await take();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const owner = Number(await readFile(file, 'utf8'));
    if (owner > 0 && processExists(owner)) throw new Error(`process ${owner} exports to ${folder} now`);
    await rm(file, { force: true });
    await take();
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}
