import type { LargeTrade } from '../../core/domain/flow/flow.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { statement } from '../rows/statement.ts';
import { eventColumns, largeTradesOf } from './events.ts';

/**
 * A step of a reader's progress: it has seen every event sent up to `position` that was not later than `throughMs`.
 * Events later than the clock exist if the clock is set back, or a tape runs ahead: they are sent when they are due.
 */
export interface FeedStep {
  position: number;
  /** Epoch ms. */
  throughMs: number;
}

/** An event with its position in the feed. */
export interface FeedTrade {
  position: number;
  trade: LargeTrade;
}

/** A range of the feed. */
export interface FeedWindow {
  /** The seen steps, at least one; none contains another. */
  seen: readonly FeedStep[];
  /** Events sent up to this position are omitted. */
  afterPosition: number;
  /** Events sent after this position are omitted. */
  throughPosition: number;
  /** Events before this, and after, are omitted, epoch ms. */
  fromMs: number;
  throughMs: number;
  /** Null = any underlying. */
  underlying: string | null;
  /** Minimum total premium, dollars; null = any. */
  minPremiumUsd: number | null;
  limit: number;
}

/** The newest position of the feed; 0 before the first event. */
export async function newestFeedPosition(store: Store): Promise<number> {
  // Not Prisma's aggregate, which would read every position.
  const newest = await readFrom(store, 'flow', null).prisma.flowFeedEntry.findFirst({
    orderBy: { position: 'desc' },
    select: { position: true },
  });
  return newest === null ? 0 : numbered(newest).position;
}

/** The time of the oldest event of the feed, epoch ms; null before the first. */
export async function oldestFeedTime(store: Store): Promise<number | null> {
  const oldest = await readFrom(store, 'flow', null).prisma.flowFeedEntry.findFirst({
    orderBy: { eventTsMs: 'asc' },
    select: { eventTsMs: true },
  });
  return oldest && numbered(oldest).eventTsMs;
}

const unseen = statement(
  'flow/flow-feed',
  {
    seenPosition: 'int8',
    seenThroughMs: 'int8',
    positions: 'int8[]',
    throughMsOf: 'int8[]',
    afterPosition: 'int8',
    throughPosition: 'int8',
    fromMs: 'int8',
    throughMs: 'int8',
    underlying: 'text?',
    minPremiumUsd: 'float8?',
    limit: 'int8',
  },
  { ...eventColumns, position: 'int8' },
);

/** Events that a reader has not seen, in feed order. Two statements, one if there are none. */
export async function readFeed(store: Store, { seen, ...window }: FeedWindow): Promise<FeedTrade[]> {
  const rows = await unseen.rows(readFrom(store, 'flow', null), {
    seenPosition: seen[0]!.position,
    seenThroughMs: seen[0]!.throughMs,
    positions: seen.map((step) => step.position),
    throughMsOf: seen.map((step) => step.throughMs),
    ...window,
  });
  const trades = await largeTradesOf(store, rows);
  return trades.map((trade, index) => ({ position: rows[index]!.position, trade }));
}
