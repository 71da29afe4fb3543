import { pointsPerRequest } from '../access/limits/body-points.ts';
import type { ChainCapture } from '../core/domain/chain/chain.ts';
import type { CrossSection, LargeTrade } from '../core/domain/flow/flow.ts';
import type { StockBar, Timeframe } from '../core/domain/market/bar.ts';
import type { Quote } from '../core/domain/market/quote.ts';
import { exchangeTimeZone, parseRequestedInstant } from '../core/domain/market-time.ts';
import { barTopics } from '../live/bars.ts';
import { chainTopics } from '../live/chains.ts';
import { crossSectionTopics } from '../live/cross-sections.ts';
import { gexTopics } from '../live/gex.ts';
import { replayedLargeTrades } from '../live/large-trades.ts';
import { quoteTopics } from '../live/quotes.ts';
import { Replay, type Replayed, type ReplayToll, type Track, trackOf } from '../live/replay.ts';
import { replayStepMs } from '../live/replay-instants.ts';
import { dayMs } from '../platform/runtime/clock.ts';
import { turnOf } from '../platform/runtime/event-loop.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import type { StoredGexCapture } from '../store/gex/captures.ts';
import type { Store } from '../store/rows/connection.ts';
import { parseStart } from './as-of.ts';
import { chainFollowing } from './chain/live-chain.ts';
import type { RequestContext } from './context.ts';
import { crossSectionFollowing } from './flow/cross-section.ts';
import { largeTradesFollowing } from './flow/large-trades.ts';
import { checkTop } from './gex/gex.ts';
import { gexFollowing } from './gex/live-gex.ts';
import { quotesFollowing } from './market/quotes.ts';
import { barsFollowing } from './market/stock-bars.ts';

/** Values of events by the kinds of their topics. */
export interface ReplayValues {
  quotes: Quote;
  bars: StockBar;
  gex: StoredGexCapture;
  chain: ChainCapture;
  large_trades: LargeTrade;
  cross_section: CrossSection;
}

export type ReplayKind = keyof ReplayValues;

/** An event of a topic. */
export interface ReplayEvent {
  kind: ReplayKind;
  value: ReplayValues[ReplayKind];
  /** Number of strikes that its topic requests of a capture; null = all. */
  topStrikes: number | null;
}

/** An event of a replay, and its instant. */
export type ReplayedEvent = Replayed<ReplayEvent>;

/** A requested topic; options of other kinds are ignored. */
export interface ReplayTopic {
  kind: ReplayKind;
  symbol?: string | null | undefined;
  timeframe?: Timeframe | null | undefined;
  topStrikes?: number | null | undefined;
  minPremiumUsd?: number | null | undefined;
}

/** Arguments of a replay. */
export interface ReplayArgs {
  topics: readonly ReplayTopic[];
  from: string;
  to?: string | null | undefined;
  tz?: string | null | undefined;
  speed?: number | null | undefined;
}

/** Points of a topic's first state, and of the answer to it beside its selection. */
export const topicPoints = 2.5;

/** The toll of a replay: its caller's lane and minute. */
function tollOf({ access: { rate }, caller, pricedPoints = 0 }: RequestContext, topics: number): ReplayToll {
  let owed = 0;
  return {
    turn: (isOver) => turnOf(caller.keyId ?? caller.accountId, isOver),
    eventPoints: Math.max(0, pricedPoints / topics - topicPoints),
    async pay(more) {
      owed += more;
      while (owed >= pointsPerRequest) {
        const requests = Math.min(Math.floor(owed / pointsPerRequest), rate.limit(caller));
        const { allowed, resetSeconds } = await rate.consume(caller, requests);
        if (!allowed) return resetSeconds * 1000;
        owed -= requests * pointsPerRequest;
      }
      return 0;
    },
  };
}

/** Maximum number of topics besides quotes. */
const mostTopics = 50;
/** Seconds of the past per second. */
export const replaySpeeds = { slowest: 0.1, fastest: 3600 } as const;
/** Longest replay. */
const mostDays = 31;

/** The replayed instants, whole seconds. Throws 400 naming `from`, `to` or `speed`. */
function replayWindow(context: RequestContext, { from, to, tz, speed }: ReplayArgs) {
  const start = parseStart(from, tz, 'from', context);
  const end = to == null ? context.nowMs : parseRequestedInstant(to, tz ?? exchangeTimeZone, 'to').ms;
  if (start > end) throw invalidParameter('from', 'expected a time that is not after to');
  const [fromMs, toMs] = [start, Math.min(end, context.nowMs)].map((ms) => ms - (ms % replayStepMs)) as [
    number,
    number,
  ];
  if (toMs - fromMs > mostDays * dayMs) throw invalidParameter('from', `expected at most ${mostDays} days before to`);
  const { slowest, fastest } = replaySpeeds;
  const pace = speed ?? 1;
  if (!(pace >= slowest && pace <= fastest))
    throw invalidParameter('speed', `expected a number from ${slowest} to ${fastest}, got ${pace}`);
  return { fromMs, toMs, speed: pace };
}

function symbolOf({ kind, symbol }: ReplayTopic): string {
  if (symbol == null) throw invalidParameter('topics', `expected a symbol for ${kind}`);
  return symbol;
}

/** The track of a topic. Throws what its subscription throws for the caller. */
async function trackOfTopic(context: RequestContext, store: Store, topic: ReplayTopic): Promise<Track<ReplayEvent>> {
  const { kind, topStrikes = null, minPremiumUsd } = topic;
  const live = {};
  const event = (value: ReplayValues[ReplayKind]): ReplayEvent => ({ kind, value, topStrikes });
  if (kind === 'large_trades') {
    const filter = { symbol: topic.symbol, minPremiumUsd };
    const wish = { underlying: topic.symbol ?? null, minPremiumUsd: minPremiumUsd ?? null };
    const following = await largeTradesFollowing(context, filter, live);
    return trackOf(store, (view) => replayedLargeTrades(view, wish), following, event);
  }
  const symbol = symbolOf(topic);
  if (kind === 'bars') {
    const following = await barsFollowing(context, { symbol, timeframe: topic.timeframe ?? '1m' }, live);
    return trackOf(store, barTopics, following, event);
  }
  if (kind === 'gex') {
    checkTop(topStrikes, 'topStrikes');
    const following = await gexFollowing(context, symbol, live);
    return trackOf(store, gexTopics, following, event);
  }
  if (kind === 'chain') {
    const following = await chainFollowing(context, symbol, live);
    return trackOf(store, chainTopics, following, event);
  }
  const following = await crossSectionFollowing(context, symbol, live);
  return trackOf(store, crossSectionTopics, following, event);
}

/** The tracks of topics: one of all quotes, then the others in order. */
async function tracksOf(context: RequestContext, topics: readonly ReplayTopic[]): Promise<Track<ReplayEvent>[]> {
  const quotes = topics.filter(({ kind }) => kind === 'quotes').map(symbolOf);
  const others = topics.filter(({ kind }) => kind !== 'quotes');
  if (topics.length === 0) throw invalidParameter('topics', 'expected at least one topic');
  if (others.length > mostTopics)
    throw invalidParameter('topics', `at most ${mostTopics} topics beside quotes, got ${others.length}`);
  // Bars that have ended by an instant are known then, as below asOf. A standby has all that is older than a request.
  const store = { ...context.sharedStore, endedBarsOnly: true };
  const tracks: Track<ReplayEvent>[] = [];
  if (quotes.length > 0) {
    const following = await quotesFollowing(context, quotes);
    tracks.push(trackOf(store, quoteTopics, following, (value) => ({ kind: 'quotes', value, topStrikes: null })));
  }
  for (const topic of others) tracks.push(await trackOfTopic(context, store, topic));
  return tracks;
}

/**
 * Replays topics: sends what their live subscriptions do, at the pace of the time of the events. Throws as those do,
 * and 400 for a window or speed that is not served.
 */
export async function replay(asked: RequestContext, args: ReplayArgs): Promise<Replay<ReplayEvent>> {
  const window = replayWindow(asked, args);
  const { after, live } = asked;
  const tracks = await tracksOf({ ...asked, after: null }, args.topics);
  const toll = tollOf(asked, args.topics.length);
  return new Replay({ tracks, ...window, pace: live.pace, after, toll });
}
