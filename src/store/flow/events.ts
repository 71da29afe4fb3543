import { tradeSpan } from '../../core/domain/calendar.ts';
import { type OptionRight, readOptionContract } from '../../core/domain/chain/option-contract.ts';
import type { EventKey } from '../../core/domain/flow/event-id.ts';
import type {
  FlowEvent,
  FlowEventKind,
  FlowLeg,
  FlowSide,
  LargeTrade,
  LargeTradesTotal,
} from '../../core/domain/flow/flow.ts';
import { addDays, exchangeInstant, type SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { copyEncoded, copyRows } from '../rows/copied-rows.ts';
import { anyOf, findAny } from '../rows/models/any-of.ts';
import { columnTypes, plainFields } from '../rows/models/columns.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { findRows } from '../rows/models/sets.ts';
import { requiredPart } from '../rows/required-part.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type EncodedEvents, eventRow, feedEntries, legRows } from './event-rows.ts';
import { enterFeed } from './feed.ts';
import { coverageColumns, coverageKey, coverageOf, coveragesOf } from './sessions.ts';

/** Filter of large trades. */
interface LargeTradeFilter {
  /** Null = every stored session. */
  session: SessionDate | null;
  /** Minimum total premium, dollars; null = any. */
  minPremiumUsd: number | null;
  /** Start of the range, epoch ms; null = none. */
  fromMs: number | null;
  /** End of the range, inclusive, epoch ms. */
  throughMs: number;
}

/** Filter of an underlying's large trades. */
export interface LargeTradesOf extends LargeTradeFilter {
  /** Null = any. */
  kind: FlowEventKind | null;
  side: FlowSide | null;
  /** Right and expiration that a single leg must have; null = any. */
  right: OptionRight | null;
  expiry: SessionDate | null;
}

/** The position of an event among those of its underlying, newest first. */
export interface EventPosition {
  eventTsMs: number;
  seq: number;
  eventId: string;
}

/** Those whose large trades are read. */
export interface TradesOf {
  underlying: string;
  /** Id of a contract that a leg must have; null = any. */
  contract: string | null;
}

/** A page of the large trades of each underlying or contract. */
interface LargeTradesPage extends LargeTradesOf {
  /** Maximum number of events of each. */
  limit: number;
  /** Returns only events after this position; null = from the newest. */
  after: EventPosition | null;
}

type EventRow = Row<'FlowEvent'>;
/** A stored event with its coverage. */
type CoveredEvent = EventRow & Row<'FlowCoverage'>;

/** The columns of an event and its coverage that a statement reads. */
export const eventColumns = { ...columnTypes('FlowEvent'), ...coverageColumns };

const eventFields = plainFields('FlowEvent');

const eventKey = ({ underlying, sessionDate, eventId }: EventKey) => `${underlying} ${sessionDate} ${eventId}`;

function legOf({ contract: id, legIndex: _, underlying, sessionDate, eventId, ...leg }: LegRow): FlowLeg {
  const contract = readOptionContract(id);
  if (!contract) throw new RangeError(`leg of ${eventId} has no option contract: ${id}`);
  return { ...leg, contract, side: leg.side as FlowSide, conditions: [...leg.conditions] };
}

type LegRow = Row<'FlowLeg'>;
const legFields = [
  'underlying',
  'sessionDate',
  'eventId',
  'legIndex',
  'contract',
  'price',
  'size',
  'premiumUsd',
  'exchange',
  'conditions',
  'eventTsMs',
  'sequence',
  'side',
  'multiLeg',
] as const;

async function legsOf(store: Store, events: readonly EventRow[]): Promise<Map<string, FlowLeg[]>> {
  const legs = new Map<string, FlowLeg[]>(events.map((event) => [eventKey(event), []]));
  const keys = { by: ['underlying', 'sessionDate', 'eventId'] as const, keys: events };
  const from = readFrom(store, 'flow', new Set(events.map(({ underlying }) => underlying)));
  const rows = await findRows(from, 'FlowLeg', keys, legFields);
  rows.sort((a, b) => a.legIndex - b.legIndex);
  for (const row of rows) requiredPart(legs, eventKey(row), 'event').push(legOf(row));
  return legs;
}

/** The event of a row, without its legs. */
function eventOf(row: CoveredEvent): Omit<FlowEvent, 'legs'> {
  const { sessionDate: _, seq: _seq, ...event } = Object.fromEntries(eventFields.map((field) => [field, row[field]]));
  return event as unknown as Omit<FlowEvent, 'legs'>;
}

/** Stored events with their legs, in order. One statement. */
export async function largeTradesOf(store: Store, events: readonly CoveredEvent[]): Promise<LargeTrade[]> {
  const legs = await legsOf(store, events);
  return events.map((row) => {
    const event = { ...eventOf(row), legs: requiredPart(legs, eventKey(row), 'event') };
    return { symbol: row.underlying, seq: row.seq, coverage: coverageOf(row), event };
  });
}

const filterParameters = {
  underlyings: 'text[]',
  session: 'text?',
  minPremiumUsd: 'float8?',
  fromMs: 'int8',
  throughMs: 'int8',
  kind: 'text?',
  side: 'text?',
  contracts: 'text[]?',
} as const;

const newest = statement(
  'flow/large-trades',
  { ...filterParameters, afterMs: 'int8?', afterSeq: 'int8?', afterId: 'text?', limit: 'int8' },
  { nth: 'int8', ...eventColumns },
);

const totals = statement('flow/large-trade-totals', filterParameters, {
  nth: 'int8',
  count: 'int8',
  premiumUsd: 'float8',
});

/**
 * The instants that a filter allows, both ends included. A session's events are those of its span, or of its New York
 * date if an earlier release stored them. Without bounds, a past session would make the statement scan all later
 * events, newest first.
 */
function instantsOf({ session, fromMs, throughMs }: LargeTradeFilter): { fromMs: number; throughMs: number } {
  if (session === null) return { fromMs: fromMs ?? 0, throughMs };
  const { fromMs: startMs } = tradeSpan(session);
  const endMs = exchangeInstant(addDays(session, 1)) - 1;
  return { fromMs: Math.max(fromMs ?? 0, startMs), throughMs: Math.min(throughMs, endMs) };
}

/** The parameters of a filter. */
function parametersOf(asked: readonly TradesOf[], { right, expiry, ...filter }: LargeTradesOf) {
  const underlyings = asked.map(({ underlying }) => underlying);
  const any = contractPattern(right, expiry);
  const contracts = asked.map(({ contract }) => contract ?? any);
  return { underlyings, ...filter, ...instantsOf(filter), contracts };
}

/** The LIKE pattern for the ids of contracts with a right and expiration; null for any. */
function contractPattern(right: OptionRight | null, expiry: SessionDate | null): string | null {
  if (right === null && expiry === null) return null;
  const date = expiry === null ? '_'.repeat(6) : expiry.slice(2).replaceAll('-', '');
  const letter = right === null ? '_' : right === 'call' ? 'C' : 'P';
  return `%${date}${letter}${'_'.repeat(8)}`;
}

const underlyingsOf = (asked: readonly TradesOf[]) => new Set(asked.map(({ underlying }) => underlying));

/**
 * The large trades of several underlyings or contracts, newest first, in the order of `asked`: two statements for any
 * number.
 */
export async function readLargeTrades(
  store: Store,
  asked: readonly TradesOf[],
  { limit, after, ...filter }: LargeTradesPage,
): Promise<LargeTrade[][]> {
  const rows = await newest.rows(readFrom(store, 'flow', underlyingsOf(asked)), {
    ...parametersOf(asked, filter),
    afterMs: after?.eventTsMs ?? null,
    afterSeq: after?.seq ?? null,
    afterId: after?.eventId ?? null,
    limit,
  });
  const answer = asked.map((): LargeTrade[] => []);
  for (const [i, trade] of (await largeTradesOf(store, rows)).entries()) answer[rows[i]!.nth - 1]!.push(trade);
  return answer;
}

/** The totals of the large trades of several underlyings or contracts, in their order. One statement. */
export async function readLargeTradeTotals(
  store: Store,
  asked: readonly TradesOf[],
  filter: LargeTradesOf,
): Promise<LargeTradesTotal[]> {
  const rows = await totals.rows(readFrom(store, 'flow', underlyingsOf(asked)), parametersOf(asked, filter));
  const answer = asked.map((): LargeTradesTotal => ({ count: 0, premiumUsd: 0 }));
  for (const { nth, ...total } of rows) answer[nth - 1] = total;
  return answer;
}

/** Events with their sessions' coverage; an event without coverage is omitted. */
async function withCoverage(store: Store, rows: readonly EventRow[]): Promise<CoveredEvent[]> {
  const coverages = await coveragesOf(readFrom(store, 'flow', new Set(rows.map(({ underlying }) => underlying))), rows);
  return rows.flatMap((row) => {
    const coverage = coverages.get(coverageKey(row));
    return coverage ? [{ ...row, ...coverage }] : [];
  });
}

/** Longest time from the first leg of a large trade to its last, ms. */
export const longestTradeMs = 500;

/** True if the last leg of a large trade was printed by `ms`. */
const isCompleteAt = (ms: number) => (trade: LargeTrade) => trade.event.legs.every((leg) => leg.eventTsMs <= ms);

/** The large trades of all underlyings, newest first. A trade is there from its last leg on. */
export async function readAllLargeTrades(store: Store, filter: LargeTradeFilter, limit: number): Promise<LargeTrade[]> {
  const trades = await readBegunTrades(store, filter, limit);
  const complete = trades.filter(isCompleteAt(instantsOf(filter).throughMs));
  const unfinished = trades.length - complete.length;
  if (unfinished === 0 || trades.length < limit) return complete;
  // As many more are read as were omitted.
  return (await readAllLargeTrades(store, filter, limit + unfinished)).slice(0, limit);
}

/** Large trades that a replay sends. */
interface ReplayedTrades {
  /** Null = any. */
  underlying: string | null;
  /** Dollars; null = any. */
  minPremiumUsd: number | null;
}

const replayed = ({ underlying, minPremiumUsd }: ReplayedTrades, fromMs: number, throughMs: number) => ({
  eventTsMs: { gte: fromMs, lte: throughMs },
  ...(underlying !== null && { underlying }),
  ...(minPremiumUsd !== null && { premiumUsd: { gte: minPremiumUsd } }),
});

/** The times of large trades in [fromMs, throughMs], epoch ms: those of their first legs. */
export async function eventTimes(
  store: Store,
  wanted: ReplayedTrades,
  fromMs: number,
  throughMs: number,
): Promise<number[]> {
  const { prisma } = readFrom(store, 'flow', wanted.underlying === null ? null : [wanted.underlying]);
  const where = replayed(wanted, fromMs, throughMs);
  const rows = await prisma.flowEvent.findMany({ where, select: { eventTsMs: true } });
  return rows.map((row) => numbered(row).eventTsMs);
}

/** The large trades whose last leg was printed in (afterMs, throughMs], epoch ms, oldest first. */
export async function readTradesBetween(
  store: Store,
  wanted: ReplayedTrades,
  afterMs: number,
  throughMs: number,
): Promise<LargeTrade[]> {
  const { prisma } = readFrom(store, 'flow', wanted.underlying === null ? null : [wanted.underlying]);
  const rows = await prisma.flowEvent.findMany({
    where: replayed(wanted, afterMs - longestTradeMs, throughMs),
    orderBy: [{ eventTsMs: 'asc' }, { seq: 'asc' }, { underlying: 'asc' }, { eventId: 'asc' }],
  });
  const trades = await largeTradesOf(store, await withCoverage(store, rows.map(numbered)));
  return trades.filter((trade) => isCompleteAt(throughMs)(trade) && !isCompleteAt(afterMs)(trade));
}

async function readBegunTrades(store: Store, filter: LargeTradeFilter, limit: number): Promise<LargeTrade[]> {
  const { session, minPremiumUsd } = filter;
  const { fromMs, throughMs } = instantsOf(filter);
  const rows = await readFrom(store, 'flow', null).prisma.flowEvent.findMany({
    where: {
      eventTsMs: { gte: fromMs, lte: throughMs },
      ...(session !== null && { sessionDate: session }),
      ...(minPremiumUsd !== null && { premiumUsd: { gte: minPremiumUsd } }),
    },
    // The last two make the order unique: sequences count within an underlying.
    orderBy: [{ eventTsMs: 'desc' }, { seq: 'desc' }, { underlying: 'asc' }, { eventId: 'asc' }],
    take: limit,
  });
  return largeTradesOf(store, await withCoverage(store, rows.map(numbered)));
}

/** The stored large trades with these keys, none later than `throughMs`, in any order. */
export async function findLargeTrades(
  store: Store,
  keys: readonly EventKey[],
  throughMs: number,
): Promise<LargeTrade[]> {
  const underlyings = new Set(keys.map(({ underlying }) => underlying));
  const { prisma } = readFrom(store, 'flow', underlyings);
  const ofKeys = {
    underlying: anyOf(underlyings),
    sessionDate: anyOf(keys.map(({ sessionDate }) => sessionDate)),
    eventTsMs: { lte: throughMs },
  };
  const rows = await findAny(
    keys.map(({ eventId }) => eventId),
    (eventId) => prisma.flowEvent.findMany({ where: { ...ofKeys, eventId } }),
  );
  const wanted = new Set(keys.map(eventKey));
  const found = rows.filter((row) => wanted.has(eventKey(row))).map(numbered);
  return (await largeTradesOf(store, await withCoverage(store, found))).filter(isCompleteAt(throughMs));
}

/**
 * Inserts new events, with their legs. `saveCoverages` writes their sessions' coverage, without which they are not
 * read.
 */
export async function saveLargeTrades(tx: Transaction, trades: readonly LargeTrade[]): Promise<void> {
  const events = trades.map(({ coverage: { sessionDate }, ...trade }) => ({ ...trade, sessionDate }));
  await copyRows(tx, 'FlowEvent', events.map(eventRow));
  await copyRows(
    tx,
    'FlowLeg',
    events.flatMap((event) => [...legRows(event)]),
  );
  await enterFeed(
    tx,
    events.map((event) => ({ ...event, ...feedEntries([event]) })),
  );
}

/** Like `saveLargeTrades`. */
export async function saveEncodedEvents(tx: Transaction, sessions: readonly EncodedEvents[]): Promise<void> {
  await copyEncoded(
    tx,
    'FlowEvent',
    sessions.map(({ events }) => events),
  );
  await copyEncoded(
    tx,
    'FlowLeg',
    sessions.map(({ legs }) => legs),
  );
  await enterFeed(tx, sessions);
}

/** An underlying's session, and its events with a leg of unknown side. */
interface UnsidedSession {
  underlying: string;
  session: SessionDate;
  eventIds: string[];
}

/**
 * Events with a leg of unknown side that has one of these conditions, by underlying and session, in order; only of
 * sessions in which some leg has a side, because those were read with quotes.
 */
export async function unsidedSessions({ primary }: Store, conditions: readonly number[]): Promise<UnsidedSession[]> {
  const legs = await primary.prisma.flowLeg.findMany({
    where: { side: 'unknown', conditions: { hasSome: [...conditions] } },
    select: { underlying: true, sessionDate: true, eventId: true },
    orderBy: [{ sessionDate: 'asc' }, { underlying: 'asc' }, { eventId: 'asc' }],
  });
  const sided = await primary.prisma.flowLeg.findMany({
    where: { side: { not: 'unknown' } },
    distinct: ['underlying', 'sessionDate'],
    select: { underlying: true, sessionDate: true },
  });
  const withQuotes = new Set(sided.map(({ underlying, sessionDate }) => `${sessionDate} ${underlying}`));
  const bySession = Map.groupBy(legs, ({ underlying, sessionDate }) => `${sessionDate} ${underlying}`);
  return [...bySession]
    .filter(([key]) => withQuotes.has(key))
    .map(([, [first, ...more]]) => ({
      underlying: first!.underlying,
      session: first!.sessionDate,
      eventIds: [...new Set([first!, ...more].map(({ eventId }) => eventId))],
    }));
}
