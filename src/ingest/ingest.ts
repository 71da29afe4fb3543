import { stat } from 'node:fs/promises';
import { methodologySettings, tapeSettings } from '../analytics/methodology.ts';
import { optionsAreOver } from '../domain/calendar.ts';
import { isDate } from '../domain/market-time.ts';
import type { Clock } from '../runtime/clock.ts';
import { ObjectError } from '../runtime/objects/address.ts';
import { removeAbandonedFolders } from '../runtime/temporary-folder.ts';
import { noteOwnData, sampleKeyEnded } from '../store/account/own-data.ts';
import type { Store } from '../store/engine/connection.ts';
import { analyzeGrown } from '../store/engine/statistics.ts';
import { inSettledTransaction, type Transaction } from '../store/engine/transaction.ts';
import { forgetFiles, ingestedFile, mayBeIngested, saveIngestedFile } from '../store/market/ingested-files.ts';
import { SessionSealed } from '../store/market/session-seals.ts';
import { type BadLine, TapeFileError } from '../tape/csv/tape-file.ts';
import type { Dataset } from './dataset-names.ts';
import { datasets } from './datasets.ts';
import { badLineLog, FileRefused, reportedBadLines } from './files/bad-line-log.ts';
import { type ContentHash, ContentHasher, hashFile, hashHead } from './files/content-hash.ts';
import type { FileResult, IngestSettings } from './files/file-job.ts';
import { expandSources, type RemoteSettings, type Source, Spool } from './files/sources.ts';

/** What became of one file. */
export interface FileReport {
  file: string;
  /** `stored`; `unchanged`: all of it is in force already; `refused`: nothing of it was stored. */
  status: 'stored' | 'unchanged' | 'refused';
  /** Records read. */
  rows: number;
  /** Rows or blocks of the store that are new or different. */
  changed: number;
  /** Lines that were omitted, or for which the file was refused: the first hundred. */
  badLines: BadLine[];
  badLineCount: number;
  /** Notes on a file that was stored, for instance on lines that were only partly usable: the first hundred. */
  notes: string[];
  /** Why the file was refused or left alone; null when it was stored. */
  reason: string | null;
}

export interface IngestReport {
  dataset: Dataset;
  files: FileReport[];
}

/**
 * How far an ingest is. Bytes as they lie on disk; those of a remote object count twice, once as they are fetched, and
 * are part of `bytesTotal` from when its size is known.
 */
export interface IngestProgress {
  file: string;
  /** From 0. */
  fileIndex: number;
  fileCount: number;
  bytesRead: number;
  bytesTotal: number;
}

export interface IngestOptions extends Partial<IngestSettings> {
  /** For the record of when a file was stored. */
  now: Clock;
  /** The files come with the project, or are the sample market's; any others end the sample market's key. */
  isBundled?: boolean;
  /** Reads and computes also what is known to be in force. */
  force?: boolean;
  /** What `s3://` and `http://` are read with; absent = no credentials, and encrypted addresses only. */
  remote?: RemoteSettings;
  /** Aborted to stop: what is being stored is rolled back, and its reason is thrown. Files stored before stay. */
  signal?: AbortSignal;
}

const defaults: IngestSettings = {
  maxErrors: 0,
  gammaSource: 'solve',
  rate: methodologySettings.usualRate,
  sessionDate: null,
  quoteFiles: [],
  solveMost: tapeSettings.solvedContracts,
  threads: 1,
};

async function fileVersion(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  return `${ino} ${size} ${mtimeMs}`;
}

/**
 * The hash of a file that may be in force already, else null: a file that begins as none that is in force is hashed as
 * it is stored, and unpacked once.
 */
async function hashAhead(
  store: Store,
  dataset: Dataset,
  { path, shape }: { path: string; shape: string },
  signal: AbortSignal | undefined,
): Promise<ContentHash | null> {
  const mayBe = await mayBeIngested(store, dataset, await hashHead(path, shape));
  return mayBe ? hashFile(path, shape, signal) : null;
}

/**
 * Remembers a file that is in force; those that it took the place of are in force no longer. Data of a session in
 * progress may change at any time.
 */
async function rememberFile(
  tx: Transaction,
  dataset: Dataset,
  hash: ContentHash,
  { name, rows, changed, parts = [] }: FileResult & { name: string },
  now: Clock,
): Promise<void> {
  if (changed > 0) await forgetFiles(tx, datasets[dataset].supersedes, parts);
  if (parts.some((part) => isDate(part) && !optionsAreOver(part, now()))) return;
  await saveIngestedFile(tx, dataset, hash, { name, rows, ingestedAt: now(), parts });
}

/** One file to be stored: what it is called, and where its bytes are. */
interface FileToStore {
  name: string;
  path: string;
}

function emptyReport(file: string): FileReport {
  return { file, status: 'refused', rows: 0, changed: 0, badLines: [], badLineCount: 0, notes: [], reason: null };
}

// Bad lines, notes and progress of a file are reported as it is read.
const readOnce = { once: true };

async function storeFile(
  store: Store,
  dataset: Dataset,
  { name, path }: FileToStore,
  settings: IngestSettings,
  { now, signal, isBundled = false, force = false }: Pick<IngestOptions, 'now' | 'signal' | 'isBundled' | 'force'>,
  onBytes: (bytes: number) => void,
): Promise<FileReport> {
  const { load, shapedBy } = datasets[dataset];
  const log = badLineLog(settings.maxErrors);
  const notes: string[] = [];
  const report = (status: FileReport['status'], { rows, changed }: FileResult, reason: string | null): FileReport => ({
    file: name,
    status,
    rows,
    changed,
    badLines: log.badLines.map((bad) => (bad.file === path ? { ...bad, file: name } : bad)),
    badLineCount: log.count(),
    notes,
    reason,
  });
  const refused = (reason: string) => report('refused', { rows: 0, changed: 0 }, reason);
  try {
    const shape = `${await shapedBy(settings, path)}\n`;
    const version = await fileVersion(path);
    const ahead = force ? null : await hashAhead(store, dataset, { path, shape }, signal);
    return await inSettledTransaction(
      store,
      async (tx) => {
        const before = ahead && (await ingestedFile(tx, dataset, ahead.whole));
        if (before)
          return report(
            'unchanged',
            { rows: before.rows, changed: 0 },
            `the same content is already stored (as ${before.name})`,
          );
        const hasher = ahead ? null : new ContentHasher(shape);
        const result = await load({
          path,
          tx,
          settings,
          now,
          onBadLine: log.add,
          onNote: (note) => {
            if (notes.length < reportedBadLines) notes.push(note);
          },
          refused: log.refused,
          onBytes: (count, text) => {
            signal?.throwIfAborted();
            if (text) hasher?.add(text);
            onBytes(count);
          },
        });
        signal?.throwIfAborted();
        if (log.refused()) throw new FileRefused();
        if ((await fileVersion(path)) !== version) throw new TapeFileError(path, 'the file changed while it was read');
        if (!isBundled && (await noteOwnData(tx, now))) notes.push(sampleKeyEnded);
        await rememberFile(tx, dataset, ahead ?? hasher!.digest(), { ...result, name }, now);
        return result.changed > 0
          ? report('stored', result, null)
          : report('unchanged', result, 'all of it is already stored');
      },
      readOnce,
    );
  } catch (error) {
    // On its way through the reader the reason was taken for a fault of the file.
    signal?.throwIfAborted();
    if (error instanceof FileRefused) return refused(log.reason());
    if (error instanceof TapeFileError || error instanceof SessionSealed) return refused(error.message);
    throw error;
  }
}

/** Counts what was read and fetched of all files. */
function progressOf(sources: readonly Source[], onProgress: (progress: IngestProgress) => void) {
  // A remote file is fetched, then read.
  const weights = sources.map(({ size, remote }) => (size ?? 0) * (remote ? 2 : 1));
  let [fileIndex, bytesBefore, bytesOfFile] = [0, 0, 0];
  const report = (bytesRead: number) =>
    onProgress({
      file: sources[fileIndex]!.name,
      fileIndex,
      fileCount: sources.length,
      bytesRead,
      bytesTotal: weights.reduce((sum, weight) => sum + weight, 0),
    });
  return {
    start(index: number) {
      fileIndex = index;
      bytesBefore = weights.slice(0, index).reduce((sum, weight) => sum + weight, 0);
      bytesOfFile = 0;
      report(bytesBefore);
    },
    fetched(bytes: number, total: number | null) {
      weights[fileIndex] = 2 * Math.max(total ?? 0, bytes);
      bytesOfFile = bytes;
      report(bytesBefore + bytesOfFile);
    },
    read(bytes: number) {
      bytesOfFile += bytes;
      report(bytesBefore + bytesOfFile);
    },
    done: () => report(weights.reduce((sum, weight) => sum + weight, 0)),
  };
}

/**
 * Stores vendor files: names, patterns and addresses (`s3://`, `https://`); plain, gzip, Zstandard or Parquet. Each
 * file is one transaction, stored whole or not at all; what is in force already changes nothing and is reported
 * `unchanged`. A file that cannot be read, or has more bad lines than allowed, is reported `refused` and the others go
 * on. Throws `NoSuchFileError` for a pattern without files, `ObjectError` for one that cannot be listed, and when the
 * store fails.
 */
export async function ingestFiles(
  store: Store,
  dataset: Dataset,
  patterns: readonly string[],
  options: IngestOptions,
  onProgress: (progress: IngestProgress) => void = () => {},
): Promise<IngestReport> {
  const { now: _now, isBundled: _isBundled, force: _force, signal, remote = { env: {} }, ...given } = options;
  const settings = { ...defaults, ...given };
  const sources = await expandSources(patterns, remote, signal);
  const quotes = await expandSources(settings.quoteFiles, remote, signal);
  const progress = progressOf(sources, onProgress);
  const files: FileReport[] = [];
  await removeAbandonedFolders();
  const [quoteSpool, spool] = [new Spool(), new Spool()];
  try {
    const quoteFiles: string[] = [];
    for (const quote of quotes) quoteFiles.push(await quoteSpool.path(quote));
    settings.quoteFiles = quoteFiles;
    for (const [index, source] of sources.entries()) {
      progress.start(index);
      try {
        const path = await spool.path(source, progress.fetched);
        const report = await storeFile(store, dataset, { name: source.name, path }, settings, options, progress.read);
        files.push(report);
        if (report.status === 'stored') await analyzeGrown(store);
      } catch (error) {
        if (!(error instanceof ObjectError)) throw error;
        files.push({ ...emptyReport(source.name), reason: error.message });
      } finally {
        await spool.clear();
      }
    }
  } finally {
    await quoteSpool.clear();
  }
  progress.done();
  return { dataset, files };
}
