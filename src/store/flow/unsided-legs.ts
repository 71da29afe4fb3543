import type { SessionDate } from '../../core/domain/market-time.ts';
import type { Store } from '../rows/connection.ts';

/** An underlying's session, and its events with a leg of unknown side. */
export interface UnsidedSession {
  underlying: string;
  session: SessionDate;
  eventIds: string[];
}

/**
 * Events with a leg of unknown side that has one of these conditions, by underlying and session, in order; only of
 * sessions in which some leg has a side, because those were read with quotes.
 */
export async function unsidedSessions({ primary }: Store, conditions: readonly number[]): Promise<UnsidedSession[]> {
  const legs = await primary.prisma.flowLeg.findMany({
    where: { side: 'unknown', conditions: { hasSome: [...conditions] } },
    select: { underlying: true, sessionDate: true, eventId: true },
    orderBy: [{ sessionDate: 'asc' }, { underlying: 'asc' }, { eventId: 'asc' }],
  });
  const sided = await primary.prisma.flowLeg.findMany({
    where: { side: { not: 'unknown' } },
    distinct: ['underlying', 'sessionDate'],
    select: { underlying: true, sessionDate: true },
  });
  const withQuotes = new Set(sided.map(({ underlying, sessionDate }) => `${sessionDate} ${underlying}`));
  const bySession = Map.groupBy(legs, ({ underlying, sessionDate }) => `${sessionDate} ${underlying}`);
  return [...bySession]
    .filter(([key]) => withQuotes.has(key))
    .map(([, [first, ...more]]) => ({
      underlying: first!.underlying,
      session: first!.sessionDate,
      eventIds: [...new Set([first!, ...more].map(({ eventId }) => eventId))],
    }));
}
