import { gunzipSync, gzipSync } from 'node:zlib';
import type { ChainCapture } from '../../domain/chain/chain.ts';
import { type ContractBook, createContractBook } from '../../domain/chain/contract-book.ts';
import { addDays, exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import type { Clock } from '../../runtime/clock.ts';
import { noteOwnData, sampleKeyEnded } from '../../store/account/own-data.ts';
import { forgetLines, lockPosition, savePosition, storedLines, storeLines } from '../../store/chain/followed-lines.ts';
import { dropGreeks } from '../../store/chain/greeks-minutes.ts';
import type { Store } from '../../store/engine/connection.ts';
import { analyzeGrown } from '../../store/engine/statistics.ts';
import { inSettledTransaction, type Transaction } from '../../store/engine/transaction.ts';
import { dropLiveFlow, highestSnapshot } from '../../store/flow/live.ts';
import { sealedSymbols } from '../../store/market/session-seals.ts';
import { followedWindows } from '../../store/market/symbols.ts';
import type { LiveRecord } from '../../tape/live/live-line.ts';
import { readLiveLines } from '../../tape/live/live-lines.ts';
import { storeChain } from '../chains/chain.ts';
import { createMinuteGreeks } from '../chains/minute-greeks.ts';
import type { IngestSettings } from '../files/file-job.ts';
import { createLiveSession, forgetChanges, type LiveSession, takeRecord } from './live-session.ts';
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
/** How often it is looked whether tables have grown. */
const analyzeEveryMs = 2000;

/** What a follower is made with. */
export interface FollowerOptions extends Pick<IngestSettings, 'gammaSource' | 'rate'> {
  /** Names the tape: a follower goes on where the last one of this name was. */
  source: string;
  now: Clock;
  /** The tape is the sample market's own; any other ends the sample market's key. */
  isSample?: boolean;
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

/** When what a record says happened, epoch ms. */
function instantOf(record: LiveRecord): number {
  if (record.type === 'chain') return record.chain.capturedAt;
  if (record.type === 'time') return record.tsMs;
  if (record.type === 'index_value') return record.value.tsMs;
  return record.type === 'option_quote' ? record.quote.tsMs : record.print.tsMs;
}

/** The New York date of a record. */
const dateOf = (record: LiveRecord): SessionDate => exchangeDate(instantOf(record));

async function* unpacked(payloads: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const payload of payloads) yield gunzipSync(payload);
}

// Nobody else writes what is followed live, so that other processes' commits need not be waited for each time.
const onlyAfterDoubt = { always: false };

/** What goes into the next commit beside the session. */
interface Pending {
  pieces: Buffer[];
  bytes: number;
  chains: ChainCapture[];
}

const nothing = (): Pending => ({ pieces: [], bytes: 0, chains: [] });

/** What follows a tape: it takes pieces of it and commits what they say. */
export function createFollower(store: Store, options: FollowerOptions) {
  const { source, now, barsACommit = usualBarsACommit } = options;
  const book: ContractBook = createContractBook();
  let pending = nothing();
  let session: LiveSession | null = null;
  let committedLines = 0;
  let takenLines = 0;
  let takenPieces = 0;
  let commits = 0;
  const reported = new Set<string>();
  let noted = false;
  let analyzedAt = Number.NEGATIVE_INFINITY;

  async function open(tx: Transaction, date: SessionDate, solvedMs: number | null): Promise<LiveSession> {
    const { rate, solveMost: most } = options;
    const windows = most === 0 ? new Map<string, number>() : await followedWindows(tx);
    const settings = { from: store.primary, session: date, rate, most, windows, solvedMs };
    reported.clear();
    return createLiveSession(date, {
      firstSnapshotSeq: await highestSnapshot(tx, date),
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

  /** Makes the session what it was when the last follower committed; the lines it had taken. */
  function recover(): Promise<number> {
    return inSettledTransaction(store, async (tx) => {
      const position = await lockPosition(tx, source);
      committedLines = takenLines = position.lines;
      if (position.session === null) return committedLines;
      session = await open(tx, position.session, position.solvedMs);
      const stored = unpacked(storedLines(tx, source, position.session));
      for await (const { records } of readLiveLines(stored, { name: source, book, now, onBadLine: () => {} }))
        for (const record of records) {
          if (record.type === 'chain' || dateOf(record) !== session.date) continue;
          await solveBefore(session, instantOf(record));
          takeRecord(session, record);
        }
      forgetChanges(session, position.barsFromMs ?? null);
      return committedLines;
    });
  }

  /** Commits what has come; `whole` leaves no bars for later. */
  async function commit({ whole = false } = {}): Promise<void> {
    session?.greeks.work(solvesACommit);
    let keyEnded = false;
    await inSettledTransaction(
      store,
      async (tx) => {
        const { lines } = await lockPosition(tx, source);
        if (lines !== committedLines) throw new Error(`another process follows ${source}`);
        const date = session?.date ?? exchangeDate(now());
        if (pending.bytes > 0) await storeLines(tx, source, date, takenLines, gzipSync(Buffer.concat(pending.pieces)));
        if (session)
          await writeLiveSession(tx, session, { rate: options.rate, mostBars: whole ? Infinity : barsACommit });
        for (const chain of pending.chains) {
          const { underlying, sessionDate } = chain;
          if ((await sealedSymbols(tx, sessionDate, [underlying])).has(underlying)) continue;
          await storeChain(tx, chain, options);
        }
        await savePosition(tx, source, {
          lines: takenLines,
          session: session?.date ?? null,
          solvedMs: session?.greeks.solvedMs ?? null,
          barsFromMs: session?.options.bars.changedFromMs() ?? null,
        });
        if (!options.isSample && !noted) keyEnded = await noteOwnData(tx, now);
      },
      // What a session has given to be written, it does not give again.
      { ...onlyAfterDoubt, once: true },
    );
    if (performance.now() - analyzedAt > analyzeEveryMs) {
      analyzedAt = performance.now();
      void analyzeGrown(store);
    }
    noted = true;
    if (keyEnded) options.onNote?.(sampleKeyEnded);
    committedLines = takenLines;
    pending = nothing();
    commits++;
    await options.onCommit?.(takenPieces);
  }

  /** A new date: what is left of the old one is sent and written, and old data is deleted. */
  async function turnTo(date: SessionDate): Promise<LiveSession> {
    if (session) {
      session.options.end();
      await session.greeks.finish();
      await commit({ whole: true });
    }
    return inSettledTransaction(
      store,
      async (tx) => {
        await forgetLines(tx, source, date);
        await dropLiveFlow(tx, { settledBefore: addDays(date, -1), expiredBefore: addDays(date, -expiryDays) });
        await dropGreeks(tx, addDays(date, -greeksDays));
        return open(tx, date, null);
      },
      onlyAfterDoubt,
    );
  }

  /**
   * Takes a piece of the tape. Its lines are taken once all of it is: what a commit in the middle writes ahead of them
   * is written again, the same, by who goes on from there.
   */
  async function take(piece: Buffer, lines: number, records: readonly LiveRecord[]): Promise<void> {
    for (const record of records) {
      const date = dateOf(record);
      if (record.type === 'chain') pending.chains.push(record.chain);
      else if (date <= exchangeDate(now() + clockSkewMs)) {
        if (!session || date > session.date) session = await turnTo(date);
        if (date !== session.date) continue;
        await solveBefore(session, instantOf(record));
        takeRecord(session, record);
      }
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
    const tsMs = session ? session.options.reachedMs + quietMs : Number.NaN;
    if (!Number.isFinite(tsMs)) return;
    const line = JSON.stringify({ type: 'time', sip_timestamp: `${tsMs}000000` });
    await take(Buffer.from(`${line}\n`), 0, [{ type: 'time', tsMs }]);
    await session?.greeks.finish();
  }

  return {
    letTimePass,
    book,
    recover,
    commit,
    take,
    pendingBytes: () => pending.bytes,
    /** Whether bars are left that the last commit did not write. */
    hasBars: () => session !== null && session.options.bars.changedFromMs() !== null,
    report: () => ({ throughLine: takenLines, commits }),
  };
}
