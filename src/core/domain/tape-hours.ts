import { minuteMs } from '../../platform/runtime/clock.ts';
import { regularSession, tradeSpanAt } from './calendar.ts';
import type { SessionDate } from './market-time.ts';

/** A tape reaches the close if it has a print within this time before it, ms. */
const closeReachMs = 5 * minuteMs;

/** A tape's part of a session: counts of prints, and instants in epoch ms. */
export interface TapeHours {
  readonly date: SessionDate;
  prints: number;
  /** Prints between the open and the close. */
  regular: number;
  lastMs: number;
  /** The last print between the open and the close; −Infinity = none. */
  regularThroughMs: number;
  readonly openMs: number;
  readonly closeMs: number;
}

/** Counts the sessions of prints as they are read. */
export interface TapeHoursCounter {
  add(tsMs: number): void;
  /** The sessions so far. */
  readonly sessions: ReadonlyMap<SessionDate, TapeHours>;
}

/** Creates an empty counter. */
export function tapeHoursCounter(): TapeHoursCounter {
  const sessions = new Map<SessionDate, TapeHours>();
  let [fromMs, toMs] = [0, 0];
  let hours: TapeHours;
  function turnTo(tsMs: number) {
    const span = tradeSpanAt(tsMs);
    [fromMs, toMs] = [span.fromMs, span.toMs];
    hours = sessions.get(span.date) ?? {
      date: span.date,
      prints: 0,
      regular: 0,
      lastMs: tsMs,
      regularThroughMs: -Infinity,
      ...regularSession(span.date)!,
    };
    sessions.set(span.date, hours);
  }
  return {
    add(tsMs) {
      if (tsMs < fromMs || tsMs >= toMs) turnTo(tsMs);
      hours.prints++;
      if (tsMs > hours.lastMs) hours.lastMs = tsMs;
      if (tsMs < hours.openMs || tsMs > hours.closeMs) return;
      hours.regular++;
      if (tsMs > hours.regularThroughMs) hours.regularThroughMs = tsMs;
    },
    sessions,
  };
}

/** Merges the sessions of several files into those of one tape. */
export function joinedHours(files: Iterable<ReadonlyMap<SessionDate, TapeHours>>): Map<SessionDate, TapeHours> {
  const joined = new Map<SessionDate, TapeHours>();
  for (const sessions of files) {
    for (const hours of sessions.values()) {
      const known = joined.get(hours.date);
      if (!known) {
        joined.set(hours.date, { ...hours });
        continue;
      }
      known.prints += hours.prints;
      known.regular += hours.regular;
      known.lastMs = Math.max(known.lastMs, hours.lastMs);
      known.regularThroughMs = Math.max(known.regularThroughMs, hours.regularThroughMs);
    }
  }
  return joined;
}

/** True if a tape has prints up to the close of a session; false for a truncated one. */
export function reachesClose({ regularThroughMs, closeMs }: TapeHours): boolean {
  return regularThroughMs >= closeMs - closeReachMs;
}
