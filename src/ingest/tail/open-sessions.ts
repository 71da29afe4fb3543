import { tapeSettings } from '../../analytics/methodology.ts';
import { tradeDate, tradeSpan } from '../../domain/calendar.ts';
import type { FollowedPosition, FollowedSession } from '../../store/chain/followed-lines.ts';
import type { LiveRecord } from '../../tape/live/live-line.ts';
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

/** The sessions of a live tape that take records. */
export class OpenSessions {
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
   */
  async take(record: SessionRecord, before: (session: LiveSession, tsMs: number) => Promise<void>): Promise<void> {
    const tsMs = instantOf(record);
    const date = record.type === 'time' ? null : tradeDate(tsMs);
    for (const session of this.all()) {
      if (date !== null && date < session.date) continue;
      await before(session, tsMs);
      takeRecord(session, date === null || date === session.date ? record : { type: 'time', tsMs });
    }
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
