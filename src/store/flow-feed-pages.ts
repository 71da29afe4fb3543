import type { LargeTrade } from '../domain/flow.ts';
import { readFrom, type Store } from './connection.ts';
import { covered, type EventRow, eventColumns, largeTradesOf } from './flow-events.ts';

/**
 * A step of what a reader has seen: every event told up to `position` that was not later than `throughMs`. Events later than the clock
 * exist where it is moved back, or a tape runs ahead: they are told when they are due.
 */
export interface FeedStep {
  position: number;
  /** Epoch ms. */
  throughMs: number;
}

/** An event with its place in the order of telling. */
export interface FeedTrade {
  position: number;
  trade: LargeTrade;
}

/** Which part of the feed. */
export interface FeedWindow {
  /** What was seen, at least one step; none holds another. */
  seen: readonly FeedStep[];
  /** Events told up to here are left out. */
  afterPosition: number;
  /** Events told later are left out. */
  throughPosition: number;
  /** Events before this, and after, are left out, epoch ms. */
  fromMs: number;
  throughMs: number;
  /** Null = of any underlying. */
  underlying: string | null;
  /** Least total premium, dollars; null = any. */
  minPremiumUsd: number | null;
  limit: number;
}

/** The newest place of the feed; 0 before the first event. */
export async function newestFeedPosition(store: Store): Promise<number> {
  const { rows } = await readFrom(store).query<{ position: number }>({
    name: 'flow-feed-newest',
    text: 'SELECT coalesce(max(place), 0) AS position FROM flow_feed',
  });
  return rows[0]!.position;
}

/** Events that a reader has not seen, in the order of telling. Two statements, one when there are none. */
export async function readFeed(store: Store, window: FeedWindow): Promise<FeedTrade[]> {
  const { seen, afterPosition, throughPosition, fromMs, throughMs, underlying, minPremiumUsd, limit } = window;
  const { rows } = await readFrom(store).query<EventRow & { position: number }>({
    name: 'flow-feed',
    text: `SELECT ${eventColumns}, f.place AS position FROM flow_feed f
           JOIN flow_events e ON e.underlying = f.underlying AND e.session_date = f.session_date AND e.event_id = f.event_id
           ${covered}
           WHERE (f.place > $1 OR f.event_ts_ms > $2)
             AND NOT EXISTS (SELECT FROM unnest($3::bigint[], $4::bigint[]) AS s(position, through_ms)
                             WHERE f.place <= s.position AND f.event_ts_ms <= s.through_ms)
             AND f.place > $5 AND f.place <= $6 AND f.event_ts_ms >= $11 AND f.event_ts_ms <= $7
             AND ($8::text IS NULL OR e.underlying = $8) AND ($9::float8 IS NULL OR e.premium_usd >= $9)
           ORDER BY f.place LIMIT $10`,
    values: [
      // By one of the steps alone the indexes find what may be new.
      seen[0]!.position,
      seen[0]!.throughMs,
      seen.map((step) => step.position),
      seen.map((step) => step.throughMs),
      afterPosition,
      throughPosition,
      throughMs,
      underlying,
      minPremiumUsd,
      limit,
      fromMs,
    ],
  });
  const trades = await largeTradesOf(store, rows);
  return trades.map((trade, index) => ({ position: rows[index]!.position, trade }));
}
