import type { GenerationPart, IngestedSource } from '../../domain/generation.ts';
import type { GammaSource } from '../../domain/gex/gex.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Transaction } from '../../store/rows/transaction.ts';
import type { OnBadLine, OnBytes } from '../../tape/csv/tape-file.ts';
import type { LeftPart, OutdatedCaptures, SessionChange } from './tape-report.ts';

/** Days that prints wait for the tape of their session, unless a setting says otherwise. */
export const usualKeepDays = 14;

/** Settings that change the result of an ingest. */
export interface IngestSettings {
  /** Maximum number of bad lines that are skipped; a file with more is rejected. */
  maxErrors: number;
  /** Where the greeks of a GEX capture come from (methodology 1). */
  gammaSource: GammaSource;
  /** Continuous interest rate, a fraction a year. */
  rate: number;
  /** Age of the quotes of chains at their time, ms; null = as their format says. */
  delayMs: number | null;
  /** True = Form T prints of a stock tape form the prices of bars of extended hours, but not of those of days. */
  extendedBars: boolean;
  /** The session of files that do not contain one (open interest); null = from the file's name. */
  sessionDate: SessionDate | null;
  /** Quotes of the sessions of an option tape; empty = those that are stored, and where none are sides are unknown. */
  quoteFiles: readonly string[];
  /** Contracts of an underlying that an option tape with quotes solves every minute; 0 = none. */
  solveMost: number;
  /** Threads that read an option tape and make its sessions; 1 = this thread alone. */
  threads: number;
  /** True if a file replaces what is stored of its sessions, also if it has fewer prints, bars or quotes. */
  replace: boolean;
  /** The one session of a tape that is stored, others are skipped; null = all. */
  only: SessionDate | null;
  /** Number of days that prints of a session wait for its own tape. */
  keepDays: number;
}

/** A file of a tape. */
export interface TapeFile {
  path: string;
  onBytes: OnBytes;
}

/** One file being stored, in one transaction. */
export interface FileJob {
  path: string;
  /** The file as the operator named it: a path or an address. */
  name: string;
  tx: Transaction;
  settings: IngestSettings;
  /** When figures are computed. */
  now: Clock;
  onBadLine: OnBadLine;
  onBytes: OnBytes;
  /** Called for what the report should say of a file that is stored all the same. */
  onNote(note: string): void;
  /** SHA-256 of the file's content, unpacked, as far as it was read; hexadecimal. */
  sha256(): string;
  /** True once the file has too many bad lines: it is read on to report more of them, and nothing more is written. */
  refused(): boolean;
}

/** The outcome of a file. */
export interface FileResult {
  /** Records read. */
  rows: number;
  /** Rows or blocks of the store that are new or different; 0 = all of it is already stored. */
  changed: number;
  /** Parts of the store that were written from it; absent = none. */
  written?: readonly GenerationPart[];
  /** Further files that they were made from, such as quotes beside a tape. */
  beside?: readonly IngestedSource[];
  /** True if what these had before is a part of them too: the file was joined with it. */
  isJoined?: boolean;
  /** Lines that come before those of records: a header, unless said otherwise; null = its lines are not records. */
  headerLines?: number | null;
  /** Parts of the file: sessions, or what else `DatasetKind.supersedes` compares. Absent = not known. */
  parts?: readonly string[];
  /** Changes of sessions, and parts that were left although they are in the file; absent = not counted. */
  sessions?: readonly SessionChange[];
  left?: readonly LeftPart[];
  /** Stored captures that would be others with what the file says; absent = it is of none. */
  outdated?: readonly OutdatedCaptures[];
  /**
   * `kept`: prints of the file wait for the tape of their session. A part that is left: nothing of the file was
   * written, and these are the first. Absent = neither.
   */
  unwritten?: 'kept' | LeftPart;
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

/** Stores the files of a tape as one: the results are in their order. */
export type TapeLoader = (job: TapeJob) => Promise<FileResult[]>;
