import { requireSymbol } from '../../access/entitlement/entitlement.ts';
import { invalidParameter } from '../../domain/failure.ts';
import type { Store } from '../../store/engine/connection.ts';
import { concerns } from '../../store/engine/subjects.ts';
import { gexCapturesFrom, latestGexCaptures, type StoredGexCapture } from '../../store/gex/captures.ts';
import { findSymbol, type RequestContext, requireSource } from '../context.ts';
import { requireReadable } from '../gex/gex.ts';
import type { LiveEvent, LiveSource } from './source.ts';
import type { TopicKind } from './topics.ts';

/** Captures a reader may have missed and still go on: more than two weeks of them. */
const mostMissed = 1000;

/** How far a symbol's captures were sent. */
export interface GexState {
  /** The latest capture; null if there is none yet. */
  latest: LiveEvent<StoredGexCapture> | null;
}

const eventOf = (capture: StoredGexCapture): LiveEvent<StoredGexCapture> => ({
  value: capture,
  cursor: String(capture.capturedAt),
  slot: `${capture.underlying} ${capture.capturedAt}`,
});

/** Whether a capture of the same instant was made again, and differently. */
function isRemade(a: StoredGexCapture, b: StoredGexCapture): boolean {
  const { strikes: _a, byExpiry: _b, expiries: _c, ...before } = a;
  const { strikes: _d, byExpiry: _e, expiries: _f, ...now } = b;
  return a.capturedAt === b.capturedAt && JSON.stringify(before) !== JSON.stringify(now);
}

function newOf(captures: readonly StoredGexCapture[], before: StoredGexCapture): StoredGexCapture[] {
  return captures.filter((capture) => capture.capturedAt > before.capturedAt || isRemade(before, capture));
}

async function missed(store: Store, symbol: string, after: number, { latest }: GexState) {
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

/** GEX captures as they are made, a topic a symbol. */
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
          // Nobody followed before: the first event is sent on joining.
          return [symbol, { state: { latest }, events: before === null ? [] : events }];
        }),
      );
    },
    first: ({ latest }) => (latest ? [latest] : []),
    cursor: ({ latest }) => latest?.cursor ?? '0',
  };
}

/** A symbol's captures: the latest, then each as it is made, or made again. 403 when the symbol may not be read. */
export async function followGex(context: RequestContext, symbol: string): Promise<LiveSource<StoredGexCapture>> {
  await requireReadable(context, symbol);
  requireSource(context, 'chain');
  const { after } = context;
  if (after !== null && !/^\d{1,15}$/.test(after))
    throw invalidParameter('after', 'expected the time of a capture, epoch ms');
  return context.live.gex.follow({
    keys: [symbol],
    resume:
      after === null ? null : { after, read: (state) => missed(context.live.store, symbol, Number(after), state) },
    async check(caller) {
      const entry = await findSymbol(context, symbol);
      if (entry) requireSymbol(caller, entry);
    },
  });
}
