import { requireFlow } from '../../access/entitlement/entitlement.ts';
import { invalidParameter } from '../../domain/failure.ts';
import { coverageAt } from '../../domain/flow/coverage.ts';
import type { EventKey } from '../../domain/flow/event-id.ts';
import type { FlowEvent, LargeTrade } from '../../domain/flow/flow.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { batched } from '../../runtime/batched.ts';
import {
  findLargeTrades,
  type LargeTradeFilter,
  readAllLargeTrades,
  readLargeTrades,
} from '../../store/flow/events.ts';
import { fromSource, type RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta, sessionPlane } from '../response-meta.ts';
import { feedStartMs, flowRetention, requireFlowFilter, requireFlowOf } from './flow.ts';

/** Events an answer holds: the default, the most for a site session, the most for an API key (spec 4.8). */
export const largeTradeLimits = { default: 100, max: 200, keyMax: 100 };

export interface LargeTradesArgs {
  symbol?: string | null | undefined;
  session?: SessionDate | null | undefined;
  minPremiumUsd?: number | null | undefined;
  limit?: number | null | undefined;
}

export interface LargeTradesMeta extends ResponseMeta {
  count: number;
  /** The limit in force. */
  limit: number;
  retention: string;
  /** True if a larger limit was requested; null otherwise. */
  limitClamped: true | null;
}

export interface LargeTradesPage {
  events: LargeTrade[];
  meta: LargeTradesMeta;
}

async function tradesOf(context: RequestContext, symbol: string, filter: LargeTradeFilter): Promise<LargeTrade[]> {
  const found = await batched(context, `large-trades ${JSON.stringify(filter)}`, symbol, (symbols) =>
    readLargeTrades(context.store, symbols, filter),
  );
  return found!;
}

/** Detected large trades, newest first, of one underlying or of all (spec 4.8). */
export async function largeTrades(context: RequestContext, args: LargeTradesArgs): Promise<LargeTradesPage> {
  const { symbol = null, session = null, minPremiumUsd = null } = args;
  requireFlow(context.caller);
  if (args.limit != null && args.limit < 1) throw invalidParameter('limit', 'expected 1 or more');
  requireFlowFilter(context, args);
  if (symbol !== null) await requireFlowOf(context, symbol);
  const max = context.caller.kind === 'key' ? largeTradeLimits.keyMax : largeTradeLimits.max;
  const clamped = (args.limit ?? 0) > max;
  const limit = Math.min(args.limit ?? largeTradeLimits.default, max);
  const fromMs = session === null ? feedStartMs(context.nowMs) : null;
  const filter = { session, minPremiumUsd, limit, fromMs, throughMs: context.nowMs };
  const events = await fromSource(context, 'option_tape', () =>
    symbol === null ? readAllLargeTrades(context.store, filter) : tradesOf(context, symbol, filter),
  );
  return {
    events: events.map((event) => ({ ...event, coverage: coverageAt(event.coverage, context.nowMs) })),
    meta: {
      ...responseMeta(context, sessionPlane(session, context.nowMs), clamped ? ['limit_clamped'] : []),
      count: events.length,
      limit,
      retention: flowRetention(session),
      limitClamped: clamped ? true : null,
    },
  };
}

/** The large trade of a key; null if there is none. Those of one answer are read together. */
export async function flowEvent(context: RequestContext, key: EventKey): Promise<FlowEvent | null> {
  await requireFlowOf(context, key.underlying);
  const read = async (keys: readonly EventKey[]) => {
    const trades = await findLargeTrades(context.store, keys, context.nowMs);
    return new Map(trades.map(({ event }) => [event.eventId, event]));
  };
  const readAll = (keys: readonly EventKey[]) => fromSource(context, 'option_tape', () => read(keys));
  return batched(context, 'large trades by id', key, readAll, ({ eventId }) => eventId);
}
