import type { ChainCapture } from '../domain/chain/chain.ts';
import type { CrossSection, LargeTrade } from '../domain/flow/flow.ts';
import type { StockBar } from '../domain/market/bar.ts';
import type { Quote } from '../domain/market/quote.ts';
import type { FeedStep } from '../store/flow/feed-pages.ts';
import type { StoredGexCapture } from '../store/gex/captures.ts';
import type { Store } from '../store/rows/connection.ts';
import type { Changes } from '../store/versions/changes.ts';
import { anyChange } from '../store/versions/subjects.ts';
import type { Failure } from '../wire/failure.ts';
import type { OpenStream } from '../wire/open-stream.ts';
import { type BarState, barTopics } from './bars.ts';
import { type ChainState, chainTopics } from './chains.ts';
import { type CrossSectionState, crossSectionTopics } from './cross-sections.ts';
import { type GexState, gexTopics } from './gex.ts';
import { largeTradeTopics } from './large-trades.ts';
import { type QuoteState, quoteTopics } from './quotes.ts';
import { shutdownEnd } from './source.ts';
import { Topics } from './topics.ts';

/** Live events of a process: each topic is read once for all its subscribers. */
export interface LiveHub {
  /** Followed data is read from here: the primary, since a standby may lack what was already sent. */
  store: Store;
  quotes: Topics<QuoteState, Quote>;
  bars: Topics<BarState, StockBar>;
  gex: Topics<GexState, StoredGexCapture>;
  chains: Topics<ChainState, ChainCapture>;
  largeTrades: Topics<FeedStep, LargeTrade>;
  crossSections: Topics<CrossSectionState, CrossSection>;
  /** Takes a stream into care, until the returned function is called. Throws 503 when the hub is closed. */
  attach(stream: OpenStream): () => void;
  /** Streams open, and topics followed. */
  counts(): { streams: number; topics: number };
  /**
   * The server stops: ends every stream, and each further one shortly after it is opened, so that its client connects
   * elsewhere.
   */
  drain(): void;
  /** Ends every stream and follows nothing any more; a second time does nothing. */
  close(): void;
}

/** Runs `work` at this interval, ms, until the returned function is called. */
export type Every = (ms: number, work: () => void) => () => void;

/** Parts of a hub. */
export interface HubParts {
  store: Store;
  now: () => number;
  /** Tells what changed; null = nobody does, and everything is read again at intervals alone. */
  changes: Pick<Changes, 'onChange'> | null;
  every?: Every;
  /** Called for reads that failed, which are retried. */
  onError: (failure: Failure) => void;
}

/** Interval at which a stream says that it is alive, ms. */
export const beatMs = 15_000;
/** Interval at which a stream's caller is checked again, ms. */
export const recheckMs = 2_000;
/**
 * Interval at which followed topics are read without a notification, ms: what was stored ahead of the clock comes due,
 * and a session begins.
 */
export const sweepMs = 2_000;

/**
 * Life of a stream that is opened while the server stops, ms: its client sees it begin, and gets the reason of its end.
 */
const drainingMs = 250;

/** By the system's clock, keeping no process alive. */
const systemEvery: Every = (ms, work) => {
  const timer = setInterval(work, ms).unref();
  return () => clearInterval(timer);
};

const later = (ms: number, work: () => void) => void setTimeout(work, ms).unref();

/** Opens the hub of a process. */
export function openLiveHub({ store: whole, now, changes, every = systemEvery, onError }: HubParts): LiveHub {
  const store: Store = { ...whole, reader: whole.primary };
  const parts = { now, onError, later };
  const followed = {
    quotes: new Topics(quoteTopics(store), parts),
    bars: new Topics(barTopics(store), parts),
    gex: new Topics(gexTopics(store), parts),
    chains: new Topics(chainTopics(store), parts),
    largeTrades: new Topics(largeTradeTopics(store), parts),
    crossSections: new Topics(crossSectionTopics(store), parts),
  };
  const kinds = Object.values(followed);
  const streams = new Set<OpenStream>();
  let draining = false;
  let closed = false;
  let rechecking = false;

  async function recheck(): Promise<void> {
    if (rechecking) return;
    rechecking = true;
    // One after the other: what they ask is mostly at hand, and nobody waits for them.
    for (const stream of [...streams]) if (streams.has(stream)) await stream.recheck().catch(() => {});
    rechecking = false;
  }
  const endAll = () => {
    for (const stream of [...streams]) stream.end(shutdownEnd());
  };
  const stops = [
    changes?.onChange((change) => {
      for (const kind of kinds) kind.wake(change);
    }),
    every(sweepMs, () => {
      for (const kind of kinds) kind.wake(anyChange);
    }),
    every(recheckMs, () => void recheck()),
    every(beatMs, () => {
      for (const stream of streams) stream.beat();
    }),
  ];

  return {
    store,
    ...followed,
    attach(stream) {
      if (closed) throw shutdownEnd().failure;
      streams.add(stream);
      if (draining) later(drainingMs, () => stream.end(shutdownEnd()));
      return () => void streams.delete(stream);
    },
    counts: () => ({ streams: streams.size, topics: kinds.reduce((sum, kind) => sum + kind.count(), 0) }),
    drain() {
      draining = true;
      endAll();
    },
    close() {
      closed = true;
      for (const stop of stops) stop?.();
      endAll();
    },
  };
}
