import type { GenerationPart, IngestedSource, LiveLines } from '../../../core/domain/generation.ts';
import type { GammaSource } from '../../../core/domain/gex/gex.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import type { OnBadLine, OnBytes } from '../../tape/csv/tape-file.ts';
import type { LeftPart, OutdatedCaptures, SessionChange } from './tape-report.ts';

/** Default number of days that prints wait for the tape of their session. */
export const usualKeepDays = 14;

/** Settings that change the result of an ingest. */
export interface IngestSettings {
  /** Maximum number of bad lines that are skipped; a file with more is rejected. */
  maxErrors: number;
  /** Source of the greeks of a GEX capture (methodology 1). */
  gammaSource: GammaSource;
  /** Continuous interest rate, a fraction per year. */
  rate: number;
  /** Delay of the quotes of chains, ms; null = that of their format. */
  delayMs: number | null;
  /** The only underlyings of chains to store; null = all. */
  symbols: readonly string[] | null;
  /** True if Form T prints of a stock tape form the prices of bars of extended hours, but not of day bars. */
  extendedBars: boolean;
  /** The session of files that do not contain one (open interest); null = from the file's name. */
  sessionDate: SessionDate | null;
  /** Files of quotes for an option tape; empty = the stored ones; without any, sides are unknown. */
  quoteFiles: readonly string[];
  /** Number of contracts per underlying that an option tape with quotes solves every minute; 0 = none. */
  solveMost: number;
  /** Number of threads that read an option tape and compute its sessions; 1 = only the main thread. */
  threads: number;
  /** True if a file replaces the stored data of its sessions even if it has fewer prints, bars or quotes. */
  replace: boolean;
  /** The only session of a tape to store; others are skipped; null = all. */
  only: SessionDate | null;
  /** Number of days that prints of a session wait for its own tape. */
  keepDays: number;
}

/** A file of a tape. */
export interface TapeFile {
  path: string;
  onBytes: OnBytes;
}

/** A file being stored, in one transaction. */
export interface FileJob {
  path: string;
  /** The file as the operator named it: a path or an address. */
  name: string;
  tx: Transaction;
  settings: IngestSettings;
  /** Clock for the time of computed figures. */
  now: Clock;
  onBadLine: OnBadLine;
  onBytes: OnBytes;
  /** Called with a note for the report on a file that is stored. */
  onNote(note: string): void;
  /** SHA-256 of the file's content, unpacked, as far as it was read; hexadecimal. */
  sha256(): string;
  /** True once the file has too many bad lines: it is read on to report more of them, and nothing more is written. */
  refused(): boolean;
}

/** A part that was made again of what was stored, and perhaps of a file. */
export interface RemadePart {
  part: GenerationPart;
  /** The stored files, and lines of live tapes, that it is of. */
  files: readonly IngestedSource[];
  live: readonly LiveLines[];
  /** True if the file is one of them too; null = it is no part any more. */
  hasFile: boolean | null;
}

/** Result of a file. */
export interface FileResult {
  /** Number of records read. */
  rows: number;
  /** Number of rows or blocks of the store that are new or different; 0 = everything was already stored. */
  changed: number;
  /** Parts of the store that were written from it; absent = none. */
  written?: readonly GenerationPart[];
  /** Parts that were made again; absent = none. */
  remade?: readonly RemadePart[];
  /** Further files that they were made from, such as quotes beside a tape. */
  beside?: readonly IngestedSource[];
  /** True if what these had before is a part of them too: the file was joined with it. */
  isJoined?: boolean;
  /** Lines that come before those of records: a header, unless said otherwise; null = its lines are not records. */
  headerLines?: number | null;
  /** Parts of the file: sessions, or what else `DatasetKind.supersedes` compares. Absent = not known. */
  parts?: readonly string[];
  /** Changes of sessions, and parts of the file that were not stored; absent = not counted. */
  sessions?: readonly SessionChange[];
  left?: readonly LeftPart[];
  /** Stored captures whose inputs the file changed; absent = not applicable. */
  outdated?: readonly OutdatedCaptures[];
  /**
   * `kept`: prints of the file wait for the tape of their session. A left part: nothing of the file was written, and
   * these are the first. Absent = neither.
   */
  unwritten?: 'kept' | LeftPart;
  /** True if a session of a tape's file was left, because less would be stored of it. */
  isPartlyLeft?: boolean;
}

/** Stores one kind of file. */
export type Loader = (job: FileJob) => Promise<FileResult>;

/** Several files of one tape being stored, in one transaction. */
export interface TapeJob extends Omit<FileJob, 'path' | 'name' | 'onBytes' | 'sha256'> {
  files: readonly (TapeFile & {
    /** Its name in reports. */
    name: string;
  })[];
}

/** Stores the files of a tape as one. Returns the results in the order of the files. */
export type TapeLoader = (job: TapeJob) => Promise<FileResult[]>;
