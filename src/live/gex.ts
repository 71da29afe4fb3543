import { invalidParameter } from '../platform/wire/failure.ts';
import { captureTimes, firstCaptureTime } from '../store/chain/session-captures.ts';
import { gexCapturesFrom, latestGexCaptures, type StoredGexCapture } from '../store/gex/captures.ts';
import type { Store } from '../store/rows/connection.ts';
import { concerns } from '../store/versions/subjects.ts';
import { captureInstants } from './replay-instants.ts';
import { type LiveEvent, requireHeld, tooEarly } from './source.ts';
import type { TopicKind } from './topics.ts';

/** Maximum number of missed captures with which a reader may resume: more than two weeks of them. */
const mostMissed = 1000;

/** State of a symbol's sent captures. */
export interface GexState {
  /** The latest capture; null if there is none yet. */
  latest: LiveEvent<StoredGexCapture> | null;
}

const eventOf = (capture: StoredGexCapture): LiveEvent<StoredGexCapture> => ({
  value: capture,
  cursor: String(capture.capturedAt),
  slot: `${capture.underlying} ${capture.capturedAt}`,
});

/** True if a capture of the same instant was recomputed with a different result. */
function isRemade(a: StoredGexCapture, b: StoredGexCapture): boolean {
  const { strikes: _a, byExpiry: _b, expiries: _c, ...before } = a;
  const { strikes: _d, byExpiry: _e, expiries: _f, ...now } = b;
  return a.capturedAt === b.capturedAt && JSON.stringify(before) !== JSON.stringify(now);
}

function newOf(captures: readonly StoredGexCapture[], before: StoredGexCapture): StoredGexCapture[] {
  return captures.filter((capture) => capture.capturedAt > before.capturedAt || isRemade(before, capture));
}

/** As `missed`, by an instant, epoch ms. Throws 400 naming the first instant that is served. */
export async function capturesSince(store: Store, symbol: string, sinceMs: number, state: GexState) {
  const { latest } = state;
  if (latest === null) return [];
  requireHeld(sinceMs, await firstCaptureTime(store, symbol), 'captures');
  const times = await captureTimes(store, 'gex', symbol, sinceMs + 1, latest.value.capturedAt + 1);
  if (times.length > mostMissed)
    throw tooEarly(times.at(-mostMissed)! - 1, `more than ${mostMissed} captures followed`);
  return missed(store, symbol, sinceMs, state);
}

/** The captures missed by a client that received those up to `after`. */
export async function missed(store: Store, symbol: string, after: number, { latest }: GexState) {
  if (latest === null || latest.value.capturedAt <= after) return [];
  const from = new Map([[symbol, after + 1]]);
  const captures = await gexCapturesFrom(store, from, latest.value.capturedAt, mostMissed + 1);
  const found = captures.get(symbol) ?? [];
  if (found.length > mostMissed)
    throw invalidParameter(
      'after',
      `more than ${mostMissed} captures were missed; start a new stream, and read them with the history query`,
    );
  return found.map((capture) => (capture.capturedAt === latest.value.capturedAt ? latest : eventOf(capture)));
}

/** Live GEX captures, one topic per symbol. */
export function gexTopics(store: Store): TopicKind<GexState, StoredGexCapture> {
  return {
    dataset: 'chain',
    queued: 'all',
    concerns: (symbol, change) => concerns(change, 'gex', symbol),
    async read(topics, nowMs) {
      const unknown = [...topics].filter(([, state]) => !state?.latest).map(([symbol]) => symbol);
      const known = [...topics].flatMap(([symbol, state]) =>
        state?.latest ? [[symbol, state.latest.value.capturedAt] as const] : [],
      );
      const [first, later] = await Promise.all([
        unknown.length === 0 ? null : latestGexCaptures(store, unknown, nowMs, { byExpiry: false }),
        known.length === 0 ? null : gexCapturesFrom(store, new Map(known), nowMs, mostMissed),
      ]);
      return new Map(
        [...topics].map(([symbol, before]) => {
          const found = first?.get(symbol);
          const captures = before?.latest ? newOf(later?.get(symbol) ?? [], before.latest.value) : found ? [found] : [];
          const events = captures.map(eventOf);
          const latest = events.at(-1) ?? before?.latest ?? null;
          // Without earlier subscribers, the first event is sent on joining.
          return [symbol, { state: { latest }, events: before === null ? [] : events }];
        }),
      );
    },
    instants: (symbols, fromMs, toMs) => captureInstants(store, 'gex', symbols, fromMs, toMs),
    first: ({ latest }) => (latest ? [latest] : []),
    cursor: ({ latest }) => latest?.cursor ?? '0',
  };
}
