import { gunzipSync, gzipSync } from 'node:zlib';
import { tradeDate } from '../../../core/domain/calendar.ts';
import type { ChainCapture } from '../../../core/domain/chain/chain.ts';
import { type ContractBook, createContractBook } from '../../../core/domain/chain/contract-book.ts';
import { standardRoots } from '../../../core/domain/chain/option-root.ts';
import { addDays, type SessionDate } from '../../../core/domain/market-time.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import {
  type FollowedSession,
  forgetLines,
  lockPosition,
  savePosition,
  storedLines,
  storeLines,
} from '../../../store/chain/followed-lines.ts';
import { dropGreeks } from '../../../store/chain/greeks.ts';
import { dropLiveFlow, highestSnapshot } from '../../../store/flow/live.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { markLive, storeOrigin } from '../../../store/market/session-origins.ts';
import { sealedSymbols } from '../../../store/market/session-seals.ts';
import { followedWindows } from '../../../store/market/symbols.ts';
import { beginOwnData, beginSampleWrite } from '../../../store/origin.ts';
import type { Store } from '../../../store/rows/connection.ts';
import type { Reader } from '../../../store/rows/reader.ts';
import { analyzeGrown } from '../../../store/rows/statistics.ts';
import { inSettledTransaction, type Transaction } from '../../../store/rows/transaction.ts';
import { endGeneration } from '../../../store/superseded/generation.ts';
import { pruneExpired } from '../../../store/superseded/prune.ts';
import type { LiveRecord } from '../../tape/live/live-line.ts';
import { readLiveLines } from '../../tape/live/live-lines.ts';
import { storeChain } from '../chains/chain.ts';
import { MinuteGreeks } from '../chains/minute-greeks.ts';
import type { IngestSettings } from '../files/file-job.ts';
import { LiveGenerations } from './live-generations.ts';
import { createLiveSession, forgetChanges, type LiveSession, type SessionRecord } from './live-session.ts';
import { instantOf, OpenSessions } from './open-sessions.ts';
import { writeLiveSession } from './write-session.ts';

/** Settings of `TapeOrigin`. */
interface TapeOriginOptions {
  now: Clock;
  /** True if the tape is the sample market's. */
  isSample?: boolean | undefined;
  onNote?: ((note: string) => void) | undefined;
}

/** Keeps the data of a live tape apart from the sample market's. */
class TapeOrigin {
  readonly #options: TapeOriginOptions;
  #isSettled: boolean;
  /** True once a commit has recorded the origin; and if the one in progress did. */
  #isRecorded = false;
  #records = false;
  #notes: string[] = [];
  readonly #marked = new Set<string>();
  #fresh: string[] = [];

  constructor(options: TapeOriginOptions) {
    this.#options = options;
    this.#isSettled = options.isSample === true;
  }

  /**
   * True if the store holds nothing of the other origin. Until then nothing of it must be read: the first commit with
   * records deletes it.
   */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Reads the store's origin. `isResumed`: it holds records of the tape. */
  async settle(from: Pick<Reader, 'prisma'>, isResumed = false): Promise<void> {
    this.#isSettled ||= isResumed || (await storeOrigin(from)) !== 'sample';
  }

  /** Begins a commit; `hasRecords`: some of the market. */
  async begin(tx: Transaction, hasRecords: boolean): Promise<void> {
    const { isSample, now } = this.#options;
    this.#fresh = [];
    this.#notes = [];
    this.#records = hasRecords && !isSample && !this.#isRecorded;
    if (isSample) await beginSampleWrite(tx);
    else if (this.#records) this.#notes = await beginOwnData(tx, now());
  }

  /** Marks the sessions of written symbols as live, once; those of the sample market are of it. */
  async mark(tx: Transaction, symbols: readonly string[], sessionDate: SessionDate): Promise<void> {
    if (this.#options.isSample) return;
    const fresh = symbols.filter((symbol) => !this.#marked.has(`${symbol} ${sessionDate}`));
    if (fresh.length === 0) return;
    await markLive(
      tx,
      fresh.map((symbol) => ({ symbol, sessionDate })),
    );
    this.#fresh.push(...fresh.map((symbol) => `${symbol} ${sessionDate}`));
  }

  /** Remembers what the commit did. */
  end(): void {
    this.#isRecorded ||= this.#records;
    this.#isSettled ||= this.#isRecorded;
    for (const note of this.#notes.splice(0)) this.#options.onNote?.(note);
    for (const each of this.#fresh) this.#marked.add(each);
  }
}

/** Number of days for which live flow of an unreconciled session is stored. */
const expiryDays = 7;
/**
 * Number of days for which minute solves are stored: the last 390 of a rarely traded contract span several sessions.
 */
const greeksDays = 30;
/** Tolerated lead of a record over the clock; a later one is an error, which must not end the session. */
const clockSkewMs = 3_600_000;
/** Longer than any event waits for its next print. */
const quietMs = 1000;
/**
 * Number of minute solves per commit, in American ones: some 50 ms, so that nothing else waits for a whole minute's.
 */
const solvesACommit = 700;
/** Number of option contracts whose bars a commit writes: some 100 ms. */
const usualBarsACommit = 1000;
/** Interval at which tables are checked for growth, ms. */
const analyzeEveryMs = 2000;

/** Places on a tape that can be read from any of them on. */
export interface TapePlaces {
  /** Continues after the place of the last committed line. Call it before the first piece is read. */
  resumeAfter(place: string): void;
  /** The place of the last line of the n-th piece, from 1; undefined if that is committed. */
  of(piece: number): string | undefined;
}

/** Parts of a follower. */
export interface FollowerOptions extends Pick<IngestSettings, 'gammaSource' | 'rate'> {
  /** Name of the tape: a follower resumes from the position stored under it. */
  source: string;
  now: Clock;
  /** True if the tape is the sample market's; the first commit of any other deletes it. */
  isSample?: boolean;
  /** As of `IngestSettings`; false when absent. */
  extendedBars?: boolean;
  /** Called with notes on the store. */
  onNote?: (note: string) => void;
  /** Number of contracts per underlying that are solved every minute; the default if absent, 0 = none. */
  solveMost?: number | undefined;
  /**
   * Number of option contracts whose bars a commit writes; if more have traded, the others follow in the order of their
   * changes. The default if absent.
   */
  barsACommit?: number;
  /** Called with the session of a record that came after the session ended; the record is not stored. */
  onLate?: (session: SessionDate) => void;
  /** Called once for an underlying with more traded contracts than are solved. */
  onUnsolved?: (underlying: string) => void;
  /** True if the tape starts at its first line, and the lines taken before are skipped. */
  fromStart?: boolean;
  /** Places of the tape's lines, if it names them. */
  places?: TapePlaces | undefined;
  /**
   * Called after each commit with the number of committed pieces of the tape; meaningful only if each piece ends with a
   * line.
   */
  onCommit?: (pieces: number) => Promise<void>;
}

async function* unpacked(payloads: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const payload of payloads) yield gunzipSync(payload);
}

// No other process writes live data, so a commit need not wait for others.
const onlyAfterDoubt = { always: false };

/** Data of the next commit besides the session. */
interface Pending {
  pieces: Buffer[];
  bytes: number;
  chains: ChainCapture[];
}

const nothing = (): Pending => ({ pieces: [], bytes: 0, chains: [] });

interface CommitOptions {
  /** True to write all bars. */
  whole?: boolean;
  /** True to delete the lines of the session that ended. */
  closing?: boolean;
}

/** A follower of a tape: takes its pieces and commits their records. */
export class Follower {
  readonly #store: Store;
  readonly #options: FollowerOptions;
  // Loaded again for each session; contracts of a session keep their properties in its book.
  #known = standardRoots;
  readonly book: ContractBook = createContractBook({ of: (root, session) => this.#known.of(root, session) });
  #pending = nothing();
  readonly #sessions = new OpenSessions();
  #committedLines = 0;
  #takenLines = 0;
  /** True until a follower that resumed takes its first lines, if lines taken before may come again. */
  #isResumed = false;
  /** True once a record of a session was taken. */
  #hasRecords = false;
  #place: string | undefined;
  /** The last line of the piece that is being taken. */
  #reachedLine = 0;
  #takenPieces = 0;
  #commits = 0;
  readonly #reported = new Set<string>();
  readonly #origin: TapeOrigin;
  readonly #generations: LiveGenerations;
  #analyzedAt = Number.NEGATIVE_INFINITY;
  readonly #solving = (session: LiveSession, tsMs: number) => this.#solveBefore(session, tsMs);

  constructor(store: Store, options: FollowerOptions) {
    this.#store = store;
    this.#options = options;
    this.#origin = new TapeOrigin(options);
    this.#generations = new LiveGenerations(options.source, options.now);
  }

  /** Bytes of uncommitted lines. */
  get pendingBytes(): number {
    return this.#pending.bytes;
  }

  /** True if the last commit did not write all bars. */
  get hasBars(): boolean {
    return this.#sessions.all().some((each) => each.options.bars.changedFromMs() !== null);
  }

  /** Number of lines taken and of commits; of records of ended sessions, and of prints that repeat others. */
  report(): { throughLine: number; commits: number; late: number; duplicates: number } {
    const { late, repeats: duplicates } = this.#sessions;
    return { throughLine: this.#takenLines, commits: this.#commits, late, duplicates };
  }

  async #open(
    tx: Transaction,
    date: SessionDate,
    { solvedMs = null, fromLine = this.#takenLines + 1 }: Partial<Pick<FollowedSession, 'solvedMs' | 'fromLine'>> = {},
  ): Promise<LiveSession> {
    const { rate, solveMost: most } = this.#options;
    const { isSettled } = this.#origin;
    this.#known = await readRoots(tx, isSettled);
    const windows = most === 0 ? new Map<string, number>() : await followedWindows(tx);
    const settings = { from: this.#store.primary, session: date, rate, roots: this.#known, most, windows, solvedMs };
    this.#reported.clear();
    return createLiveSession(date, {
      fromLine,
      firstSnapshotSeq: isSettled ? await highestSnapshot(tx, date) : 0,
      extendedBars: this.#options.extendedBars,
      greeks: (livePrice) => new MinuteGreeks({ ...settings, livePrice }),
    });
  }

  /** Solves minutes that end before an instant, from the records before it. */
  async #solveBefore({ greeks }: LiveSession, tsMs: number): Promise<void> {
    while (tsMs >= greeks.dueMs) {
      // A chain among earlier lines is stored before the minute reads it, however the lines are divided into pieces.
      // Records are stored before one reads the store of a sample market, which that deletes.
      const mustReplace = this.#hasRecords && !this.#origin.isSettled;
      if (this.#pending.chains.length > 0 || mustReplace) await this.commit();
      await greeks.begin();
      for (const underlying of greeks.full) if (!this.#reported.has(underlying)) this.#options.onUnsolved?.(underlying);
      for (const underlying of greeks.full) this.#reported.add(underlying);
    }
  }

  /** Restores the sessions to the last commit. Returns the number of lines taken. */
  recover(): Promise<number> {
    const { source, now, places, fromStart = false } = this.#options;
    return inSettledTransaction(this.#store, async (tx) => {
      const { lines, place, session: date, ended: before = null, ...written } = await lockPosition(tx, source);
      await this.#origin.settle(tx, date !== null);
      this.#known = await readRoots(tx, this.#origin.isSettled);
      this.#committedLines = this.#takenLines = lines;
      this.#place = place;
      if (place !== undefined) places?.resumeAfter(place);
      if (date === null) return this.#committedLines;
      const positions = [...(before ? [before] : []), { ...written, session: date }];
      if (before) this.#sessions.ended = await this.#open(tx, before.session, before);
      this.#sessions.current = await this.#open(tx, date, written);
      const reading = { name: source, book: this.book, now, onBadLine: () => {} };
      for (const position of positions) {
        const stored = unpacked(storedLines(tx, source, position.session));
        for await (const { records } of readLiveLines(stored, reading))
          for (const record of records) if (record.type !== 'chain') await this.#sessions.take(record, this.#solving);
      }
      for (const [i, each] of this.#sessions.all().entries()) forgetChanges(each, positions[i]!.barsFromMs ?? null);
      this.#sessions.forgetCounts();
      this.#isResumed = !fromStart && (places === undefined || place === undefined);
      return this.#committedLines;
    });
  }

  /** Writes the records taken, in the transaction that commits them. */
  async #write(tx: Transaction, { whole, closing }: Required<CommitOptions>): Promise<void> {
    const { source, rate, now, places, barsACommit = usualBarsACommit } = this.#options;
    const pending = this.#pending;
    this.#generations.begin();
    await this.#origin.begin(tx, pending.chains.length > 0 || this.#hasRecords);
    const { lines } = await lockPosition(tx, source);
    if (lines !== this.#committedLines) throw new Error(`another process follows ${source}`);
    const date = this.#sessions.current?.date ?? tradeDate(now());
    if (pending.bytes > 0)
      await storeLines(tx, source, date, this.#takenLines, gzipSync(Buffer.concat(pending.pieces)));
    // The ended session first: rows are marked with the session whose prints they arrived with.
    const written: { symbols: readonly string[]; date: SessionDate }[] = [];
    for (const each of this.#sessions.all()) {
      await this.#generations.write(tx, each.date);
      await writeLiveSession(tx, each, { rate, mostBars: whole ? Infinity : barsACommit, roots: this.#known });
      written.push({ symbols: tx.changes.symbols(), date: each.date });
      await this.#generations.begun(tx, each.date, each.fromLine);
    }
    for (const chain of pending.chains) {
      const { underlying, sessionDate } = chain;
      if ((await sealedSymbols(tx, sessionDate, [underlying])).has(underlying)) continue;
      await this.#generations.write(tx, sessionDate);
      const { remade, rejection } = await storeChain(tx, chain, this.#options);
      if (rejection !== null) this.#options.onNote?.(`${underlying}: ${rejection}`);
      const lines = { fromLine: this.#committedLines + 1, throughLine: this.#reachedLine };
      for (const each of remade) await this.#generations.captured(tx, each, lines);
      written.push({ symbols: [underlying], date: sessionDate });
    }
    // Files mark after they have locked what they complete, too: in another order the two would deadlock.
    for (const { symbols, date } of written) await this.#origin.mark(tx, symbols, date);
    await endGeneration(tx, now());
    this.#place = places?.of(this.#takenPieces) ?? this.#place;
    const position = { lines: this.#takenLines, place: this.#place, ...this.#sessions.position(closing) };
    await savePosition(tx, source, position);
    if (closing && this.#sessions.ended) {
      await this.#generations.ended(tx, this.#sessions.ended.date, this.#reachedLine);
      await forgetLines(tx, source, date);
    }
  }

  /** Commits the records taken. */
  async commit({ whole = false, closing = false }: CommitOptions = {}): Promise<void> {
    for (const { greeks } of this.#sessions.all()) greeks.work(solvesACommit);
    // A session returns data to write only once.
    const once = { ...onlyAfterDoubt, once: true };
    await inSettledTransaction(this.#store, (tx) => this.#write(tx, { whole, closing }), once);
    if (performance.now() - this.#analyzedAt > analyzeEveryMs) {
      this.#analyzedAt = performance.now();
      void analyzeGrown(this.#store);
    }
    this.#origin.end();
    this.#generations.end();
    this.#committedLines = this.#takenLines;
    this.#pending = nothing();
    this.#commits++;
    await this.#options.onCommit?.(this.#takenPieces);
  }

  /** Notes how far the tape goes, for now, in the sessions that may go on. */
  async noteEnd(): Promise<void> {
    const open = this.#sessions.all();
    if (this.#commits === 0 || open.length === 0) return;
    await inSettledTransaction(
      this.#store,
      async (tx) => {
        for (const { date } of open) await this.#generations.ended(tx, date, this.#committedLines);
      },
      onlyAfterDoubt,
    );
  }

  /** Sends and writes the rest of the session that ended, and deletes its lines. */
  async #closeEnded(): Promise<void> {
    if (this.#sessions.ended === null) return;
    this.#sessions.ended.options.end();
    await this.#sessions.ended.greeks.finish();
    await this.commit({ whole: true, closing: true });
    this.#sessions.close();
  }

  /** Begins a session: ends the one before, and deletes old data. */
  async #turnTo(date: SessionDate): Promise<void> {
    await this.#closeEnded();
    await pruneExpired(this.#store, this.#options.now());
    this.#sessions.ended = this.#sessions.current;
    this.#sessions.current = await inSettledTransaction(
      this.#store,
      async (tx) => {
        await this.#origin.settle(tx);
        if (!this.#origin.isSettled) return this.#open(tx, date);
        await dropLiveFlow(tx, { settledBefore: addDays(date, -1), expiredBefore: addDays(date, -expiryDays) });
        await dropGreeks(tx, addDays(date, -greeksDays));
        return this.#open(tx, date);
      },
      onlyAfterDoubt,
    );
  }

  /** Takes a record that may be the first of a session. */
  async #takeNext(record: SessionRecord): Promise<void> {
    const tsMs = instantOf(record);
    if (record.type !== 'time') {
      const date = tradeDate(tsMs);
      if (date > tradeDate(this.#options.now() + clockSkewMs)) return;
      if (this.#sessions.isFirst(date)) await this.#turnTo(date);
    }
    if (this.#sessions.isOver(tsMs, this.#options.now())) await this.#closeEnded();
    const isTaken = await this.#sessions.take(record, this.#solving);
    if (!isTaken) this.#options.onLate?.(tradeDate(tsMs));
    this.#hasRecords ||= isTaken && record.type !== 'time';
  }

  /**
   * Takes a piece of the tape. Its lines count as taken once all of it is: a resuming follower writes records committed
   * in the middle again, with the same result.
   */
  async take(piece: Buffer, lines: number, records: readonly LiveRecord[]): Promise<void> {
    if (this.#isResumed) await this.#noteRun();
    this.#reachedLine = this.#takenLines + lines;
    for (const record of records) {
      if (record.type === 'chain') this.#pending.chains.push(record.chain);
      else await this.#takeNext(record);
    }
    this.#pending.pieces.push(piece);
    this.#pending.bytes += piece.length;
    this.#takenLines += lines;
    if (lines > 0) this.#takenPieces++;
  }

  /**
   * Call it when the tape ends, for now: event time advances, so that waiting events are sent. Stored as a line, for a
   * follower that resumes.
   */
  async letTimePass(): Promise<void> {
    await this.#takeTime(quietMs);
    for (const { greeks } of this.#sessions.all()) await greeks.finish();
  }

  /** Stores a line after which the lines of this process begin, for a follower that resumes. */
  async #noteRun(): Promise<void> {
    this.#isResumed = false;
    await this.#takeTime(0, { isResumed: true });
  }

  /** Takes a time line of our own: event time so far and some ms. */
  async #takeTime(moreMs: number, { isResumed = false } = {}): Promise<void> {
    const tsMs = (this.#sessions.current?.options.reachedMs ?? Number.NaN) + moreMs;
    if (!Number.isFinite(tsMs)) return;
    const line = JSON.stringify({ type: 'time', sip_timestamp: `${tsMs}000000`, resumed: isResumed || undefined });
    await this.take(Buffer.from(`${line}\n`), 0, [{ type: 'time', tsMs, isResumed }]);
  }
}
