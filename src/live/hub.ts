import type { ChainCapture } from '../core/domain/chain/chain.ts';
import type { CrossSection, LargeTrade } from '../core/domain/flow/flow.ts';
import type { StockBar } from '../core/domain/market/bar.ts';
import type { Quote } from '../core/domain/market/quote.ts';
import type { Failure } from '../platform/wire/failure.ts';
import type { OpenStream } from '../platform/wire/open-stream.ts';
import type { FeedStep } from '../store/flow/feed-pages.ts';
import type { StoredGexCapture } from '../store/gex/captures.ts';
import type { Store } from '../store/rows/connection.ts';
import type { Changes } from '../store/versions/announcements.ts';
import { readsOf } from '../store/versions/reads.ts';
import { anyChange, type Change } from '../store/versions/subjects.ts';
import { type BarState, barTopics } from './bars.ts';
import { type ChainState, chainTopics } from './chains.ts';
import { type CrossSectionState, crossSectionTopics } from './cross-sections.ts';
import { type GexState, gexTopics } from './gex.ts';
import { largeTradeTopics } from './large-trades.ts';
import { type QuoteState, quoteTopics } from './quotes.ts';
import { shutdownEnd } from './source.ts';
import { type TopicKind, Topics } from './topics.ts';

/** The clock by which replays are paced. */
export interface Pace {
  /** Milliseconds since any instant. */
  now(): number;
  /** Runs `work` after this many ms, unless the returned function is called before. */
  later(ms: number, work: () => void): () => void;
}

/** Longest time that a timer takes, ms. */
const longestMs = 60_000;

/** The system's clock, which is never set back, and its timers, which keep no process alive. */
const systemPace: Pace = {
  now: () => performance.now(),
  later(ms, work) {
    const timer = setTimeout(work, Math.min(Math.ceil(ms), longestMs)).unref();
    return () => clearTimeout(timer);
  },
};

/** Runs `work` at this interval, ms, until the returned function is called. */
export type Every = (ms: number, work: () => void) => () => void;

/** Parts of a hub. */
export interface HubParts {
  store: Store;
  now: () => number;
  /** Source of change notifications; null = none, so everything is read at intervals only. */
  changes: Pick<Changes, 'onChange'> | null;
  every?: Every;
  /** The clock of replays. */
  pace?: Pace;
  /** Called for failed reads, which are retried. */
  onError: (failure: Failure) => void;
}

/** Interval of a stream's heartbeats, ms. */
export const beatMs = 15_000;
/** Interval at which a stream's caller is checked again, ms. */
export const recheckMs = 2_000;
/**
 * Interval at which followed topics are read without a notification, ms: data stored ahead of the clock becomes due,
 * and sessions begin.
 */
export const sweepMs = 2_000;

/** Lifetime of a stream opened during shutdown, ms: its client sees it begin, and gets the reason of its end. */
const drainingMs = 250;

/** The system's timers, which keep no process alive. */
const systemEvery: Every = (ms, work) => {
  const timer = setInterval(work, ms).unref();
  return () => clearInterval(timer);
};

const later = (ms: number, work: () => void) => void setTimeout(work, ms).unref();

/** Live events of a process: each topic is read once for all its subscribers. */
export class LiveHub {
  /** Followed data is read from here: the primary, since a standby may lack what was already sent. */
  readonly store: Store;
  readonly quotes: Topics<QuoteState, Quote>;
  readonly bars: Topics<BarState, StockBar>;
  readonly gex: Topics<GexState, StoredGexCapture>;
  readonly chains: Topics<ChainState, ChainCapture>;
  readonly largeTrades: Topics<FeedStep, LargeTrade>;
  readonly crossSections: Topics<CrossSectionState, CrossSection>;
  readonly pace: Pace;
  readonly #streams = new Set<OpenStream>();
  readonly #stops: readonly (() => void)[];
  #isDraining = false;
  #isClosed = false;
  #isRechecking = false;

  constructor({ store: whole, now, changes, every = systemEvery, pace = systemPace, onError }: HubParts) {
    const store: Store = { ...whole, reader: whole.primary, replicas: null };
    this.store = store;
    this.pace = pace;
    // Each kind reads what is of one commit.
    const topics = <S, T>(kindOf: (store: Store) => TopicKind<S, T>) => {
      const { store: view, ofOneCommit } = readsOf(store);
      return new Topics(kindOf(view), { now, onError, later, ofOneCommit });
    };
    this.quotes = topics(quoteTopics);
    this.bars = topics(barTopics);
    this.gex = topics(gexTopics);
    this.chains = topics(chainTopics);
    this.largeTrades = topics(largeTradeTopics);
    this.crossSections = topics(crossSectionTopics);
    this.#stops = [
      changes?.onChange((change) => this.#wake(change)) ?? (() => {}),
      every(sweepMs, () => this.#wake(anyChange)),
      every(recheckMs, () => void this.#recheck()),
      every(beatMs, () => {
        for (const stream of this.#streams) stream.beat();
      }),
    ];
  }

  /** Takes a stream into care, until the returned function is called. Throws 503 when the hub is closed. */
  attach(stream: OpenStream): () => void {
    if (this.#isClosed) throw shutdownEnd().failure;
    this.#streams.add(stream);
    if (this.#isDraining) later(drainingMs, () => stream.end(shutdownEnd()));
    return () => void this.#streams.delete(stream);
  }

  /** Streams open, and topics followed. */
  counts(): { streams: number; topics: number } {
    return { streams: this.#streams.size, topics: this.#topics().reduce((sum, topics) => sum + topics.count(), 0) };
  }

  /**
   * The server stops: ends every stream, and each further one shortly after it is opened, so that its client connects
   * elsewhere.
   */
  drain(): void {
    this.#isDraining = true;
    this.#endAll();
  }

  /** Ends every stream and follows nothing any more; a second time does nothing. */
  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#endAll();
  }

  #topics() {
    return [this.quotes, this.bars, this.gex, this.chains, this.largeTrades, this.crossSections] as const;
  }

  #wake(change: Change): void {
    for (const topics of this.#topics()) topics.wake(change);
  }

  async #recheck(): Promise<void> {
    if (this.#isRechecking) return;
    this.#isRechecking = true;
    // One after the other: what they ask is mostly at hand, and nobody waits for them.
    for (const stream of [...this.#streams]) if (this.#streams.has(stream)) await stream.recheck().catch(() => {});
    this.#isRechecking = false;
  }

  #endAll(): void {
    for (const stream of [...this.#streams]) stream.end(shutdownEnd());
  }
}
