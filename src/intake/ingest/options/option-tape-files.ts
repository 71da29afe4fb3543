import { stat } from 'node:fs/promises';
import { createContractBook, type TradedContract } from '../../../core/domain/chain/contract-book.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { CoverageStatus } from '../../../core/domain/flow/flow.ts';
import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import { dateOfEpochDay, type SessionDate } from '../../../core/domain/market-time.ts';
import {
  joinedHours,
  type TapeHours,
  type TapeHoursCounter,
  tapeHoursCounter,
} from '../../../core/domain/tape-hours.ts';
import { type ByteHeader, type BytePiece, readBytePieces } from '../../tape/csv/byte-csv.ts';
import type { OnBadLine, OnBytes } from '../../tape/csv/tape-file.ts';
import { optionQuotes, optionTrades } from '../../tape/formats/own-formats.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import type { OptionQuoteColumn } from '../../tape/prints/option-quotes.ts';
import {
  recordAt as at,
  mostConditions,
  quotePutter,
  recordInstants,
  recordWidth as width,
} from '../../tape/prints/option-records.ts';
import type { OptionTradeColumn } from '../../tape/prints/option-trades.ts';
import type { TapeFile } from '../files/file-job.ts';
import type { KeptPrints } from '../files/packed-prints.ts';
import type { PrintSketch } from '../files/print-sketch.ts';
import type { PartHours } from '../files/tape-guard.ts';
import { contractsIn, joinRecords, packedRecords } from './option-remainders.ts';
import { type MadeSession, optionSketch, type SolvedSession } from './option-session.ts';
import { countOnce } from './overlapping-files.ts';
import type { QuoteSource } from './quote-source.ts';
import { type QueuedSession, SessionQueue } from './session-queue.ts';
import { type Partition, TapePartitions } from './tape-partitions.ts';
import { storedRecords } from './tape-records.ts';
import { mainThread, type ReadPiece, type TapeThread, workerThread } from './tape-threads.ts';
import type { TapeStage } from './tape-work.ts';

/** Size of files below which one thread reads them, bytes: starting others takes longer. */
export const leastThreadedBytes = 1024 * 1024;

/** Plan of a tape's sessions. */
export interface SessionPlan {
  /** False for sessions of underlyings that are skipped. */
  isWanted(date: SessionDate, underlying: string): boolean;
  /** Status of the stored bars of a session. */
  statusOf(date: SessionDate): CoverageStatus;
  /** Creates the solves of an underlying's session; null if its contracts are not solved. */
  solving(date: SessionDate, underlying: string): (() => SolvedSession) | null;
}

/** An underlying's session on a tape, not computed yet. */
export interface OptionTapePart extends PartHours {
  prints: number;
  /** Reads the prints again for their sketch; `exact`: for the comparison with a small tape. */
  sketch(exact: boolean): PrintSketch;
  /** Number of its contracts. */
  contracts(): number;
  /** The prints in stored form. */
  packed(): Uint8Array<ArrayBuffer>;
}

/** An option tape read from its files, before its sessions are computed. */
export interface OptionTapeFiles {
  readonly prints: number;
  /** Each file's part of its sessions, by path. */
  readonly filesHours: ReadonlyMap<string, ReadonlyMap<SessionDate, TapeHours>>;
  /** Number of duplicate prints of several files, by session. */
  readonly repeated: ReadonlyMap<SessionDate, number>;
  /** Number of waiting prints that no file contains. */
  readonly joined: number;
  /** The underlyings' sessions, in the order of `make`. */
  readonly parts: readonly OptionTapePart[];
  /** Number of quotes of the contracts that traded, in sessions in which their underlyings did. */
  readonly quotes: number;
  /** Days with prints, ascending. */
  readonly sessions: readonly SessionDate[];
  /** Computes the underlyings' sessions: New York dates ascend, and those of one date are consecutive. Call it once. */
  make(plan: SessionPlan): AsyncGenerator<MadeSession>;
  /** Ends threads and removes temporary files. Solves in the main thread are awaited. */
  close(): Promise<void>;
}

export interface OptionTapeReading {
  trades: readonly TapeFile[];
  /** Waiting prints for the underlyings' sessions of the files; none if absent. */
  waiting?(parts: readonly PartHours[]): Promise<KeptPrints[]>;
  quotes: QuoteSource;
  /** Number of threads that read and compute sessions; 1 = only the main thread, which also reads small files. */
  threads: number;
  bounds: InstantBounds;
  roots: OptionRoots;
  onBadLine: OnBadLine;
  onBytes: OnBytes;
  /** Called with the text of files of quotes as it is read. */
  onQuoteText?(path: string, text: Buffer): void;
  /** True once nothing more is collected: the files are read on only for their bad lines. */
  refused(): boolean;
}

/** Contracts, underlyings and lists of conditions of a tape, whichever thread saw them. */
function createTapeNames(roots: OptionRoots) {
  const book = createContractBook(roots);
  const numbers = new Map<string, number>();
  const conditions: (readonly number[])[] = [];
  const contracts: TradedContract[] = [];
  // By contract: its number among those of its underlying.
  const numberOf: number[] = [];
  const idsOf: string[][] = [];
  return {
    conditions,
    contracts,
    numberOf,
    /** Ids of an underlying's contracts, by their numbers. */
    idsOf: (underlying: number) => idsOf[underlying]!,
    /** Multipliers of their roots in a session, in the same order. */
    multipliersOf: (underlying: number, session: SessionDate) =>
      idsOf[underlying]!.map((id) => roots.of(book.find(id)!.contract.root, session).multiplier),
    symbolOf: (underlying: number) => book.underlyings()[underlying]!.symbol,
    contract(id: string): number {
      const contract = book.find(id)!;
      const { index, underlying } = contract;
      if (contracts[index] !== undefined) return index;
      contracts[index] = contract;
      idsOf[underlying.index] ??= [];
      numberOf[index] = idsOf[underlying.index]!.push(contract.id) - 1;
      return index;
    },
    conditionsNumber(list: readonly number[]): number {
      const key = list.join();
      const known = numbers.get(key);
      if (known !== undefined) return known;
      if (conditions.length === mostConditions) throw new RangeError(`more than ${mostConditions} lists of conditions`);
      numbers.set(key, conditions.length);
      return conditions.push(list) - 1;
    },
  };
}
type TapeNames = ReturnType<typeof createTapeNames>;

/** Handles the records of a piece that a thread read. */
type TakePiece = (thread: number, read: ReadPiece) => Promise<void>;

/**
 * Lets threads read the pieces of a file in rotation, and handles the results in file order, so that bad lines are
 * reported as by one thread. Read-ahead is bounded.
 */
async function readPieces<Name extends string>(
  path: string,
  pieces: AsyncIterable<BytePiece<Name>>,
  stage: (header: ByteHeader<Name>) => TapeStage,
  { threads, onBadLine }: { threads: readonly TapeThread[]; onBadLine: OnBadLine },
  take: TakePiece,
): Promise<void> {
  const ahead: { thread: number; linesBefore: number; read: Promise<ReadPiece> }[] = [];
  const aheadMost = threads.length === 1 ? 0 : 2 * threads.length;
  let line = 1;
  let count = 0;
  async function takeFirst() {
    const { thread, linesBefore, read } = ahead.shift()!;
    const done = await read;
    line += linesBefore;
    for (const { line: from, reason } of done.piece.bad) onBadLine({ file: path, line: line + from, reason });
    line += done.piece.lines;
    await take(thread, done);
    done.release();
  }
  async function readAll() {
    for await (const { header, bytes, linesBefore } of pieces) {
      if (count === 0) for (const thread of threads) thread.begin(stage(header));
      const thread = count++ % threads.length;
      const read = threads[thread]!.read(bytes);
      // A failure is thrown where it is awaited.
      read.catch(() => {});
      ahead.push({ thread, linesBefore, read });
      if (ahead.length > aheadMost) await takeFirst();
    }
  }
  // If the file's end is damaged, the lines before it are still reported.
  const failed = await readAll().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  while (ahead.length > 0) await takeFirst();
  if (failed) throw failed.error;
}

/** Adds the prints of the files to their partitions, with the tape's numbers. Returns the contents of each file. */
async function readTrades(
  { trades, bounds, onBadLine, refused }: OptionTapeReading,
  threads: readonly TapeThread[],
  names: TapeNames,
  partitions: TapePartitions,
): Promise<Map<string, TapeHoursCounter['sessions']>> {
  const filesHours = new Map<string, TapeHoursCounter['sessions']>();
  const { contracts, numberOf } = names;
  for (const [file, { path, onBytes }] of trades.entries()) {
    // By thread: the tape's numbers of the items it has seen in this file.
    const contractsOf: number[][] = threads.map(() => []);
    const conditionsOf: number[][] = threads.map(() => []);
    const [days, hours, instantOf] = [closedDayCounter(), tapeHoursCounter(), recordInstants()];
    filesHours.set(path, hours.sessions);
    const take: TakePiece = async (thread, { piece, records }) => {
      if (refused()) return;
      const [known, lists] = [contractsOf[thread]!, conditionsOf[thread]!];
      for (const id of piece.contracts) known.push(names.contract(id));
      for (const list of piece.conditions) lists.push(names.conditionsNumber(list));
      for (let i = 0; i < piece.records * width; i += width) {
        const contract = known[records[i + at.contract]!]!;
        const conditions = lists[records[i + at.exchangeAndConditions]! >>> 16]!;
        const tsMs = instantOf(records, i);
        days.add(tsMs);
        hours.add(tsMs);
        records[i + at.contract] = numberOf[contract]!;
        records[i + at.exchangeAndConditions] = (records[i + at.exchangeAndConditions]! & 0xffff) | (conditions << 16);
        partitions.put(contracts[contract]!.underlying.index, records, i);
      }
      await partitions.flush();
    };
    const stage = (header: ByteHeader<OptionTradeColumn>): TapeStage => ({ kind: 'trades', header, bounds });
    await readPieces(path, readBytePieces(path, optionTrades, onBytes), stage, { threads, onBadLine }, take);
    partitions.endFile(file);
    if (!refused()) days.check(path);
  }
  return filesHours;
}

/** The sessions of underlyings with prints of the files, with the hours of these files. */
function partHours(
  parts: readonly Pick<Partition, 'underlying' | 'day' | 'files'>[],
  filesHours: ReadonlyMap<string, ReadonlyMap<SessionDate, TapeHours>>,
  names: TapeNames,
): PartHours[] {
  const hours = [...filesHours.values()];
  return parts.map(({ underlying, day, files }) => {
    const session = dateOfEpochDay(day);
    const ofFiles = joinedHours(files.map((file) => hours[file]!));
    return { symbol: names.symbolOf(underlying), session, hours: ofFiles.get(session)! };
  });
}

/** Adds waiting prints to those of the files. Returns their number. */
async function readWaiting(
  { waiting, refused }: OptionTapeReading,
  parts: readonly PartHours[],
  names: TapeNames,
  partitions: TapePartitions,
): Promise<number> {
  let joined = 0;
  if (refused() || !waiting) return joined;
  const numbers = {
    contract(id: string) {
      const contract = names.contract(id);
      return { underlying: names.contracts[contract]!.underlying.index, number: names.numberOf[contract]! };
    },
    conditions: names.conditionsNumber,
  };
  for (const kept of await waiting(parts)) joined += await joinRecords(kept, numbers, partitions);
  return joined;
}

/** Adds quotes of files to the prints of their contracts. */
async function readQuoteFiles(
  paths: readonly string[],
  { bounds, onBadLine, onBytes, onQuoteText, refused }: OptionTapeReading,
  threads: readonly TapeThread[],
  { contracts, numberOf }: TapeNames,
  partitions: TapePartitions,
): Promise<void> {
  const ids = Array.from(contracts, (contract) => contract.id);
  const take: TakePiece = async (_, { piece, records }) => {
    if (refused()) return;
    for (let i = 0; i < piece.records * width; i += width) {
      const contract = records[i + at.contract]!;
      records[i + at.contract] = numberOf[contract]!;
      partitions.put(contracts[contract]!.underlying.index, records, i);
    }
    await partitions.flush();
  };
  for (const path of paths) {
    const stage = (header: ByteHeader<OptionQuoteColumn>): TapeStage => {
      return { kind: 'quotes', header, bounds, contracts: ids };
    };
    // The bytes of quotes are not those of the file that is counted; asking is how a stop is noticed.
    const pieces = readBytePieces(path, optionQuotes, (_, text) => {
      onBytes(0);
      if (text) onQuoteText?.(path, text);
    });
    await readPieces(path, pieces, stage, { threads, onBadLine }, take);
  }
}

/** Adds stored quotes likewise. */
async function readStoredQuotes(
  stored: Extract<QuoteSource, { stored: unknown }>['stored'],
  { onBytes, refused }: OptionTapeReading,
  { contracts, numberOf }: TapeNames,
  partitions: TapePartitions,
): Promise<void> {
  const record = new Uint32Array(width);
  const put = quotePutter();
  const { first, last } = partitions.days;
  for await (const batch of stored({ contracts, from: dateOfEpochDay(first), to: dateOfEpochDay(last) })) {
    onBytes(0);
    if (refused()) continue;
    for (const quote of batch) {
      put(record, 0, quote);
      record[at.contract] = numberOf[quote.contract.index]!;
      partitions.put(quote.contract.underlying.index, record, 0);
    }
    await partitions.flush();
  }
}

function queued(fd: number, { day, underlying, ...partition }: Partition, names: TapeNames, plan: SessionPlan) {
  const date = dateOfEpochDay(day);
  const symbol = names.symbolOf(underlying);
  const { isInOrder, parts, quotes } = partition;
  const contracts = names.idsOf(underlying);
  const multipliers = names.multipliersOf(underlying, date);
  const records = { fd, isInOrder, parts, quotes };
  const work = { ...records, underlying: symbol, day, contracts, multipliers, status: plan.statusOf(date) };
  return { work, solved: plan.solving(date, symbol) };
}

/** The sessions of a plan, in the order of their partitions. */
function plannedSessions(
  { fd, partitions }: { fd: number; partitions: readonly Partition[] },
  names: TapeNames,
  plan: SessionPlan,
): QueuedSession[] {
  return partitions
    .filter(({ day, underlying }) => plan.isWanted(dateOfEpochDay(day), names.symbolOf(underlying)))
    .map((partition) => queued(fd, partition, names, plan));
}

function partOf(
  fd: number,
  partition: Partition,
  filesHours: Parameters<typeof partHours>[1],
  names: TapeNames,
): OptionTapePart {
  const { underlying, prints, parts } = partition;
  const contracts = names.idsOf(underlying);
  return {
    ...partHours([partition], filesHours, names)[0]!,
    prints,
    sketch(exact) {
      const { sketch, add } = optionSketch(contracts, exact);
      for (const records of storedRecords({ fd, parts })) add(records);
      return sketch;
    },
    contracts: () => contractsIn({ fd, parts }),
    packed: () => packedRecords({ fd, parts }, { contracts, conditions: names.conditions }),
  };
}

async function isThreaded({ threads, trades }: OptionTapeReading): Promise<boolean> {
  if (threads <= 1) return false;
  let bytes = 0;
  // A missing file is reported where it is read.
  for (const { path } of trades) bytes += (await stat(path).catch(() => ({ size: 0 }))).size;
  return bytes >= leastThreadedBytes;
}

/**
 * Reads the prints of an option tape and the quotes of the contracts that traded, and partitions them by underlying and
 * day. Memory holds the threads' work, an object per contract that traded, and unwritten records. Throws
 * `TapeFileError`. Always close it, also after an error.
 */
export async function readOptionTape(reading: OptionTapeReading): Promise<OptionTapeFiles> {
  const main = mainThread();
  const workers = (await isThreaded(reading)) ? Array.from({ length: reading.threads }, workerThread) : [];
  const threads = workers.length > 0 ? workers : [main];
  const partitions = new TapePartitions();
  const names = createTapeNames(reading.roots);
  let queue: SessionQueue | null = null;
  const close = async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await queue?.close();
    await partitions.close();
  };
  try {
    const filesHours = await readTrades(reading, threads, names, partitions);
    const repeated = await countOnce(partitions, () => reading.onBytes(0));
    const joined = await readWaiting(reading, partHours(partitions.parts(), filesHours, names), names, partitions);
    const hours = joinedHours(filesHours.values());
    const prints = [...hours.values()].reduce((sum, session) => sum + session.prints, joined);
    if (prints > 0) {
      const { quotes } = reading;
      if ('files' in quotes) await readQuoteFiles(quotes.files, reading, threads, names, partitions);
      else await readStoredQuotes(quotes.stored, reading, names, partitions);
    }
    const ended = prints > 0 ? await partitions.end() : { fd: -1, partitions: [] };
    const quotes = ended.partitions.reduce((sum, partition) => sum + partition.quotes, 0);
    return {
      prints,
      filesHours,
      repeated,
      joined,
      parts: ended.partitions.map((partition) => partOf(ended.fd, partition, filesHours, names)),
      quotes,
      sessions: [...new Set(ended.partitions.map(({ day }) => dateOfEpochDay(day)))],
      async *make(plan) {
        for (const thread of [main, ...workers]) thread.begin({ kind: 'sessions', conditions: names.conditions });
        queue = new SessionQueue(plannedSessions(ended, names, plan), main, workers);
        for await (const made of queue.made()) {
          reading.onBytes(0);
          yield made;
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
