import { gunzipSync, gzipSync } from 'node:zlib';
import { tradeDate } from '../../domain/calendar.ts';
import type { ChainCapture } from '../../domain/chain/chain.ts';
import { type ContractBook, createContractBook } from '../../domain/chain/contract-book.ts';
import { standardRoots } from '../../domain/chain/option-root.ts';
import { addDays, type SessionDate } from '../../domain/market-time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { forgetLines, lockPosition, savePosition, storedLines, storeLines } from '../../store/chain/followed-lines.ts';
import { dropGreeks } from '../../store/chain/greeks-minutes.ts';
import { dropLiveFlow, highestSnapshot } from '../../store/flow/live.ts';
import { readRoots } from '../../store/market/option-roots.ts';
import { sealedSymbols } from '../../store/market/session-seals.ts';
import { followedWindows } from '../../store/market/symbols.ts';
import type { Store } from '../../store/rows/connection.ts';
import { analyzeGrown } from '../../store/rows/statistics.ts';
import { inSettledTransaction, type Transaction } from '../../store/rows/transaction.ts';
import { beginSampleWrite, writtenSymbols } from '../../store/sample-data.ts';
import type { LiveRecord } from '../../tape/live/live-line.ts';
import { readLiveLines } from '../../tape/live/live-lines.ts';
import { storeChain } from '../chains/chain.ts';
import { createMinuteGreeks } from '../chains/minute-greeks.ts';
import type { IngestSettings } from '../files/file-job.ts';
import { createLiveSession, forgetChanges, type LiveSession, type SessionRecord } from './live-session.ts';
import { instantOf, OpenSessions } from './open-sessions.ts';
import { TapeOrigin } from './tape-origin.ts';
import { writeLiveSession } from './write-session.ts';

/** Live flow of a session that is not reconciled is stored for this many days. */
const expiryDays = 7;
/**
 * Minute solves are stored for this many days: a contract that trades now and then has its last 390 over several
 * sessions.
 */
const greeksDays = 30;
/** A record later than this beyond the clock is a mistake: it must not end the session. */
const clockSkewMs = 3_600_000;
/** Longer than any event waits for its next print. */
const quietMs = 1000;
/**
 * Minute solves that are done before a commit, in American ones: some 50 ms, so that nothing else waits for a whole
 * minute's.
 */
const solvesACommit = 700;
/** Option contracts whose bars a commit writes: some 100 ms. */
const usualBarsACommit = 1000;
/** Interval at which tables are checked for growth, ms. */
const analyzeEveryMs = 2000;

/** Parts of a follower. */
export interface FollowerOptions extends Pick<IngestSettings, 'gammaSource' | 'rate'> {
  /** Names the tape: a follower goes on where the last one of this name was. */
  source: string;
  now: Clock;
  /** The tape is the sample market's own; of any other the sample market's data is set aside. */
  isSample?: boolean;
  /** As of `IngestSettings`; false when absent. */
  extendedBars?: boolean;
  /** Called with what is remarkable of the store. */
  onNote?: (note: string) => void;
  /** Contracts of an underlying that are solved every minute; the usual number when absent, 0 = none. */
  solveMost?: number | undefined;
  /**
   * Option contracts whose bars a commit writes; where more have traded, those of the others follow in the order in
   * which they changed. The usual number when absent.
   */
  barsACommit?: number;
  /** Called once for an underlying with more contracts that trade than are solved. */
  onUnsolved?: (underlying: string) => void;
  /**
   * Called after each commit with how many pieces of the tape, as it gave them, are committed; only of use when each
   * ends with a line.
   */
  onCommit?: (pieces: number) => Promise<void>;
}

async function* unpacked(payloads: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const payload of payloads) yield gunzipSync(payload);
}

// Nobody else writes what is followed live, so that other processes' commits need not be waited for each time.
const onlyAfterDoubt = { always: false };

/** Data of the next commit beside the session. */
interface Pending {
  pieces: Buffer[];
  bytes: number;
  chains: ChainCapture[];
}

const nothing = (): Pending => ({ pieces: [], bytes: 0, chains: [] });

/** A follower of a tape: it takes pieces of it and commits what they say. */
export function createFollower(store: Store, options: FollowerOptions) {
  const { source, now, barsACommit = usualBarsACommit } = options;
  // Read again with each session; what the book has met of one keeps its properties.
  let known = standardRoots;
  const book: ContractBook = createContractBook({ of: (root, session) => known.of(root, session) });
  let pending = nothing();
  const sessions = new OpenSessions();
  let committedLines = 0;
  let takenLines = 0;
  let takenPieces = 0;
  let commits = 0;
  const reported = new Set<string>();
  const origin = new TapeOrigin(store, options);
  let analyzedAt = Number.NEGATIVE_INFINITY;

  async function open(tx: Transaction, date: SessionDate, solvedMs: number | null = null): Promise<LiveSession> {
    const { rate, solveMost: most } = options;
    known = await readRoots(tx);
    const windows = most === 0 ? new Map<string, number>() : await followedWindows(tx);
    const settings = { from: store.primary, session: date, rate, roots: known, most, windows, solvedMs };
    reported.clear();
    return createLiveSession(date, {
      firstSnapshotSeq: await highestSnapshot(tx, date),
      extendedBars: options.extendedBars,
      greeks: (livePrice) => createMinuteGreeks({ ...settings, livePrice }),
    });
  }

  /** Minutes that are over before an instant are solved from what came before it. */
  async function solveBefore({ greeks }: LiveSession, tsMs: number): Promise<void> {
    while (tsMs >= greeks.dueMs) {
      // A chain among the lines before has been stored when the minute looks for one, however the lines came in pieces.
      if (pending.chains.length > 0) await commit();
      await greeks.begin();
      for (const underlying of greeks.full) if (!reported.has(underlying)) options.onUnsolved?.(underlying);
      for (const underlying of greeks.full) reported.add(underlying);
    }
  }

  /** Makes the sessions what they were when the last follower committed; the lines it had taken. */
  function recover(): Promise<number> {
    return inSettledTransaction(store, async (tx) => {
      known = await readRoots(tx);
      const { lines, session: date, ended: before = null, ...written } = await lockPosition(tx, source);
      committedLines = takenLines = lines;
      if (date === null) return committedLines;
      const positions = [...(before ? [before] : []), { ...written, session: date }];
      if (before) sessions.ended = await open(tx, before.session, before.solvedMs);
      sessions.current = await open(tx, date, written.solvedMs);
      for (const position of positions) {
        const stored = unpacked(storedLines(tx, source, position.session));
        for await (const { records } of readLiveLines(stored, { name: source, book, now, onBadLine: () => {} }))
          for (const record of records) if (record.type !== 'chain') await sessions.take(record, solveBefore);
      }
      for (const [i, each] of sessions.all().entries()) forgetChanges(each, positions[i]!.barsFromMs ?? null);
      return committedLines;
    });
  }

  /** Commits what has come; `whole` leaves no bars for later, `closing` forgets lines of the session that ended. */
  async function commit({ whole = false, closing = false } = {}): Promise<void> {
    for (const { greeks } of sessions.all()) greeks.work(solvesACommit);
    await inSettledTransaction(
      store,
      async (tx) => {
        origin.begin();
        if (options.isSample) await beginSampleWrite(tx);
        const { lines } = await lockPosition(tx, source);
        if (lines !== committedLines) throw new Error(`another process follows ${source}`);
        const date = sessions.current?.date ?? tradeDate(now());
        if (pending.bytes > 0) await storeLines(tx, source, date, takenLines, gzipSync(Buffer.concat(pending.pieces)));
        // The ended session first: what is written is marked as of the session whose prints it came with.
        for (const each of sessions.all()) {
          await writeLiveSession(tx, each, {
            rate: options.rate,
            mostBars: whole ? Infinity : barsACommit,
            roots: known,
          });
          await origin.mark(tx, writtenSymbols(tx), each.date);
        }
        for (const chain of pending.chains) {
          const { underlying, sessionDate } = chain;
          if ((await sealedSymbols(tx, sessionDate, [underlying])).has(underlying)) continue;
          await storeChain(tx, chain, options);
          await origin.mark(tx, [underlying], sessionDate);
        }
        await savePosition(tx, source, { lines: takenLines, ...sessions.position(closing) });
        if (closing) await forgetLines(tx, source, date);
      },
      // Data that a session has given to be written, it does not give again.
      { ...onlyAfterDoubt, once: true },
    );
    if (performance.now() - analyzedAt > analyzeEveryMs) {
      analyzedAt = performance.now();
      void analyzeGrown(store);
    }
    origin.end();
    committedLines = takenLines;
    pending = nothing();
    commits++;
    await options.onCommit?.(takenPieces);
  }

  /** Sends and writes the rest of the session that ended, and deletes its lines. */
  async function closeEnded(): Promise<void> {
    if (sessions.ended === null) return;
    sessions.ended.options.end();
    await sessions.ended.greeks.finish();
    await commit({ whole: true, closing: true });
    sessions.ended = null;
  }

  /** Begins a session: the one before ends, and old data is deleted. */
  async function turnTo(date: SessionDate): Promise<void> {
    await closeEnded();
    sessions.ended = sessions.current;
    sessions.current = await inSettledTransaction(
      store,
      async (tx) => {
        await dropLiveFlow(tx, { settledBefore: addDays(date, -1), expiredBefore: addDays(date, -expiryDays) });
        await dropGreeks(tx, addDays(date, -greeksDays));
        return open(tx, date);
      },
      onlyAfterDoubt,
    );
  }

  /** Takes a record that may be the first of a session. */
  async function takeNext(record: SessionRecord): Promise<void> {
    const tsMs = instantOf(record);
    if (record.type !== 'time') {
      const date = tradeDate(tsMs);
      if (date > tradeDate(now() + clockSkewMs)) return;
      if (sessions.isFirst(date)) await turnTo(date);
    }
    if (sessions.isOver(tsMs, now())) await closeEnded();
    await sessions.take(record, solveBefore);
  }

  /**
   * Takes a piece of the tape. Its lines are taken once all of it is: what a commit in the middle writes ahead of them
   * is written again, the same, by who goes on from there.
   */
  async function take(piece: Buffer, lines: number, records: readonly LiveRecord[]): Promise<void> {
    await origin.replaceSample(records);
    for (const record of records) {
      if (record.type === 'chain') pending.chains.push(record.chain);
      else await takeNext(record);
    }
    pending.pieces.push(piece);
    pending.bytes += piece.length;
    takenLines += lines;
    if (lines > 0) takenPieces++;
  }

  /**
   * The tape has ended, for now: event time goes on by itself, so that what waits for it is sent. Kept as a line, for a
   * follower that goes on.
   */
  async function letTimePass(): Promise<void> {
    const tsMs = (sessions.current?.options.reachedMs ?? Number.NaN) + quietMs;
    if (!Number.isFinite(tsMs)) return;
    const line = JSON.stringify({ type: 'time', sip_timestamp: `${tsMs}000000` });
    await take(Buffer.from(`${line}\n`), 0, [{ type: 'time', tsMs }]);
    for (const { greeks } of sessions.all()) await greeks.finish();
  }

  return {
    letTimePass,
    book,
    recover,
    commit,
    take,
    pendingBytes: () => pending.bytes,
    /** True if bars are left that the last commit did not write. */
    hasBars: () => sessions.all().some((each) => each.options.bars.changedFromMs() !== null),
    report: () => ({ throughLine: takenLines, commits }),
  };
}
