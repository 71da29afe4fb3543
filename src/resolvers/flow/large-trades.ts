import { requireFlow } from '../../access/entitlement/entitlement.ts';
import { contractId, type OptionContract, type OptionRight } from '../../core/domain/chain/option-contract.ts';
import type { EventId } from '../../core/domain/flow/event-id.ts';
import type { FlowEvent, FlowEventKind, FlowSide, LargeTrade, LargeTradesTotal } from '../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { feedKey, parsePosition, readBetween, tradesSince, type Wish } from '../../live/large-trades.ts';
import type { Following } from '../../live/topics.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import {
  type EventPosition,
  findLargeTrades,
  type LargeTradesOf,
  readAllLargeTrades,
  readLargeTrades,
  readLargeTradeTotals,
  type TradesOf,
} from '../../store/flow/events.ts';
import type { FeedStep } from '../../store/flow/feed-pages.ts';
import { fromSource, type RequestContext, requireSource, underlyingOf } from '../context.ts';
import { foreignCursor, ofInstant, readCursor, writeCursor } from '../cursor.ts';
import { coverageAsOf } from '../publication.ts';
import { printPlane, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { resumption, type Since } from '../since.ts';
import { flowSource, sourcesOfRows } from '../source-keys.ts';
import { feedStartMs, flowRetention, requireFlowFilter, requireFlowOf } from './flow.ts';

/**
 * Number of events in an answer: the default, the maximum for a site session, the maximum for an API key (spec 4.8).
 */
export const largeTradeLimits = { default: 100, max: 200, keyMax: 100 };

/** Filters of large trades of any underlying. */
interface LargeTradesArgs {
  session?: SessionDate | null | undefined;
  minPremiumUsd?: number | null | undefined;
  limit?: number | null | undefined;
}

/** Filters of large trades of one underlying. */
interface LargeTradesOfArgs extends LargeTradesArgs {
  kind?: FlowEventKind | null | undefined;
  side?: FlowSide | null | undefined;
  right?: OptionRight | null | undefined;
  expiry?: SessionDate | null | undefined;
  cursor?: string | null | undefined;
}

export interface LargeTradesMeta extends ResponseMeta {
  count: number;
  /** The limit in force. */
  limit: number;
  retention: string;
  /** True if a larger limit was requested; null otherwise. */
  limitClamped: true | null;
  /** Cursor of the next page; null at the end, and for those of all underlyings. */
  cursor: string | null;
  /** Reads the totals over all pages; null for those of all underlyings. */
  total: () => Promise<LargeTradesTotal> | null;
}

export interface LargeTradesPage {
  events: LargeTrade[];
  meta: LargeTradesMeta;
}

function limitOf({ caller }: RequestContext, { limit }: LargeTradesArgs): { limit: number; clamped: boolean } {
  if (limit != null && limit < 1) throw invalidParameter('limit', 'expected 1 or more');
  const max = caller.kind === 'key' ? largeTradeLimits.keyMax : largeTradeLimits.max;
  return { limit: Math.min(limit ?? largeTradeLimits.default, max), clamped: (limit ?? 0) > max };
}

function filterOf({ nowMs }: RequestContext, { session = null, minPremiumUsd = null }: LargeTradesArgs) {
  return { session, minPremiumUsd, fromMs: session === null ? feedStartMs(nowMs) : null, throughMs: nowMs };
}

async function pageOf(
  context: RequestContext,
  args: LargeTradesArgs,
  found: { events: LargeTrade[] } & Pick<LargeTradesMeta, 'cursor' | 'total'>,
): Promise<LargeTradesPage> {
  const { limit, clamped } = limitOf(context, args);
  const session = args.session ?? null;
  return {
    events: found.events.map((event) => ({ ...event, coverage: coverageAsOf(context, event.coverage) })),
    meta: {
      ...responseMeta(context, await printPlane(context, session), clamped ? ['limit_clamped'] : [], () =>
        sourcesOfRows(
          found.events.map(({ symbol, coverage }) => ({ symbol, sessionDate: coverage.sessionDate })),
          flowSource,
        ),
      ),
      count: found.events.length,
      limit,
      retention: flowRetention(session),
      limitClamped: clamped ? true : null,
      cursor: found.cursor,
      total: found.total,
    },
  };
}

// The list that a cursor continues.
function boundTo({ underlying, contract }: TradesOf, filter: LargeTradesOf): readonly string[] {
  const { session, minPremiumUsd, kind, side, right, expiry } = filter;
  const list = ['large-trades', underlying, JSON.stringify([session, minPremiumUsd, kind, side, right, expiry])];
  return contract === null ? list : [...list, contract];
}

function positionOf(cursor: string, bound: readonly (string | number)[]): EventPosition {
  const match = /^(\d{1,15}) (\d{1,15}) (\S{1,100})$/.exec(readCursor(cursor, bound));
  if (!match) throw foreignCursor();
  return { eventTsMs: Number(match[1]), seq: Number(match[2]), eventId: match[3]! };
}

/** Detected large trades of a contract, alone or with other legs, newest first. */
export async function largeTradesOfContract(
  context: RequestContext,
  contract: OptionContract,
  args: Omit<LargeTradesOfArgs, 'right' | 'expiry'>,
): Promise<LargeTradesPage> {
  requireFlow(context.caller);
  return largeTradesOf(context, await underlyingOf(context, contract), args, contractId(contract));
}

/** Detected large trades of an underlying, newest first; of one contract if its id is given. */
export async function largeTradesOf(
  context: RequestContext,
  symbol: string,
  args: LargeTradesOfArgs,
  contract: string | null = null,
): Promise<LargeTradesPage> {
  requireFlow(context.caller);
  const { limit } = limitOf(context, args);
  requireFlowFilter(context, { ...args, symbol });
  await requireFlowOf(context, symbol);
  const { kind = null, side = null, right = null, expiry = null, cursor = null } = args;
  const filter: LargeTradesOf = { ...filterOf(context, args), kind, side, right, expiry };
  const of = { underlying: symbol, contract };
  const bound = [...boundTo(of, filter), ...ofInstant(context)];
  const after = cursor === null ? null : positionOf(cursor, bound);
  const name = JSON.stringify([filter, limit, after]);
  const read = () =>
    batched(context, `large-trades ${name}`, of, (asked) =>
      // One more shows whether there is a further page.
      readLargeTrades(context.store, asked, { ...filter, limit: limit + 1, after }),
    );
  const found = await fromSource(context, 'option_tape', read);
  const events = found.slice(0, limit);
  const last = events.at(-1);
  const next = last && `${last.event.eventTsMs} ${last.seq} ${last.event.eventId}`;
  return pageOf(context, args, {
    events,
    cursor: found.length > limit ? writeCursor(next!, bound) : null,
    total: () => fromSource(context, 'option_tape', () => totalOf(context, of, filter)),
  });
}

function totalOf(context: RequestContext, of: TradesOf, filter: LargeTradesOf): Promise<LargeTradesTotal> {
  return batched(context, `large-trade totals ${JSON.stringify(filter)}`, of, (asked) =>
    readLargeTradeTotals(context.store, asked, filter),
  );
}

/** Detected large trades, newest first, of one underlying or of all (spec 4.8). */
export async function largeTrades(
  context: RequestContext,
  { symbol = null, ...args }: LargeTradesArgs & { symbol?: string | null | undefined },
): Promise<LargeTradesPage> {
  if (symbol !== null) return largeTradesOf(context, symbol, args);
  requireFlow(context.caller);
  const { limit } = limitOf(context, args);
  requireFlowFilter(context, args);
  const read = () => readAllLargeTrades(context.store, filterOf(context, args), limit);
  return pageOf(context, args, {
    events: await fromSource(context, 'option_tape', read),
    cursor: null,
    total: () => null,
  });
}

type StoredEvent = EventId & { underlying: string };

/** The large trade with an id; null if there is none. Those of one answer are read together. */
export async function flowEvent(context: RequestContext, id: EventId): Promise<FlowEvent | null> {
  const of = { ...id, underlying: await underlyingOf(context, id) };
  await requireFlowOf(context, of.underlying);
  const read = async (ids: readonly StoredEvent[]) => {
    const keys = ids.flatMap(({ underlying, eventId, sessionDates }) =>
      sessionDates.map((sessionDate) => ({ underlying, eventId, sessionDate })),
    );
    const trades = await findLargeTrades(context.store, keys, context.nowMs);
    // If it is stored under both dates, that of the trade date counts, which is the later one.
    trades.sort((a, b) => (a.coverage.sessionDate < b.coverage.sessionDate ? -1 : 1));
    return new Map(trades.map(({ event }) => [event.eventId, event]));
  };
  const readAll = (ids: readonly StoredEvent[]) => fromSource(context, 'option_tape', () => read(ids));
  return batched(context, 'large trades by id', of, readAll, ({ eventId }) => eventId);
}

/** The filter of large trades. */
interface LargeTradeFilter {
  symbol?: string | null | undefined;
  minPremiumUsd?: number | null | undefined;
}

/**
 * Following large trades as they are detected, of one underlying or of all; a changed one is sent again. 400 and 403 as
 * for the page of them.
 */
export async function largeTradesFollowing(
  context: RequestContext,
  filter: LargeTradeFilter,
  since: Since,
): Promise<Following<FeedStep, LargeTrade>> {
  const wish: Wish = { underlying: filter.symbol ?? null, minPremiumUsd: filter.minPremiumUsd ?? null };
  const check = async (caller: RequestContext['caller']) => {
    requireFlow(caller);
    if (wish.underlying !== null) await requireFlowOf({ ...context, caller }, wish.underlying);
  };
  requireFlow(context.caller);
  requireFlowFilter(context, filter);
  await check(context.caller);
  requireSource(context, 'option_tape');
  const seen = context.after === null ? [] : parsePosition(context.after);
  return {
    keys: [feedKey],
    resume: resumption(context, since, {
      after: (through, _position, store) => readBetween(store, seen, through, wish),
      since: (through, sinceMs, store) => tradesSince(store, sinceMs, through, wish),
    }),
    wants: ({ symbol: underlying, event }) =>
      (wish.underlying === null || underlying === wish.underlying) &&
      (wish.minPremiumUsd === null || event.premiumUsd >= wish.minPremiumUsd),
    check,
  };
}
