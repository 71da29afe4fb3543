import { stat } from 'node:fs/promises';
import { optionsAreOver } from '../../core/domain/calendar.ts';
import { type Dataset, type TapeDataset, tapeDatasets, tapeOfBars } from '../../core/domain/dataset.ts';
import { isDate } from '../../core/domain/market-time.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import {
  forgetFiles,
  type IngestedFile,
  ingestedFile,
  mayBeIngested,
  saveIngestedFile,
  saveReconciledFiles,
} from '../../store/market/ingested-files.ts';
import { markFiles } from '../../store/market/session-origins.ts';
import { SessionSealed } from '../../store/market/session-seals.ts';
import { beginOwnData, beginSampleWrite } from '../../store/origin.ts';
import type { Store } from '../../store/rows/connection.ts';
import { inSettledTransaction, isUsable, type Transaction } from '../../store/rows/transaction.ts';
import { asGeneration } from '../../store/superseded/generation.ts';
import { reasonOf, TapeFileError } from '../tape/csv/tape-file.ts';
import { datasets } from './datasets.ts';
import { type BadLineLog, badLineLog, FileRefused, reportedBadLines } from './files/bad-line-log.ts';
import { type ContentHash, ContentHasher, ContentMeter, hashFile, hashHead, sourceOf } from './files/content-hash.ts';
import type { FileJob, FileResult, IngestSettings } from './files/file-job.ts';
import { noteFileGenerations } from './files/generations.ts';

/** One file to store: its name, and the path of its bytes. */
export interface FileToStore {
  name: string;
  path: string;
  /** Called with the number of further bytes of the file that were read. */
  onBytes(bytes: number): void;
}

/** Result of a file's content: `before` = the file as which it is already stored; null = it was read. */
export type StoredFileResult = { log: BadLineLog; notes: string[] } & (
  | { before: IngestedFile }
  | { before: null; result: FileResult }
);

/** Settings of storing files. */
export interface StoreFilesOptions {
  settings: IngestSettings;
  now: Clock;
  signal: AbortSignal | undefined;
  bundled: 'registry' | 'sample' | undefined;
  force: boolean;
}

/** Thrown for a file that cannot be stored; `cause` has the reason. */
export class FileNotStored extends Error {
  override readonly name = 'FileNotStored';
  readonly file: FileToStore;
  readonly log: BadLineLog;
  /** True if it could be another file of those that were to be stored with it. */
  readonly orAnother: boolean;

  constructor(file: FileToStore, log: BadLineLog, cause: unknown, orAnother = false) {
    super(`${file.name} cannot be stored`, { cause });
    this.file = file;
    this.log = log;
    this.orAnother = orAnother;
  }
}

/** A file being stored. */
interface FileInWork extends FileToStore {
  log: BadLineLog;
  notes: string[];
  shape: string;
  version: string;
  /** The hash of its beginning. */
  head: string;
  /** The hash of a content that may already be stored; otherwise it is computed while the file is read. */
  ahead: ContentHash | null;
  hasher: ContentHasher;
  meter: ContentMeter;
}

async function fileVersion(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (cause) {
    throw new TapeFileError(path, reasonOf(cause), { cause });
  }
}

/** Calls `work` for a file; an error in it is attributed to the file. */
async function ofFile<T>(
  file: FileToStore & { log: BadLineLog },
  signal: AbortSignal | undefined,
  work: (look: () => void) => Promise<T>,
): Promise<T> {
  try {
    return await work(() => signal?.throwIfAborted());
  } catch (error) {
    // The reader reported the stop as an error of the file.
    signal?.throwIfAborted();
    throw error instanceof TapeFileError ? new FileNotStored(file, file.log, error) : error;
  }
}

async function begun(
  store: Store,
  dataset: Dataset,
  file: FileToStore,
  { settings, force, signal }: StoreFilesOptions,
): Promise<FileInWork> {
  const log = badLineLog(settings.maxErrors);
  return ofFile({ ...file, log }, signal, async (look) => {
    const { path } = file;
    const shape = `${await datasets[dataset].shapedBy(settings, path, look)}\n`;
    const version = await fileVersion(path);
    const head = await hashHead(path, shape, look);
    // A file whose beginning differs from all current ones is hashed as it is stored, so it is unpacked once.
    const mayBe = !force && (await mayBeIngested(store, dataset, head));
    const ahead = mayBe ? await hashFile(path, shape, look) : null;
    const measuring = { hasher: new ContentHasher(shape), meter: new ContentMeter() };
    return { ...file, log, notes: [], shape, version, head, ahead, ...measuring };
  });
}

/** Callbacks for a file's loader. */
function readingOf(file: FileInWork, signal: AbortSignal | undefined) {
  return {
    onNote(note: string) {
      if (file.notes.length < reportedBadLines) file.notes.push(note);
    },
    onBytes(count: number, text?: Buffer) {
      signal?.throwIfAborted();
      if (text) file.meter.add(text);
      if (text && !file.ahead) file.hasher.add(text);
      file.onBytes(count);
    },
  };
}

/** Reads and writes files in the caller's transaction. */
async function load(
  tx: Transaction,
  dataset: Dataset,
  files: readonly FileInWork[],
  { settings, now, signal }: StoreFilesOptions,
): Promise<FileResult[]> {
  const { load: loadFile, loadTape } = datasets[dataset];
  const known = new Map(files.map((file) => [file.path, file]));
  const [first] = files;
  const job: Omit<FileJob, 'path' | 'name' | 'onBytes' | 'sha256'> = {
    tx,
    settings,
    now,
    onBadLine(bad) {
      const file = known.get(bad.file);
      // Files of quotes beside a tape have no report of their own.
      (file ?? first!).log.add(bad);
    },
    onNote: readingOf(first!, signal).onNote,
    refused: () => files.some(({ log }) => log.refused()),
  };
  if (!loadTape) {
    const { path, name, meter } = first!;
    const sha256 = () => meter.measured().sha256;
    return [await loadFile!({ ...job, path, name, sha256, onBytes: readingOf(first!, signal).onBytes })];
  }
  const tapes = files.map((file) => ({ ...file, onBytes: readingOf(file, signal).onBytes }));
  return loadTape({ ...job, files: tapes });
}

/**
 * The error to report for one of reading files. One after which the transaction still works is not of the store, so it
 * is of what a file holds, whatever its class: that file is rejected, and the others are stored.
 */
async function notStored(tx: Transaction, files: readonly FileInWork[], error: unknown): Promise<unknown> {
  const [first] = files;
  const refused = files.find(({ log }) => log.refused());
  if (error instanceof FileRefused) return refused ? new FileNotStored(refused, refused.log, error) : error;
  if (error instanceof TapeFileError) {
    const file = files.find(({ path }) => path === error.file) ?? first!;
    return new FileNotStored(file, file.log, error);
  }
  if (error instanceof SessionSealed || !(await isUsable(tx, error))) return error;
  const cause = new TapeFileError(first!.path, `cannot be read (${(error as Error).message})`, { cause: error });
  return new FileNotStored(first!, first!.log, cause, files.length > 1);
}

/** Throws for a file of which nothing can be stored. A part of a session's tape may be empty. */
function rejectEmpty(
  files: readonly FileInWork[],
  results: readonly FileResult[],
  { settings, bundled }: StoreFilesOptions,
) {
  if (settings.only !== null || bundled !== undefined) return;
  const empty = files.find((_, i) => results[i]!.rows === 0);
  if (empty) throw new TapeFileError(empty.path, ['no line of it can be stored', ...empty.notes].join('; '));
}

async function loadChecked(
  tx: Transaction,
  dataset: Dataset,
  files: readonly FileInWork[],
  options: StoreFilesOptions,
): Promise<FileResult[]> {
  try {
    const results = await load(tx, dataset, files, options);
    options.signal?.throwIfAborted();
    if (files.some(({ log }) => log.refused())) throw new FileRefused();
    rejectEmpty(files, results, options);
    for (const { path, version } of files)
      if ((await fileVersion(path)) !== version) throw new TapeFileError(path, 'the file changed while it was read');
    return results;
  } catch (error) {
    // The reader reported the stop as an error of the file.
    options.signal?.throwIfAborted();
    throw await notStored(tx, files, error);
  }
}

/** The tape whose live data files of a dataset take the place of: their own, or that of their bars. */
const tapeOf: Partial<Record<Dataset, TapeDataset>> = {
  ...tapeOfBars,
  ...Object.fromEntries(tapeDatasets.map((dataset) => [dataset, dataset])),
};

/**
 * True if something of the file was left, because storing it would lose data. It is read again: with others beside it,
 * more may be stored.
 */
function isLeft(dataset: Dataset, { unwritten, isPartlyLeft = false, left = [] }: FileResult): boolean {
  if (datasets[dataset].loadTape) return isPartlyLeft || (unwritten !== undefined && unwritten !== 'kept');
  return left.length > 0;
}

/**
 * Records the current files; those that they replace are no longer current. Data of a session in progress may change at
 * any time.
 */
async function rememberFiles(
  tx: Transaction,
  dataset: Dataset,
  files: readonly FileInWork[],
  results: readonly FileResult[],
  { now, settings: { only } }: StoreFilesOptions,
): Promise<void> {
  const changed = results.filter((result) => result.changed > 0);
  const { supersedes } = datasets[dataset];
  for (const { parts = [] } of changed) await forgetFiles(tx, supersedes, parts);
  for (const [i, { name, ahead, hasher }] of files.entries()) {
    const result = results[i]!;
    const { rows, parts = [] } = result;
    // If only one session of a file was requested, the others are not stored, so the file is not current.
    if (only && parts.includes(only))
      await saveReconciledFiles(tx, dataset, only, { names: [name], rows, nowMs: now() });
    if (only || isLeft(dataset, result) || parts.some((part) => isDate(part) && !optionsAreOver(part, now()))) continue;
    await saveIngestedFile(tx, dataset, ahead ?? hasher.digest(), { name, rows, ingestedAt: now(), parts: [...parts] });
  }
}

/** Hashes files with equal beginnings: a repeated one would count twice as two parts of a tape. */
async function hashAlike(files: readonly FileInWork[], signal: AbortSignal | undefined): Promise<void> {
  for (const alike of Map.groupBy(files, ({ head }) => head).values()) {
    if (alike.length === 1) continue;
    for (const file of alike)
      file.ahead ??= await ofFile(file, signal, (look) => hashFile(file.path, file.shape, look));
  }
}

/** Indexes of the files that are already stored, or repeat others under another name. */
async function inForce(tx: Transaction, dataset: Dataset, files: readonly FileInWork[], force: boolean, nowMs: number) {
  const known = new Map<number, IngestedFile>();
  for (const [i, { ahead }] of files.entries()) {
    if (!ahead) continue;
    const same = files.findIndex((other) => other.ahead?.whole === ahead.whole);
    const before = force ? null : await ingestedFile(tx, dataset, ahead.whole);
    if (before) known.set(i, before);
    else if (same < i) known.set(i, { name: files[same]!.name, rows: 0, ingestedAt: nowMs, parts: [] });
  }
  return known;
}

/** Thrown to roll back: current files with data of these sessions must be read after all. */
class FilesNeeded extends Error {
  override readonly name = 'FilesNeeded';
  readonly sessions: ReadonlySet<string>;

  constructor(sessions: ReadonlySet<string>) {
    super('files that are stored already are read again');
    this.sessions = sessions;
  }
}

/** Throws `FilesNeeded` if a left part is in current files that were not read. */
function askForRest(results: readonly FileResult[], unread: readonly IngestedFile[]): void {
  const left = results.flatMap((result) => result.left ?? []).filter(({ reason }) => reason === 'fewer');
  const sessions = new Set(left.map(({ session }) => session));
  if (unread.some(({ parts }) => parts.some((part) => sessions.has(part)))) throw new FilesNeeded(sessions);
}

/** The part of `storeFiles` in its transaction. */
async function storeIn(
  tx: Transaction,
  dataset: Dataset,
  files: readonly FileInWork[],
  options: StoreFilesOptions,
  reread: ReadonlySet<string>,
): Promise<StoredFileResult[]> {
  const { now, bundled, force } = options;
  const notes = bundled === undefined ? await beginOwnData(tx, now()) : [];
  if (bundled === 'sample') await beginSampleWrite(tx);
  const known = await inForce(tx, dataset, files, force, now());
  const isUnread = (i: number) => known.has(i) && !known.get(i)!.parts.some((part) => reread.has(part));
  const read = files.filter((_, i) => !isUnread(i));
  const results = new Map<FileInWork, FileResult>();
  if (read.length > 0) {
    read[0]!.notes.push(...notes);
    const loaded = await loadChecked(tx, dataset, read, options);
    askForRest(
      loaded,
      [...known].filter(([i]) => isUnread(i)).map(([, before]) => before),
    );
    const parts = loaded.flatMap(({ parts: each = [] }) => each);
    const stored = { symbols: tx.changes.symbols(), sessions: parts.filter(isDate) };
    const { rate } = options.settings;
    read[0]!.notes.push(...((await datasets[dataset].completes?.(tx, stored, { rate, now })) ?? []));
    // After the locks of what completes it: a writer that holds one of them may wait here for these marks.
    if (bundled === undefined) await markFiles(tx, stored, tapeOf[dataset] ?? null);
    if (bundled !== 'registry')
      await noteFileGenerations(
        tx,
        dataset,
        loaded.map((result, i) => ({ ...result, source: sourceOf(read[i]!.name, read[i]!.meter, result.headerLines) })),
        { made: options.settings.only === null ? 'file' : 'reconciliation', ingestedMs: now() },
      );
    await rememberFiles(tx, dataset, read, loaded, options);
    for (const [i, file] of read.entries()) results.set(file, loaded[i]!);
  }
  return files.map((file, i) => {
    const { log, notes } = file;
    const result = results.get(file);
    return result ? { log, notes, before: null, result } : { log, notes, before: known.get(i)! };
  });
}

// Bad lines, notes and progress of a file are reported as it is read.
const readOnce = { once: true };

/**
 * Stores files in one transaction, in which a tape in several files is one. Current files are read only if something of
 * the others' sessions would not be stored without them. Throws `FileNotStored` for the first that cannot be stored,
 * `SessionSealed`, and if the store fails; nothing is stored then.
 */
export async function storeFiles(
  store: Store,
  dataset: Dataset,
  files: readonly FileToStore[],
  options: StoreFilesOptions,
): Promise<StoredFileResult[]> {
  let reread: ReadonlySet<string> = new Set();
  for (;;) {
    const working: FileInWork[] = [];
    for (const file of files) working.push(await begun(store, dataset, file, options));
    await hashAlike(working, options.signal);
    try {
      return await inSettledTransaction(
        store,
        (tx) => asGeneration(tx, options.now, () => storeIn(tx, dataset, working, options, reread)),
        readOnce,
      );
    } catch (error) {
      if (!(error instanceof FilesNeeded)) throw error;
      reread = error.sessions;
    }
  }
}
