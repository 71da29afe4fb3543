import type { LargeTrade } from '../../domain/flow/flow.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { statement } from '../engine/statement.ts';
import type { Transaction } from '../engine/transaction.ts';

/** What of an event is sent again when it changes. */
function contentOf({ event }: LargeTrade): string {
  const { eventId: _, underlying: _of, eventTsMs: _at, eventKind, legs, totalSize, premiumUsd, ...figures } = event;
  return JSON.stringify([eventKind, totalSize, premiumUsd, ...Object.values(figures), legs.length]);
}

const entering = statement(
  'enter-feed',
  { underlyings: 'text[]', sessionDates: 'text[]', eventIds: 'text[]', eventTsMs: 'int8[]', contents: 'text[]' },
  {},
);

/**
 * Gives events their position in the feed; an event that was sent before and is equal keeps its position, also when its
 * session was reconciled or its follower began again. Writers take turns (`lockFlow`), so that positions are committed
 * in their order.
 */
export async function enterFeed(tx: Transaction, trades: readonly LargeTrade[]): Promise<void> {
  const of = <T>(value: (trade: LargeTrade) => T) => trades.map(value);
  const underlyings = of(({ symbol }) => symbol);
  for (const underlying of underlyings) tx.changes.add('flow', underlying);
  await entering.count(tx, {
    underlyings,
    sessionDates: of(({ coverage }) => coverage.sessionDate),
    eventIds: of(({ event }) => event.eventId),
    eventTsMs: of(({ event }) => event.eventTsMs),
    contents: of(contentOf),
  });
}

/** Deletes feed positions of sessions before `before`: no client resumes there any more. */
export async function forgetFeed(tx: Transaction, before: SessionDate): Promise<void> {
  await tx.prisma.flowFeedEntry.deleteMany({ where: { sessionDate: { lt: before } } });
}
