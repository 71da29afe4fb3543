import { stat } from 'node:fs/promises';
import { createContractBook, type TradedContract } from '../../domain/chain/contract-book.ts';
import type { CoverageStatus } from '../../domain/flow/coverage.ts';
import type { InstantBounds } from '../../domain/instant-gate.ts';
import { dateOfEpochDay, type SessionDate } from '../../domain/market-time.ts';
import { type ByteHeader, type BytePiece, readBytePieces } from '../../tape/csv/byte-csv.ts';
import type { OnBadLine, OnBytes } from '../../tape/csv/tape-file.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { type OptionQuoteColumn, optionQuoteColumns } from '../../tape/prints/option-quotes.ts';
import {
  recordAt as at,
  mostConditions,
  quotePutter,
  recordInstants,
  recordWidth as width,
} from '../../tape/prints/option-records.ts';
import { type OptionTradeColumn, optionTradeColumns } from '../../tape/prints/option-trades.ts';
import type { MadeSession, SolvedSession } from './option-session.ts';
import type { QuoteSource } from './quote-source.ts';
import { type QueuedSession, type SessionQueue, sessionQueue } from './session-queue.ts';
import { createTapePartitions, type Partition, type TapePartitions } from './tape-partitions.ts';
import { mainThread, type ReadPiece, type TapeThread, workerThread } from './tape-threads.ts';
import type { TapeStage } from './tape-work.ts';

/** Files of fewer bytes are read by one thread: to begin others takes longer. */
export const leastThreadedBytes = 1024 * 1024;

/** How the sessions of a tape are made. */
export interface SessionPlan {
  /** False for sessions that are skipped. */
  isWanted(date: SessionDate): boolean;
  /** What the bars of a session are stored as. */
  statusOf(date: SessionDate): CoverageStatus;
  /** What begins the solves of an underlying's session; null where its contracts are not solved. */
  solving(date: SessionDate, underlying: string): (() => SolvedSession) | null;
}

/** An option tape that was read from its files; its sessions are not computed yet. */
export interface OptionTapeFiles {
  readonly prints: number;
  /** Quotes of the contracts that traded, in sessions in which their underlyings did. */
  readonly quotes: number;
  /** Days on which there are prints, ascending. */
  readonly sessions: readonly SessionDate[];
  /** The underlyings' sessions: New York dates ascend, and those of one date come together. To be called once. */
  make(plan: SessionPlan): AsyncGenerator<MadeSession>;
  /** Ends threads and removes what was put aside. What is solved in this thread is waited for. */
  close(): Promise<void>;
}

export interface OptionTapeReading {
  trades: readonly string[];
  quotes: QuoteSource;
  /** Threads that read and make sessions; 1 = this thread alone, which also reads what is small. */
  threads: number;
  bounds: InstantBounds;
  onBadLine: OnBadLine;
  onBytes: OnBytes;
  /** True once nothing more is collected: the files are read on only for their bad lines. */
  refused(): boolean;
}

/** Contracts, underlyings and lists of conditions of a tape, whichever thread met them. */
function createTapeNames() {
  const book = createContractBook();
  const numbers = new Map<string, number>();
  const conditions: (readonly number[])[] = [];
  const contracts: TradedContract[] = [];
  // By contract: its number among those of its underlying, and how many prints it has.
  const numberOf: number[] = [];
  const prints: number[] = [];
  const idsOf: string[][] = [];
  return {
    conditions,
    contracts,
    numberOf,
    prints,
    /** Ids of an underlying's contracts, by their numbers. */
    idsOf: (underlying: number) => idsOf[underlying]!,
    symbolOf: (underlying: number) => book.underlyings()[underlying]!.symbol,
    contract(id: string): number {
      const contract = book.find(id)!;
      const { index, underlying } = contract;
      if (contracts[index] !== undefined) return index;
      contracts[index] = contract;
      prints[index] = 0;
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

/** Takes the records of a piece that a thread read. */
type TakePiece = (thread: number, read: ReadPiece) => Promise<void>;

/**
 * Has the pieces of a file read by threads in rotation, and takes what they read in the order of the file: bad lines
 * are reported as one thread would report them. What is read ahead is bounded.
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
  // Where the file ends in damage, its lines before that are reported all the same.
  const failed = await readAll().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  while (ahead.length > 0) await takeFirst();
  if (failed) throw failed.error;
}

/** Puts the prints of the files into their partitions: numbered by their lines, under the tape's numbers. */
async function readTrades(
  { trades, bounds, onBadLine, onBytes, refused }: OptionTapeReading,
  threads: readonly TapeThread[],
  names: TapeNames,
  partitions: TapePartitions,
): Promise<number> {
  let prints = 0;
  const { contracts, numberOf } = names;
  for (const path of trades) {
    // By thread: the tape's numbers of what it has met in this file.
    const contractsOf: number[][] = threads.map(() => []);
    const conditionsOf: number[][] = threads.map(() => []);
    const [days, instantOf] = [closedDayCounter(), recordInstants()];
    const take: TakePiece = async (thread, { piece, records }) => {
      if (refused()) return;
      const [known, lists] = [contractsOf[thread]!, conditionsOf[thread]!];
      for (const id of piece.contracts) known.push(names.contract(id));
      for (const list of piece.conditions) lists.push(names.conditionsNumber(list));
      prints += piece.records;
      for (let i = 0; i < piece.records * width; i += width) {
        const contract = known[records[i + at.contract]!]!;
        const conditions = lists[records[i + at.exchangeAndConditions]! >>> 16]!;
        days.add(instantOf(records, i));
        records[i + at.contract] = numberOf[contract]!;
        records[i + at.exchangeAndConditions] = (records[i + at.exchangeAndConditions]! & 0xffff) | (conditions << 16);
        records[i + at.sequence] = ++names.prints[contract]!;
        partitions.put(contracts[contract]!.underlying.index, records, i);
      }
      await partitions.flush();
    };
    const stage = (header: ByteHeader<OptionTradeColumn>): TapeStage => ({ kind: 'trades', header, bounds });
    await readPieces(path, readBytePieces(path, optionTradeColumns, onBytes), stage, { threads, onBadLine }, take);
    if (!refused()) days.check(path);
  }
  return prints;
}

/** Puts quotes of files beside the prints of their contracts. */
async function readQuoteFiles(
  paths: readonly string[],
  { bounds, onBadLine, onBytes, refused }: OptionTapeReading,
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
    const pieces = readBytePieces(path, optionQuoteColumns, () => onBytes(0));
    await readPieces(path, pieces, stage, { threads, onBadLine }, take);
  }
}

/** Likewise of the quotes that are stored. */
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
  const work = { fd, isInOrder, parts, quotes, underlying: symbol, day, contracts, status: plan.statusOf(date) };
  return { work, solved: plan.solving(date, symbol) };
}

async function isThreaded({ threads, trades }: OptionTapeReading): Promise<boolean> {
  if (threads <= 1) return false;
  let bytes = 0;
  // A file that is not there is reported where it is read.
  for (const path of trades) bytes += (await stat(path).catch(() => ({ size: 0 }))).size;
  return bytes >= leastThreadedBytes;
}

/**
 * Reads the prints of an option tape and the quotes of the contracts that traded, and puts them aside by underlying and
 * day. Memory holds what the threads work on, an object per contract that traded, and what is not written yet. Throws
 * `TapeFileError`. Always close it, also after an error.
 */
export async function readOptionTape(reading: OptionTapeReading): Promise<OptionTapeFiles> {
  const main = mainThread();
  const workers = (await isThreaded(reading)) ? Array.from({ length: reading.threads }, workerThread) : [];
  const threads = workers.length > 0 ? workers : [main];
  const partitions = createTapePartitions();
  const names = createTapeNames();
  let queue: SessionQueue | null = null;
  const close = async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await queue?.close();
    await partitions.close();
  };
  try {
    const prints = await readTrades(reading, threads, names, partitions);
    if (prints > 0) {
      const { quotes } = reading;
      if ('files' in quotes) await readQuoteFiles(quotes.files, reading, threads, names, partitions);
      else await readStoredQuotes(quotes.stored, reading, names, partitions);
    }
    const ended = prints > 0 ? await partitions.end() : { fd: -1, partitions: [] };
    const quotes = ended.partitions.reduce((sum, partition) => sum + partition.quotes, 0);
    const sessions = [...new Set(ended.partitions.map(({ day }) => dateOfEpochDay(day)))];
    return {
      prints,
      quotes,
      sessions,
      async *make(plan) {
        for (const thread of [main, ...workers]) thread.begin({ kind: 'sessions', conditions: names.conditions });
        const wanted = ended.partitions.filter(({ day }) => plan.isWanted(dateOfEpochDay(day)));
        const all: QueuedSession[] = wanted.map((partition) => queued(ended.fd, partition, names, plan));
        queue = sessionQueue(all, main, workers);
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
