// Lists of large trades: those that pass a filter, in pages and live.

import type { LargeTrade, LargeTradesPage } from '../../../../../generated/pages/operation-types.ts';
import { passes, type TradeFilter } from '../flow/trade-filter.ts';

/** Maximum number of large trades in memory. */
export const maxTrades = 500;
/** Number of large trades per page: each costs a point. */
export const tradesPerPage = 50;

/** Large trades that pass a filter. */
export interface TradeList {
  /** The newest of them, newest first. */
  trades: readonly LargeTrade[];
  /** Number of all trades, in `trades` or not, and their premium, dollars; null while unknown. */
  total: { count: number; premiumUsd: number } | null;
  /** Cursor of the page after `trades`; null if there is none, or it cannot be requested. */
  cursor: string | null;
}

/** An empty list. */
export const noTrades: TradeList = { trades: [], total: null, cursor: null };

const idOf = ({ update }: LargeTrade) => update.event.eventId;

const newestFirst = (a: LargeTrade, b: LargeTrade) =>
  b.update.event.eventTsMs - a.update.event.eventTsMs || b.seq - a.seq;

/** A sorted list of bounded length. If trades were omitted, no page continues it. */
function ordered(trades: Iterable<LargeTrade>, { total, cursor }: Pick<TradeList, 'total' | 'cursor'>): TradeList {
  const all = [...trades].sort(newestFirst);
  return { trades: all.slice(0, maxTrades), total, cursor: all.length > maxTrades ? null : cursor };
}

/** A list with a page added, the first or the next; trades that arrived in the meantime stay. */
export function withPageOfTrades({ trades }: TradeList, { events, meta }: LargeTradesPage): TradeList {
  const byId = new Map(trades.map((trade) => [idOf(trade), trade]));
  for (const trade of events) if ((byId.get(idOf(trade))?.seq ?? 0) <= trade.seq) byId.set(idOf(trade), trade);
  return ordered(byId.values(), meta);
}

/** A list with detected or changed trades that pass the filter. */
export function withLiveTrades(list: TradeList, come: readonly LargeTrade[], filter: TradeFilter): TradeList {
  const byId = new Map(list.trades.map((trade) => [idOf(trade), trade]));
  const last = list.cursor === null ? undefined : list.trades.at(-1);
  let { count, premiumUsd } = list.total ?? { count: 0, premiumUsd: 0 };
  for (const trade of come) {
    const known = byId.get(idOf(trade));
    // An older trade arrives with its page.
    const isBehind = !known && last !== undefined && newestFirst(last, trade) < 0;
    if (isBehind || (known && known.seq > trade.seq)) continue;
    const isListed = passes(trade.update.event, filter);
    if (isListed) byId.set(idOf(trade), trade);
    else byId.delete(idOf(trade));
    count += Number(isListed) - Number(known !== undefined);
    premiumUsd += (isListed ? trade.update.event.premiumUsd : 0) - (known?.update.event.premiumUsd ?? 0);
  }
  return ordered(byId.values(), { ...list, total: list.total && { count, premiumUsd } });
}

/** The trades of a list that pass a filter, until the server has answered. */
export const narrowed = ({ trades }: TradeList, filter: TradeFilter): TradeList => ({
  ...noTrades,
  trades: trades.filter(({ update }) => passes(update.event, filter)),
});
