import { tapeSettings } from '../../../core/analytics/methodology.ts';
import { tradeDate, tradeSpan } from '../../../core/domain/calendar.ts';
import type { FollowedPosition, FollowedSession } from '../../../store/chain/followed-lines.ts';
import type { LiveRecord } from '../../tape/live/live-line.ts';
import { mixed, textHash } from '../files/print-sketch.ts';
import { type LiveSession, type SessionRecord, takeRecord } from './live-session.ts';

/** The time of a record, epoch ms. */
export function instantOf(record: LiveRecord): number {
  if (record.type === 'chain') return record.chain.capturedAt;
  if (record.type === 'time') return record.tsMs;
  if (record.type === 'index_value') return record.value.tsMs;
  return record.type === 'option_quote' ? record.quote.tsMs : record.print.tsMs;
}

function positionOf({ date, fromLine, greeks, options: { bars } }: LiveSession): FollowedSession {
  return { session: date, solvedMs: greeks.solvedMs, barsFromMs: bars.changedFromMs(), fromLine };
}

/** Number of a session's prints that repeat others. */
const repeatsOf = ({ stocks, options }: LiveSession) =>
  stocks.counts.duplicates + stocks.counts.copies + options.counts.duplicates;

const largestRun = 65_535;
/** Number of the latest prints that are compared with the first one of a follower that resumes. */
const comparedPrints = 65_536;

type Print = Extract<SessionRecord, { type: 'stock_print' | 'option_print' }>['print'];

/** A hash of what a print is without its id or number. */
function contentHash(print: Print): number {
  const name = 'contract' in print ? print.contract.index : textHash(print.symbol);
  const of = [print.exchange, print.price, print.size, print.tsMs % 2 ** 31, print.tsNanos, ...print.conditions];
  return of.reduce((hash, value) => mixed(hash, value >>> 0), name);
}

/**
 * Number of the run of a tape. Lines are sent again to a follower that resumes if its first print is one of the latest,
 * or is earlier than all of these: a run begins then. Otherwise the tape continues, and the run with it, also between
 * prints of one instant. Equal prints without a usable id are the same print only in different runs.
 */
class TapeRun {
  number = 0;
  #isResumed = false;
  /** By position of the print: its hash, and its instant, epoch ms. */
  readonly #hashes = new Uint32Array(comparedPrints);
  readonly #instants = new Float64Array(comparedPrints).fill(Infinity);
  #count = 0;
  #lastMs = -Infinity;
  #lastNanos = 0;

  resume(): void {
    this.#isResumed = true;
  }

  add(print: Print): void {
    const hash = contentHash(print);
    const later = print.tsMs - this.#lastMs || print.tsNanos - this.#lastNanos;
    const mayBeAgain = this.#isResumed && later < 0 && this.number < largestRun;
    if (mayBeAgain && this.#isSentAgain(hash, print.tsMs)) this.number++;
    this.#isResumed = false;
    if (later > 0) [this.#lastMs, this.#lastNanos] = [print.tsMs, print.tsNanos];
    this.#hashes[this.#count % comparedPrints] = hash;
    this.#instants[this.#count % comparedPrints] = print.tsMs;
    this.#count++;
  }

  #isSentAgain(hash: number, tsMs: number): boolean {
    if (this.#hashes.some((each, i) => each === hash && this.#instants[i] === tsMs)) return true;
    return this.#count > comparedPrints && tsMs < this.#instants.reduce((least, each) => Math.min(least, each));
  }
}

/** The sessions of a live tape that take records. */
export class OpenSessions {
  /** Number of records that came after their session ended, since `forgetCounts`. */
  late = 0;
  #repeatsBefore = 0;
  readonly #run = new TapeRun();
  /** The latest session of the tape; null before the first. */
  current: LiveSession | null = null;
  /** The session before, while late prints of it may arrive; null = closed. */
  ended: LiveSession | null = null;

  /** The open ones in order. */
  all(): LiveSession[] {
    return [this.ended, this.current].filter((session) => session !== null);
  }

  /** True if a record other than a time is the first of a session. */
  isFirst(date: string): boolean {
    return this.current === null || date > this.current.date;
  }

  /**
   * True if late prints of the session that ended are no longer awaited: by event time, and by the clock, which
   * protects against a wrong time.
   */
  isOver(tsMs: number, nowMs: number): boolean {
    if (this.ended === null) return false;
    return Math.min(tsMs, nowMs) >= tradeSpan(this.ended.date).toMs + tapeSettings.latenessMs;
  }

  /**
   * Passes a record to its session, if that is open; event time advances in both. `before` is called with each first.
   * False if the session of the record has ended.
   */
  async take(record: SessionRecord, before: (session: LiveSession, tsMs: number) => Promise<void>): Promise<boolean> {
    const tsMs = instantOf(record);
    const date = record.type === 'time' ? null : tradeDate(tsMs);
    if (record.type === 'time' && record.isResumed) this.#run.resume();
    if (record.type === 'stock_print' || record.type === 'option_print') this.#run.add(record.print);
    let isTaken = date === null;
    for (const session of this.all()) {
      if (date !== null && date < session.date) continue;
      await before(session, tsMs);
      const isOwn = date === null || date === session.date;
      if (isOwn) isTaken = true;
      takeRecord(session, isOwn ? record : { type: 'time', tsMs }, this.#run.number);
    }
    if (!isTaken) this.late++;
    return isTaken;
  }

  /** Number of prints that repeat others, since `forgetCounts`. */
  get repeats(): number {
    return this.all().reduce((sum, session) => sum + repeatsOf(session), this.#repeatsBefore);
  }

  /** Closes the session that ended. */
  close(): void {
    if (this.ended) this.#repeatsBefore += repeatsOf(this.ended);
    this.ended = null;
  }

  /** Counts from zero: what came before was counted by another process. */
  forgetCounts(): void {
    this.late = 0;
    this.#repeatsBefore -= this.repeats;
  }

  /** Position of the written sessions; `closing`: the one that ended is completely written. */
  position(closing: boolean): Omit<FollowedPosition, 'lines'> {
    const { current, ended } = this;
    return {
      ...(current ? positionOf(current) : { session: null, solvedMs: null }),
      ended: ended === null || closing ? null : positionOf(ended),
    };
  }
}
