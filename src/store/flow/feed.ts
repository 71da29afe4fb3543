import type { SessionDate } from '../../core/domain/market-time.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import type { FeedSession } from './event-rows.ts';

const entering = statement(
  'flow/enter-feed',
  { underlyings: 'text[]', sessionDates: 'text[]', eventIds: 'text[]', eventTsMs: 'int8[]', contents: 'text[]' },
  {},
);

/**
 * Assigns events their positions in the feed. An unchanged event keeps its position, also when its session was
 * reconciled or its follower restarted. Writers are serialized (`lockFlow`), so that positions are committed in order.
 */
export async function enterFeed(tx: Transaction, sessions: readonly FeedSession[]): Promise<void> {
  for (const { symbol } of sessions) tx.changes.add('flow', symbol);
  const repeated = (of: (session: FeedSession) => string) =>
    sessions.flatMap((session) => session.eventIds.map(() => of(session)));
  await entering.count(tx, {
    underlyings: repeated(({ symbol }) => symbol),
    sessionDates: repeated(({ sessionDate }) => sessionDate),
    eventIds: sessions.flatMap(({ eventIds }) => eventIds),
    eventTsMs: sessions.flatMap(({ eventTsMs }) => eventTsMs),
    contents: sessions.flatMap(({ contents }) => contents),
  });
}

/** Deletes feed positions of sessions before `before`: no client resumes there any more. */
export async function forgetFeed(tx: Transaction, before: SessionDate): Promise<void> {
  await tx.prisma.flowFeedEntry.deleteMany({ where: { sessionDate: { lt: before } } });
}
