import type { LargeTrade } from '../domain/flow.ts';
import type { SessionDate } from '../domain/market-time.ts';
import type { Transaction } from './transaction.ts';

/** What of an event is told anew when it changes. */
function contentOf({ event }: LargeTrade): string {
  const { eventKind, totalSize, premiumUsd, priceLow, priceHigh, side, multiLeg, legs } = event;
  return JSON.stringify([eventKind, totalSize, premiumUsd, priceLow, priceHigh, side, multiLeg, legs.length]);
}

/**
 * Gives events their place in the order of telling; one that was told before, equal, keeps its place, also when its session was
 * reconciled or its follower began anew. Writers take turns (`lockFlow`), so that places are committed in their order.
 */
export async function enterFeed(tx: Transaction, trades: readonly LargeTrade[]): Promise<void> {
  const of = <T>(value: (trade: LargeTrade) => T) => trades.map(value);
  await tx.query(
    `INSERT INTO flow_feed (underlying, session_date, event_id, event_ts_ms, content)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
     ON CONFLICT (underlying, session_date, event_id) DO UPDATE
       SET content = excluded.content, event_ts_ms = excluded.event_ts_ms, place = nextval('flow_feed_places')
       WHERE flow_feed.content <> excluded.content`,
    [
      of(({ symbol }) => symbol),
      of(({ coverage }) => coverage.sessionDate),
      of(({ event }) => event.eventId),
      of(({ event }) => event.eventTsMs),
      of(contentOf),
    ],
  );
}

/** Forgets the order in which events of sessions before `before` were told: nobody goes on from there any more. */
export async function forgetFeed(tx: Transaction, before: SessionDate): Promise<void> {
  await tx.query('DELETE FROM flow_feed WHERE session_date < $1', [before]);
}
