import type { FlowEventKind, FlowLeg, FlowSide, LargeTrade } from '../domain/flow.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { contractId, readOptionContract } from '../domain/option-contract.ts';
import type { Store } from './connection.ts';
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
  const { rows } = await store.pool.query<LegRow>({
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
  const { rows } = await store.pool.query<EventRow>({
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
  const { rows } = await store.pool.query<EventRow>({
    name: 'all-large-trades',
    text: `SELECT ${eventColumns} FROM (SELECT * FROM flow_events e WHERE ${wanted(1)} ORDER BY ${order('e')} LIMIT $4) AS e
           ${covered} ORDER BY ${order('e')}`,
    values: [session, minPremiumUsd, throughMs, limit],
  });
  return largeTradesOf(store, rows);
}

/** Writes events with their legs; those already there stay as they are. Their sessions' coverage is `saveCoverage`'s: without it they are not read. */
export async function saveLargeTrades(tx: Transaction, trades: readonly LargeTrade[]): Promise<void> {
  const of = <T>(value: (trade: LargeTrade) => T) => trades.map(value);
  await tx.query(
    `INSERT INTO flow_events (underlying, session_date, event_id, seq, event_kind, event_ts_ms, total_size, premium_usd,
       price_low, price_high, side, multi_leg)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[],
       $8::float8[], $9::float8[], $10::float8[], $11::text[], $12::bool[]) ON CONFLICT DO NOTHING`,
    [
      of(({ symbol }) => symbol),
      of(({ coverage }) => coverage.sessionDate),
      of(({ event }) => event.eventId),
      of(({ seq }) => seq),
      of(({ event }) => event.eventKind),
      of(({ event }) => event.eventTsMs),
      of(({ event }) => event.totalSize),
      of(({ event }) => event.premiumUsd),
      of(({ event }) => event.priceLow),
      of(({ event }) => event.priceHigh),
      of(({ event }) => event.side),
      of(({ event }) => event.multiLeg),
    ],
  );
  const legs = trades.flatMap((trade) => trade.event.legs.map((leg, index) => ({ trade, leg, index })));
  const ofLeg = <T>(value: (entry: { trade: LargeTrade; leg: FlowLeg; index: number }) => T) => legs.map(value);
  await tx.query(
    `INSERT INTO flow_legs (underlying, session_date, event_id, leg_index, contract, price, size, premium_usd, exchange,
       conditions, event_ts_ms, sequence, side, multi_leg)
     SELECT underlying, session_date, event_id, leg_index, contract, price, size, premium_usd, exchange, conditions::int[],
       event_ts_ms, sequence, side, multi_leg
     FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::float8[], $7::int[], $8::float8[], $9::int[],
       $10::text[], $11::bigint[], $12::bigint[], $13::text[], $14::bool[]) AS l(underlying, session_date, event_id, leg_index,
       contract, price, size, premium_usd, exchange, conditions, event_ts_ms, sequence, side, multi_leg) ON CONFLICT DO NOTHING`,
    [
      ofLeg(({ trade }) => trade.symbol),
      ofLeg(({ trade }) => trade.coverage.sessionDate),
      ofLeg(({ trade }) => trade.event.eventId),
      ofLeg(({ index }) => index),
      ofLeg(({ leg }) => contractId(leg.contract)),
      ofLeg(({ leg }) => leg.price),
      ofLeg(({ leg }) => leg.size),
      ofLeg(({ leg }) => leg.premiumUsd),
      ofLeg(({ leg }) => leg.exchange),
      // An array of arrays would have to be rectangular: each goes as PostgreSQL writes an array.
      ofLeg(({ leg }) => `{${leg.conditions.join(',')}}`),
      ofLeg(({ leg }) => leg.eventTsMs),
      ofLeg(({ leg }) => leg.sequence),
      ofLeg(({ leg }) => leg.side),
      ofLeg(({ leg }) => leg.multiLeg),
    ],
  );
  await enterFeed(tx, trades);
}
