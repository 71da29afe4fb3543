import type { GammaSource } from '../../domain/gex.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import type { OnBadLine, OnBytes } from '../../tape/csv/tape-file.ts';

/** What shapes the result of an ingest. */
export interface IngestSettings {
  /** Bad lines a file may have and still be stored without them; with more it is refused whole. */
  maxErrors: number;
  /** Where the greeks of a GEX capture come from (methodology 1). */
  gammaSource: GammaSource;
  /** Continuous interest rate, a fraction a year. */
  rate: number;
  /** The session of files that do not contain one (open interest); null = from the file's name. */
  sessionDate: SessionDate | null;
  /** Quotes of the sessions of an option tape; empty = those that are stored, and where none are sides are unknown. */
  quoteFiles: readonly string[];
  /** Contracts of an underlying that an option tape with quotes solves every minute; 0 = none. */
  solveMost: number;
  /** Threads that read an option tape and make its sessions; 1 = this thread alone. */
  threads: number;
}

/** One file being stored, in one transaction. */
export interface FileJob {
  path: string;
  tx: Transaction;
  settings: IngestSettings;
  /** When figures are computed. */
  now: Clock;
  onBadLine: OnBadLine;
  onBytes: OnBytes;
  /** Called for what the report should say of a file that is stored all the same. */
  onNote(note: string): void;
  /** True once the file has too many bad lines: it is read on to report more of them, and nothing more is written. */
  refused(): boolean;
}

/** What a file brought. */
export interface FileResult {
  /** Records read. */
  rows: number;
  /** Rows or blocks of the store that are new or different; 0 = all of it is already stored. */
  changed: number;
  /** What the file is of: sessions, or what else `DatasetKind.supersedes` compares. Absent = not known. */
  parts?: readonly string[];
}

/** Stores one kind of file. */
export type Loader = (job: FileJob) => Promise<FileResult>;
