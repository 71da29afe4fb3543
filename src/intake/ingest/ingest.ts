import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { methodologySettings, tapeSettings } from '../../core/analytics/methodology.ts';
import type { Dataset } from '../../core/domain/dataset.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { removeAbandonedFolders, temporaryFolder } from '../../platform/runtime/folders.ts';
import { SessionSealed } from '../../store/market/session-seals.ts';
import type { Store } from '../../store/rows/connection.ts';
import { analyzeGrown } from '../../store/rows/statistics.ts';
import { pruneExpired } from '../../store/superseded/prune.ts';
import type { BadLine } from '../tape/csv/tape-file.ts';
import type { OnDownload, RemoteObject } from '../tape/remote/download.ts';
import type { RequestHeaders } from '../tape/remote/get.ts';
import { bucketKey, isRemote, ObjectError, requireOwnUrl, shownUrl } from '../tape/remote/object-address.ts';
import { datasets } from './datasets.ts';
import { type BadLineLog, rejectionReason } from './files/bad-line-log.ts';
import { type IngestSettings, usualKeepDays } from './files/file-job.ts';
import { expandPatterns, NoSuchFileError } from './files/file-patterns.ts';
import { type LeftPart, leftLine, type OutdatedCaptures, type SessionChange } from './files/tape-report.ts';
import { FileNotStored, type FileToStore, type StoredFileResult, storeFiles } from './store-files.ts';

/** Report on one file. */
export interface FileReport {
  file: string;
  /** `stored`; `unchanged`: everything was already stored; `refused`: nothing was stored. */
  status: 'stored' | 'unchanged' | 'refused';
  /** Number of records read. */
  rows: number;
  /** Number of rows or blocks of the store that are new or different. */
  changed: number;
  /** The first hundred bad lines, which were skipped or made the file `refused`. */
  badLines: BadLine[];
  badLineCount: number;
  /** The first hundred notes on a stored file, for instance on partly usable lines. */
  notes: string[];
  /** Reason for `refused` or `unchanged`; null if stored. */
  reason: string | null;
  /** Changes of sessions by a tape, or a file of bars or quotes; for a session of several files, with the first. */
  sessions: readonly SessionChange[];
  /** Prints, bars or quotes that were not stored. */
  left: readonly LeftPart[];
  /** Stored captures whose inputs the file changed. */
  outdated: readonly OutdatedCaptures[];
}

export interface IngestReport {
  dataset: Dataset;
  files: FileReport[];
}

/**
 * Progress of an ingest. Bytes are those on disk; those of a remote object count twice, for the download too, and are
 * part of `bytesTotal` once its size is known.
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
  /** Clock for the recorded time of storing. */
  now: Clock;
  /**
   * Set for bundled files (`registry`) and those of the sample market. The first of any others takes its place.
   */
  bundled?: 'registry' | 'sample';
  /** True to read and compute current files again. */
  force?: boolean;
  /** Settings of reading `s3://` and `http://`; absent = no credentials, and encrypted addresses only. */
  remote?: RemoteSettings;
  /** Aborted to stop: the write in progress is rolled back, and the reason is thrown. Files stored before stay. */
  signal?: AbortSignal;
}

/** The default settings. */
export const ingestDefaults: IngestSettings = {
  maxErrors: 0,
  gammaSource: 'solve',
  rate: methodologySettings.usualRate,
  delayMs: null,
  symbols: null,
  extendedBars: false,
  sessionDate: null,
  quoteFiles: [],
  solveMost: tapeSettings.solvedContracts,
  threads: 1,
  replace: false,
  keepDays: usualKeepDays,
  only: null,
};

/** Counts the read and downloaded bytes of all files. */
function progressOf(sources: readonly Source[], onProgress: (progress: IngestProgress) => void) {
  // A remote file is downloaded, then read.
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

const emptyReport = {
  rows: 0,
  changed: 0,
  badLines: [],
  badLineCount: 0,
  notes: [],
  sessions: [],
  left: [],
  outdated: [],
};

const badLinesOf = ({ name, path }: FileToStore, log: BadLineLog) => ({
  badLines: log.badLines.map((bad) => (bad.file === path ? { ...bad, file: name } : bad)),
  badLineCount: log.count(),
});

function reportOf(file: FileToStore, stored: StoredFileResult): FileReport {
  const { log, notes } = stored;
  const found = { file: file.name, ...emptyReport, ...badLinesOf(file, log), notes };
  if (stored.before) {
    const { rows, name } = stored.before;
    return { ...found, status: 'unchanged', rows, reason: `the same content is already stored (as ${name})` };
  }
  const { rows, changed, sessions = [], left = [], outdated = [], unwritten } = stored.result;
  const report = { ...found, rows, changed, sessions, left, outdated };
  if (unwritten && unwritten !== 'kept') return { ...report, status: 'refused', reason: leftLine(unwritten) };
  if (changed > 0 || unwritten === 'kept') return { ...report, status: 'stored', reason: null };
  return { ...report, status: 'unchanged', reason: 'all of it is already stored' };
}

/** The report on a file that cannot be stored. Rethrows errors that are not the file's. */
function reportOfError(file: FileToStore, error: unknown): FileReport {
  const { cause, log } = error instanceof FileNotStored ? error : { cause: error, log: null };
  const bad = log ? badLinesOf(file, log) : {};
  const refused = { file: file.name, ...emptyReport, ...bad, status: 'refused' } as const;
  return { ...refused, reason: rejectionReason(cause, log) };
}

type Storing = (files: readonly FileToStore[]) => Promise<StoredFileResult[]>;

/**
 * Stores files together, without those that cannot be stored. If a session is sealed, or it is unknown which of them
 * caused an error, each is stored alone: only those that would change the session, or cause it, are rejected.
 */
async function storeTogether(files: readonly FileToStore[], store: Storing): Promise<FileReport[]> {
  const reports = new Map<FileToStore, FileReport>();
  let rest = files;
  while (rest.length > 0) {
    try {
      const results = await store(rest);
      for (const [i, file] of rest.entries()) reports.set(file, reportOf(file, results[i]!));
      break;
    } catch (error) {
      const isOfOne = error instanceof SessionSealed || (error instanceof FileNotStored && error.orAnother);
      if (isOfOne && rest.length > 1) {
        for (const file of rest) reports.set(file, (await storeTogether([file], store))[0]!);
        break;
      }
      const name = error instanceof FileNotStored ? error.file.name : null;
      const file = rest.find((each) => each.name === name) ?? rest[0]!;
      reports.set(file, reportOfError(file, error));
      rest = rest.filter((each) => each !== file);
    }
  }
  return files.map((file) => reports.get(file)!);
}

/** Maximum size of files read together, bytes on disk: their prints take several times that in the temporary folder. */
const bytesTogether = 1024 * 1024 * 1024;

/** The groups of files to store together: those of a tape up to a size, else single ones. */
async function* batches(
  dataset: Dataset,
  sources: readonly Source[],
  spool: Spool,
  progress: ReturnType<typeof progressOf>,
): AsyncGenerator<(FileToStore | FileReport)[]> {
  let batch: (FileToStore | FileReport)[] = [];
  let bytes = 0;
  for (const [index, source] of sources.entries()) {
    if (source.remote) progress.start(index);
    try {
      const path = await spool.path(source, progress.fetched);
      let begun = false;
      const onBytes = (count: number) => {
        if (!begun) progress.start(index);
        begun = true;
        progress.read(count);
      };
      batch.push({ name: source.name, path, onBytes });
      // A missing file is reported where it is read.
      bytes += (await stat(path).catch(() => ({ size: 0 }))).size;
    } catch (error) {
      if (!(error instanceof ObjectError)) throw error;
      batch.push({ file: source.name, ...emptyReport, status: 'refused', reason: error.message });
    }
    if (datasets[dataset].loadTape && bytes < bytesTogether) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Stores vendor files: names, patterns and addresses (`s3://`, `https://`); plain, gzip, Zstandard or Parquet. Each
 * file is stored whole or not at all, in one transaction; files of a tape are parts of one, and are stored together as
 * far as their size allows. A current file changes nothing and is reported `unchanged`. A file that cannot be read, or
 * has more bad lines than allowed, is reported `refused`; the others continue. Throws `NoSuchFileError` for a pattern
 * without files, `ObjectError` for one that cannot be listed, and if the store fails.
 */
export async function ingestFiles(
  store: Store,
  dataset: Dataset,
  patterns: readonly string[],
  options: IngestOptions,
  onProgress: (progress: IngestProgress) => void = () => {},
): Promise<IngestReport> {
  // With `replace` a file is read even if it is current except for its left parts.
  const { now, bundled, force = options.replace ?? false, signal, remote = { env: {} }, ...given } = options;
  const settings = { ...ingestDefaults, ...given, ...(bundled && { replace: true }) };
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
    for await (const batch of batches(dataset, sources, spool, progress)) {
      const given = batch.filter((each) => 'path' in each);
      const reports = await storeTogether(given, (some) =>
        storeFiles(store, dataset, some, { settings, now, signal, bundled, force }),
      );
      files.push(...batch.map((each) => ('path' in each ? reports[given.indexOf(each)]! : each)));
      if (reports.some(({ status }) => status === 'stored')) await analyzeGrown(store);
      await spool.clear();
    }
    await pruneExpired(store, now());
  } finally {
    await spool.clear();
    await quoteSpool.clear();
  }
  progress.done();
  return { dataset, files };
}

/** Settings of reading remote objects. */
interface RemoteSettings {
  /** The AWS_* variables of `s3://`. */
  env: Record<string, string | undefined>;
  /** True if `http://` may be read from other machines too. */
  allowHttp?: boolean;
}

/** A file to read, local or remote. */
interface Source {
  /** A path, or an address without secrets, for reports. */
  name: string;
  /** Size, bytes; null = unknown before it is read. */
  size: number | null;
  /** Null = a local file, at `name`. */
  remote: RemoteObject | null;
}

/** Moves a password in an address to a header; a signed query is unchanged. */
function passwordOf({ username, password }: URL): RequestHeaders {
  if (username === '' && password === '') return async (_, headers) => headers;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  return async (_, headers) => ({ ...headers, authorization });
}

function urlSource(text: string, { allowHttp = false }: RemoteSettings, signal: AbortSignal | undefined): Source {
  const url = URL.parse(text);
  // The text is not repeated, because it may contain a password.
  if (!url) throw new ObjectError('an address that begins with http', 'is not a URL');
  const name = shownUrl(url);
  const get = { name, authorize: passwordOf(url), allowHttp, followRedirects: true, signal };
  return { name, size: null, remote: { url, etag: null, get } };
}

async function s3Sources(pattern: string, { env }: RemoteSettings, signal: AbortSignal | undefined): Promise<Source[]> {
  const { expandS3, isPattern, objectUrl, s3Get, s3Settings } = await import('../tape/remote/s3.ts');
  const settings = s3Settings(env);
  const { bucket, key } = bucketKey(pattern);
  const source = (key: string, size: number | null, etag: string | null): Source => {
    const name = `s3://${bucket}/${key}`;
    // A listing may name it too.
    requireOwnUrl(name, { bucket, key });
    return {
      name,
      size,
      remote: { url: objectUrl(settings, bucket, key), etag, get: s3Get(settings, name, signal) },
    };
  };
  if (!isPattern(pattern) && key !== '') return [source(key, null, null)];
  const found = await expandS3(settings, pattern, signal);
  if (found.length === 0) throw new NoSuchFileError(`${pattern}: no such object`);
  return found.map(({ key, size, etag }) => source(key, size, etag || null));
}

/**
 * Expands names, patterns and addresses to sources without duplicates, in the given order and ascending within a
 * pattern or prefix. Throws for a name or pattern without a file, `ObjectError` for an address that cannot be read.
 */
async function expandSources(
  names: readonly string[],
  settings: RemoteSettings,
  signal?: AbortSignal,
): Promise<Source[]> {
  const sources = new Map<string, Source>();
  const add = (source: Source) => {
    const id = source.remote?.url.href ?? source.name;
    if (!sources.has(id)) sources.set(id, source);
  };
  for (const name of names) {
    if (!isRemote(name))
      for (const path of await expandPatterns([name])) add({ name: path, size: (await stat(path)).size, remote: null });
    else if (/^s3:/i.test(name)) for (const source of await s3Sources(name, settings, signal)) add(source);
    else add(urlSource(name, settings, signal));
  }
  return [...sources.values()];
}

/** A file name for an address, which may contain the session or the kind of file. */
function fileName({ name }: Source): string {
  const last = basename(name).replaceAll('\0', '');
  return /^\.*$/.test(last) ? 'object' : last.slice(-200);
}

/**
 * Local copies of remote objects: read twice, by bytes and by records, an object is downloaded once, and nothing is
 * stored of an incomplete one.
 */
class Spool {
  readonly #folders = new Set<string>();
  readonly #parent: string;

  constructor(parent = tmpdir()) {
    this.#parent = parent;
  }

  /** The path of a source; a remote one is downloaded first. Throws `ObjectError`. */
  async path(source: Source, onBytes: OnDownload = () => {}): Promise<string> {
    if (!source.remote) return source.name;
    const folder = await temporaryFolder('object', this.#parent);
    this.#folders.add(folder);
    const path = join(folder, fileName(source));
    const { download } = await import('../tape/remote/download.ts');
    await download(source.remote, path, onBytes);
    return path;
  }

  /** Removes the downloads. */
  async clear(): Promise<void> {
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
    this.#folders.clear();
  }
}
