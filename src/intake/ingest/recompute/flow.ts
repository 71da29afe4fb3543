import { tapeSettings } from '../../../core/analytics/methodology.ts';
import { sideOf } from '../../../core/analytics/prints/side.ts';
import { contractId } from '../../../core/domain/chain/option-contract.ts';
import { commonSide } from '../../../core/domain/flow/event-figures.ts';
import { type FlowLeg, flowSides, type LargeTrade } from '../../../core/domain/flow/flow.ts';
import { auctionConditions, optionTraits, optionTraitsOf } from '../../../core/domain/flow/option-trade-conditions.ts';
import { sessionPart } from '../../../core/domain/generation.ts';
import { toPriceUnits } from '../../../core/domain/market/print.ts';
import { holdOptionQuotes, listQuotes, readQuotes } from '../../../store/chain/option-quotes.ts';
import type { QuoteColumns } from '../../../store/chain/quote-block.ts';
import { findLargeTrades, saveLargeTrades } from '../../../store/flow/events.ts';
import { removeLargeTrades } from '../../../store/flow/live.ts';
import { lockFlow } from '../../../store/flow/sessions.ts';
import { unsidedSessions } from '../../../store/flow/unsided-legs.ts';
import type { Store } from '../../../store/rows/connection.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import type { RecomputedWork, RecomputeWork, UnderlyingSession } from './session-work.ts';

/** Sessions with auction prints without a side, if their quotes are stored. */
export async function sessionsOfFlow(store: Store): Promise<UnderlyingSession[]> {
  const quoted = new Set((await listQuotes(store)).map(({ session, underlying }) => `${session} ${underlying}`));
  const unsided = await unsidedSessions(store, auctionConditions);
  return unsided.filter(({ session, underlying }) => quoted.has(`${session} ${underlying}`));
}

/**
 * The range of `quotes`, ascending by time, in force at a leg's millisecond: the last one before it, and all within it.
 */
function inForce({ tsMs }: QuoteColumns, atMs: number): [from: number, to: number] {
  let to = 0;
  while (to < tsMs.length && tsMs[to]! <= atMs) to++;
  let from = to;
  while (from > 0 && tsMs[from - 1]! === atMs) from--;
  return [Math.max(0, from - 1), to];
}

/**
 * The side of a leg. Stored legs have millisecond times: if a quote changed within one, the side is known only if both
 * agree.
 */
function sideOfLeg(leg: FlowLeg, quotes: QuoteColumns): FlowLeg['side'] {
  const [from, to] = inForce(quotes, leg.eventTsMs);
  const sides = new Set<number>();
  for (let i = from; i < to; i++) {
    const isFresh = leg.eventTsMs - quotes.tsMs[i]! < tapeSettings.maximumSideQuoteAgeMs;
    sides.add(isFresh ? sideOf(toPriceUnits(leg.price), quotes.bid[i]!, quotes.ask[i]!) : flowSides.indexOf('unknown'));
  }
  return sides.size === 1 ? flowSides[[...sides][0]!]! : 'unknown';
}

const isUnsided = ({ side, conditions }: FlowLeg) =>
  side === 'unknown' &&
  conditions.some((id) => auctionConditions.includes(id)) &&
  (optionTraitsOf(conditions) & optionTraits.sideless) === 0;

/** An event with the sides of its auction legs; the same object if none is known. */
function sided(trade: LargeTrade, quotesOf: ReadonlyMap<string, QuoteColumns[]>): LargeTrade {
  let isChanged = false;
  const legs = trade.event.legs.map((leg) => {
    if (!isUnsided(leg)) return leg;
    const parts = quotesOf.get(contractId(leg.contract)) ?? [];
    // The part with the quote in force: the last that begins before.
    const part = parts.findLast(({ tsMs }) => tsMs[0]! <= leg.eventTsMs);
    const side = part ? sideOfLeg(leg, part) : 'unknown';
    isChanged ||= side !== leg.side;
    return { ...leg, side };
  });
  return isChanged
    ? { ...trade, event: { ...trade.event, legs, side: commonSide(legs.map((leg) => leg.side)) } }
    : trade;
}

/**
 * Adds sides to the auction prints of a session's large trades, from their stored quotes. The composition of events
 * does not change: the other prints are not stored. Returns the number of changed events.
 */
export async function recomputeFlow(
  tx: Transaction,
  { underlying, session }: UnderlyingSession,
  { store }: Pick<RecomputeWork, 'store'>,
): Promise<RecomputedWork> {
  await lockFlow(tx);
  await holdOptionQuotes(tx);
  const unsided = await unsidedSessions(store, auctionConditions);
  const found = unsided.find((each) => each.underlying === underlying && each.session === session);
  const keys = (found?.eventIds ?? []).map((eventId) => ({ underlying, sessionDate: session, eventId }));
  const trades = await findLargeTrades(store, keys, Number.MAX_SAFE_INTEGER);
  const ids = new Set(trades.flatMap(({ event }) => event.legs.map(({ contract }) => contractId(contract))));
  const contracts = Array.from(ids, (id) => ({ id, underlying: { symbol: underlying } }));
  const quotesOf = new Map<string, QuoteColumns[]>();
  for await (const { contract, quotes } of readQuotes(tx, { contracts, from: session, to: session }))
    quotesOf.set(
      contract,
      [...(quotesOf.get(contract) ?? []), quotes].sort((a, b) => a.tsMs[0]! - b.tsMs[0]!),
    );
  const changed = trades.map((trade) => sided(trade, quotesOf)).filter((trade, i) => trade !== trades[i]);
  await removeLargeTrades(
    tx,
    session,
    changed.map(({ event: { eventId } }) => ({ eventId, underlying })),
  );
  await saveLargeTrades(tx, changed);
  return { changed: changed.length, moved: null, parts: changed.length > 0 ? [sessionPart(underlying, session)] : [] };
}
