import type { FlowEventKind, FlowLeg, FlowSide, LargeTrade } from '../domain/flow.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { contractId, readOptionContract } from '../domain/option-contract.ts';
import { readFrom, type Store } from './connection.ts';
import { type CopyValue, copyInto } from './copy.ts';
import { type CoverageFields, coverageColumns, coverageOf } from './flow-coverage.ts';
import { enterFeed } from './flow-feed.ts';
import type { Transaction } from './transaction.ts';

/** Which large trades are wanted. */
export interface LargeTradeFilter {
  /** Null = every session held. */
  session: SessionDate | null;
  /** Least total premium, dollars; null = any. */
  minPremiumUsd: number | null;
  /** Events at most, of each underlying asked for. */
  limit: number;
  /** Nothing later is read. */
  throughMs: number;
}

/** A stored event with its coverage. */
export interface EventRow extends CoverageFields {
  underlying: string;
  event_id: string;
  seq: number;
  event_kind: FlowEventKind;
  event_ts_ms: number;
  total_size: number;
  premium_usd: number;
  price_low: number;
  price_high: number;
  side: FlowSide;
  multi_leg: boolean;
}

interface LegRow {
  underlying: string;
  session_date: string;
  event_id: string;
  contract: string;
  price: number;
  size: number;
  premium_usd: number;
  exchange: number;
  conditions: number[];
  event_ts_ms: number;
  sequence: number;
  side: FlowSide;
  multi_leg: boolean;
}

// Newest first. The last two make the order one and only: sequences count within an underlying.
const order = (e: string) => `${e}.event_ts_ms DESC, ${e}.seq DESC, ${e}.underlying, ${e}.event_id`;
const wanted = (first: number) =>
  `($${first}::text IS NULL OR e.session_date = $${first}) AND ($${first + 1}::float8 IS NULL OR e.premium_usd >= $${first + 1})
   AND e.event_ts_ms <= $${first + 2}`;
/** What is read of an event `e` and its coverage `c`. */
export const eventColumns = `e.underlying, e.session_date, e.event_id, e.seq, e.event_kind, e.event_ts_ms, e.total_size, e.premium_usd,
  e.price_low, e.price_high, e.side, e.multi_leg, ${coverageColumns}`;
/** Joins an event's coverage: without it the event is not read. */
export const covered = 'JOIN flow_coverage c ON c.underlying = e.underlying AND c.session_date = e.session_date';

function eventKey(row: { underlying: string; session_date: string; event_id: string }): string {
  return `${row.underlying} ${row.session_date} ${row.event_id}`;
}

function legOf(row: LegRow): FlowLeg {
  const contract = readOptionContract(row.contract);
  if (!contract) throw new RangeError(`leg of ${row.event_id} has no option contract: ${row.contract}`);
  return {
    contract,
    price: row.price,
    size: row.size,
    premiumUsd: row.premium_usd,
    exchange: row.exchange,
    conditions: row.conditions,
    eventTsMs: row.event_ts_ms,
    sequence: row.sequence,
    side: row.side,
    multiLeg: row.multi_leg,
  };
}

async function legsOf(store: Store, events: readonly EventRow[]): Promise<Map<string, FlowLeg[]>> {
  const legs = new Map<string, FlowLeg[]>(events.map((event) => [eventKey(event), []]));
  if (events.length === 0) return legs;
  const { rows } = await readFrom(store).query<LegRow>({
    name: 'flow-legs',
    text: `SELECT l.* FROM unnest($1::text[], $2::text[], $3::text[]) AS w(underlying, session_date, event_id)
           JOIN flow_legs l ON l.underlying = w.underlying AND l.session_date = w.session_date AND l.event_id = w.event_id
           ORDER BY l.underlying, l.session_date, l.event_id, l.leg_index`,
    values: [
      events.map((event) => event.underlying),
      events.map((event) => event.session_date),
      events.map((event) => event.event_id),
    ],
  });
  for (const row of rows) legs.get(eventKey(row))!.push(legOf(row));
  return legs;
}

/** Stored events with their legs, in their order. */
export async function largeTradesOf(store: Store, events: readonly EventRow[]): Promise<LargeTrade[]> {
  const legs = await legsOf(store, events);
  return events.map((row) => ({
    symbol: row.underlying,
    seq: row.seq,
    coverage: coverageOf(row),
    event: {
      eventId: row.event_id,
      eventKind: row.event_kind,
      underlying: row.underlying,
      eventTsMs: row.event_ts_ms,
      legs: legs.get(eventKey(row))!,
      totalSize: row.total_size,
      premiumUsd: row.premium_usd,
      priceLow: row.price_low,
      priceHigh: row.price_high,
      side: row.side,
      multiLeg: row.multi_leg,
    },
  }));
}

/** The large trades of several underlyings, newest first: two statements however many. Every underlying is in the answer. */
export async function readLargeTrades(
  store: Store,
  underlyings: readonly string[],
  { session, minPremiumUsd, limit, throughMs }: LargeTradeFilter,
): Promise<Map<string, LargeTrade[]>> {
  const { rows } = await readFrom(store).query<EventRow>({
    name: 'large-trades',
    text: `SELECT ${eventColumns} FROM unnest($1::text[]) AS w(underlying)
           CROSS JOIN LATERAL (SELECT * FROM flow_events e WHERE e.underlying = w.underlying AND ${wanted(2)}
             ORDER BY ${order('e')} LIMIT $5) AS e
           ${covered} ORDER BY ${order('e')}`,
    values: [[...new Set(underlyings)], session, minPremiumUsd, throughMs, limit],
  });
  const answer = new Map<string, LargeTrade[]>(underlyings.map((underlying) => [underlying, []]));
  for (const trade of await largeTradesOf(store, rows)) answer.get(trade.symbol)!.push(trade);
  return answer;
}

/** The large trades of all underlyings, newest first. */
export async function readAllLargeTrades(
  store: Store,
  { session, minPremiumUsd, limit, throughMs }: LargeTradeFilter,
): Promise<LargeTrade[]> {
  const { rows } = await readFrom(store).query<EventRow>({
    name: 'all-large-trades',
    text: `SELECT ${eventColumns} FROM (SELECT * FROM flow_events e WHERE ${wanted(1)} ORDER BY ${order('e')} LIMIT $4) AS e
           ${covered} ORDER BY ${order('e')}`,
    values: [session, minPremiumUsd, throughMs, limit],
  });
  return largeTradesOf(store, rows);
}

const eventTypes = {
  underlying: 'text',
  session_date: 'text',
  event_id: 'text',
  seq: 'int8',
  event_kind: 'text',
  event_ts_ms: 'int8',
  total_size: 'int8',
  premium_usd: 'float8',
  price_low: 'float8',
  price_high: 'float8',
  side: 'text',
  multi_leg: 'bool',
} as const;

const legTypes = {
  underlying: 'text',
  session_date: 'text',
  event_id: 'text',
  leg_index: 'int4',
  contract: 'text',
  price: 'float8',
  size: 'int4',
  premium_usd: 'float8',
  exchange: 'int4',
  conditions: 'int4[]',
  event_ts_ms: 'int8',
  sequence: 'int8',
  side: 'text',
  multi_leg: 'bool',
} as const;

function eventValues({ symbol, seq, coverage, event }: LargeTrade): CopyValue[] {
  const { eventId, eventKind, eventTsMs, totalSize, premiumUsd, priceLow, priceHigh, side, multiLeg } = event;
  return [
    symbol,
    coverage.sessionDate,
    eventId,
    seq,
    eventKind,
    eventTsMs,
    totalSize,
    premiumUsd,
    priceLow,
    priceHigh,
    side,
    multiLeg,
  ];
}

function legValues({ symbol, coverage, event }: LargeTrade, leg: FlowLeg, index: number): CopyValue[] {
  return [
    symbol,
    coverage.sessionDate,
    event.eventId,
    index,
    contractId(leg.contract),
    leg.price,
    leg.size,
    leg.premiumUsd,
    leg.exchange,
    leg.conditions,
    leg.eventTsMs,
    leg.sequence,
    leg.side,
    leg.multiLeg,
  ];
}

/** Writes events that are not there, with their legs. Their sessions' coverage is `saveCoverages`': without it they are not read. */
export async function saveLargeTrades(tx: Transaction, trades: readonly LargeTrade[]): Promise<void> {
  await copyInto(tx, 'flow_events', eventTypes, trades.map(eventValues));
  const legs = trades.flatMap((trade) => trade.event.legs.map((leg, index) => legValues(trade, leg, index)));
  await copyInto(tx, 'flow_legs', legTypes, legs);
  await enterFeed(tx, trades);
}
