import { requireFlow } from '../../access/entitlement/entitlement.ts';
import { invalidParameter } from '../../domain/failure.ts';
import { coverageAt } from '../../domain/flow/coverage.ts';
import type { LargeTrade } from '../../domain/flow/flow.ts';
import { dayMs } from '../../domain/units.ts';
import type { Store } from '../../store/engine/connection.ts';
import { type FeedStep, type FeedTrade, newestFeedPosition, readFeed } from '../../store/flow/feed-pages.ts';
import { type RequestContext, requireSource } from '../context.ts';
import { requireFlowFilter, requireFlowOf } from '../flow/flow.ts';
import type { LiveEvent, LiveSource } from './source.ts';
import type { TopicKind } from './topics.ts';

/** The one topic of large trades; each subscriber gets those that pass its filter. */
const feedKey = 'all';
/** Events read at once. */
const pageSize = 500;
/** Maximum age of an event that is still sent, ms: longer than a long weekend. Events of older sessions that are ingested again are not sent. */
const oldestMs = 5 * dayMs;
/** Events a reader may have missed and still go on. */
const mostMissed = 10_000;

/** A place in the feed as text: its steps, one after the other. */
function formatPosition(steps: readonly FeedStep[]): string {
  return steps.map(({ position, throughMs }) => `${position}.${throughMs}`).join('.');
}

function parsePosition(text: string): FeedStep[] {
  if (!/^\d{1,15}\.\d{1,15}(\.\d{1,15}\.\d{1,15}){0,3}$/.test(text))
    throw invalidParameter('after', 'expected a position in a stream of large trades');
  const numbers = text.split('.').map(Number);
  const steps: FeedStep[] = [];
  for (let i = 0; i < numbers.length; i += 2) steps.push({ position: numbers[i]!, throughMs: numbers[i + 1]! });
  return steps;
}

/** What is seen with one step more; steps that lie within it are dropped. */
function withStep(steps: readonly FeedStep[], step: FeedStep): FeedStep[] {
  const others = steps.filter(({ position, throughMs }) => position > step.position || throughMs > step.throughMs);
  return [...others, step];
}

/** All events new between `seen` and `through`, in feed order, each with the position of a client that received it. */
function eventsOf(trades: readonly FeedTrade[], seen: readonly FeedStep[], through: FeedStep): LiveEvent<LargeTrade>[] {
  const { throughMs } = through;
  return trades.map(({ trade, position }, index) => ({
    value: { ...trade, coverage: coverageAt(trade.coverage, throughMs) },
    cursor: formatPosition(index === trades.length - 1 ? [through] : withStep(seen, { position, throughMs })),
    slot: `${trade.symbol} ${trade.event.eventId}`,
  }));
}

/** Which events are wanted. */
interface Wish {
  /** Null = of any. */
  underlying: string | null;
  /** Dollars; null = any. */
  minPremiumUsd: number | null;
}

/** The events between `seen` and `through`. */
async function readBetween(store: Store, seen: readonly FeedStep[], through: FeedStep, wish: Wish) {
  const all: FeedTrade[] = [];
  for (let afterPosition = 0; ; afterPosition = all.at(-1)!.position) {
    const { position: throughPosition, throughMs } = through;
    const fromMs = throughMs - oldestMs;
    const window = { seen, afterPosition, throughPosition, fromMs, throughMs, ...wish, limit: pageSize };
    const page = await readFeed(store, window);
    all.push(...page);
    if (page.length < pageSize) return eventsOf(all, seen, through);
    if (all.length >= mostMissed)
      throw invalidParameter(
        'after',
        `more than ${mostMissed} large trades were missed; start a new stream, and read them with the largeTrades query`,
      );
  }
}

/** Live large trades, one topic for all. */
export function largeTradeTopics(store: Store): TopicKind<FeedStep, LargeTrade> {
  return {
    dataset: 'option_tape',
    queued: 'all',
    concerns: (_key, change) => change.flow !== undefined,
    async read(topics, nowMs) {
      const before = topics.get(feedKey)!;
      const position = Math.max(await newestFeedPosition(store), before?.position ?? 0);
      const state = { position, throughMs: Math.max(nowMs, before?.throughMs ?? 0) };
      const wish = { underlying: null, minPremiumUsd: null };
      const events = before === null ? [] : await readBetween(store, [before], state, wish);
      return new Map([[feedKey, { state, events }]]);
    },
    first: () => [],
    cursor: (state) => formatPosition([state]),
  };
}

/** Which large trades are followed, and from where. */
export interface LargeTradeFollowing {
  symbol?: string | null | undefined;
  minPremiumUsd?: number | null | undefined;
}

/** Large trades as they are detected, of one underlying or of all; one that changes is sent again. 400 and 403 as for the page of them. */
export async function followLargeTrades(
  context: RequestContext,
  following: LargeTradeFollowing,
): Promise<LiveSource<LargeTrade>> {
  const wish: Wish = { underlying: following.symbol ?? null, minPremiumUsd: following.minPremiumUsd ?? null };
  const check = async (caller: RequestContext['caller']) => {
    requireFlow(caller);
    if (wish.underlying !== null) await requireFlowOf({ ...context, caller }, wish.underlying);
  };
  requireFlow(context.caller);
  requireFlowFilter(context, following);
  await check(context.caller);
  requireSource(context, 'option_tape');
  const { after } = context;
  const seen = after === null ? null : parsePosition(after);
  return context.live.largeTrades.follow({
    keys: [feedKey],
    resume: seen && {
      after: after!,
      read: (through) => readBetween(context.live.store, seen, through, wish),
    },
    wants: ({ symbol: underlying, event }) =>
      (wish.underlying === null || underlying === wish.underlying) &&
      (wish.minPremiumUsd === null || event.premiumUsd >= wish.minPremiumUsd),
    check,
  });
}
