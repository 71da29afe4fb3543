import { coverageAt, type LargeTrade } from '../core/domain/flow/flow.ts';
import { dayMs } from '../platform/runtime/clock.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import { eventTimes, longestTradeMs, readTradesBetween } from '../store/flow/events.ts';
import {
  type FeedStep,
  type FeedTrade,
  newestFeedPosition,
  oldestFeedTime,
  readFeed,
} from '../store/flow/feed-pages.ts';
import type { Store } from '../store/rows/connection.ts';
import { stepOf } from './replay-instants.ts';
import { type LiveEvent, requireHeld, tooEarly } from './source.ts';
import type { TopicKind } from './topics.ts';

/** The one topic of large trades; each subscriber gets those that pass its filter. */
export const feedKey = 'all';
/** Number of events per read. */
const pageSize = 500;
/**
 * Maximum age of an event that is still sent, ms: longer than a long weekend. Events of older sessions that are
 * ingested again are not sent.
 */
const oldestMs = 5 * dayMs;
/** Maximum number of missed events with which a reader may resume. */
const mostMissed = 10_000;

/** A position in the feed as text: its steps in order. */
function formatPosition(steps: readonly FeedStep[]): string {
  return steps.map(({ position, throughMs }) => `${position}.${throughMs}`).join('.');
}

/** Parses a position. Throws 400 for an invalid text. */
export function parsePosition(text: string): FeedStep[] {
  if (!/^\d{1,15}\.\d{1,15}(\.\d{1,15}\.\d{1,15}){0,3}$/.test(text))
    throw invalidParameter('after', 'expected a position in a stream of large trades');
  const numbers = text.split('.').map(Number);
  const steps: FeedStep[] = [];
  for (let i = 0; i < numbers.length; i += 2) steps.push({ position: numbers[i]!, throughMs: numbers[i + 1]! });
  return steps;
}

/** The seen steps with one more; steps that it contains are dropped. */
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

/** The filter of events. */
export interface Wish {
  /** Null = any. */
  underlying: string | null;
  /** Dollars; null = any. */
  minPremiumUsd: number | null;
}

/** The events between `seen` and `through`. */
export async function readBetween(store: Store, seen: readonly FeedStep[], through: FeedStep, wish: Wish) {
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

/**
 * The events later than `sinceMs`, epoch ms, up to `through`. Throws 400 naming the first instant that is served.
 */
export async function tradesSince(store: Store, sinceMs: number, through: FeedStep, wish: Wish) {
  requireHeld(sinceMs, await oldestFeedTime(store), 'large trades');
  const { position, throughMs } = through;
  const firstMs = throughMs - oldestMs;
  if (sinceMs < firstMs) throw tooEarly(firstMs, `large trades are sent for ${oldestMs / dayMs} days`);
  return readBetween(store, [{ position, throughMs: sinceMs }], through, wish);
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
    instants: async () => [],
    first: () => [],
    cursor: (state) => formatPosition([state]),
  };
}

/** Large trades of the past: in the order of their time, since the feed has those of the last days only. */
export function replayedLargeTrades(store: Store, wish: Wish): TopicKind<FeedStep, LargeTrade> {
  return {
    ...largeTradeTopics(store),
    async read(topics, nowMs) {
      const before = topics.get(feedKey)!;
      const state = { position: 0, throughMs: nowMs };
      const trades = before === null ? [] : await readTradesBetween(store, wish, before.throughMs, nowMs);
      const events = trades.map((trade) => ({
        value: { ...trade, coverage: coverageAt(trade.coverage, nowMs) },
        cursor: '',
        slot: '',
      }));
      return new Map([[feedKey, { state, events }]]);
    },
    async instants(_keys, fromMs, toMs) {
      const times = await eventTimes(store, wish, fromMs - longestTradeMs, toMs);
      // A trade is there with its last leg.
      const found = new Set(times.flatMap((tsMs) => [stepOf(tsMs), stepOf(tsMs + longestTradeMs)]));
      return [...found].filter((instant) => instant > fromMs && instant <= toMs);
    },
  };
}
