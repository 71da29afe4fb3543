import { tradeDate } from '../../core/domain/calendar.ts';
import type { OptionContract } from '../../core/domain/chain/option-contract.ts';
import { contractIn, directionOf } from '../../core/domain/journal.ts';
import { type Split, splitFactor } from '../../core/domain/market/splits.ts';
import { exchangeDate } from '../../core/domain/market-time.ts';
import { roundTo } from '../../core/domain/units.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { type TradedQty, type TradesBy, tradedQuantities, tradesOf } from '../../store/journal/records.ts';
import { contextAsOf, throughMs } from '../as-of.ts';
import { chainRowOf } from '../chain/contract.ts';
import { fromStore, type RequestContext, rootsOf, underlyingOf } from '../context.ts';
import { loadSplits } from '../corporate.ts';

/** Maximum number of positions of an answer. */
export const maxPositions = 500;

/** A journal's holding of an instrument. */
export interface JournalPosition {
  /** Ticker, or contract id. */
  instrument: string;
  /** Ticker, of a contract that of its underlying. */
  symbol: string;
  contract: OptionContract | null;
  /** Shares or contracts; negative = short. */
  qty: number;
}

export interface JournalPositions {
  /** Epoch ms. */
  atMs: number;
  rows: JournalPosition[];
  /** Number of positions, also of those that are not in `rows`. */
  total: number;
  /** Number of trades whose side neither buys nor sells: they are in no position. */
  undirected: number;
  /** The context below it: its clock stands at the instant. */
  context: RequestContext;
}

export interface PositionsArgs {
  first: number;
  accountId?: string | null | undefined;
  at?: string | null | undefined;
  tz?: string | null | undefined;
}

const addTo = (sums: Map<string, number>, symbol: string, qty: number) =>
  sums.set(symbol, (sums.get(symbol) ?? 0) + qty);

/** Net quantities by instrument; of shares that were split, trade by trade, in shares of the instant. */
async function netQuantities(
  context: RequestContext,
  by: TradesBy,
  traded: readonly TradedQty[],
): Promise<Map<string, number>> {
  const tickers = [...new Set(traded.map(({ symbol }) => symbol))].filter((symbol) => contractIn(symbol) === null);
  const splits = new Map<string, readonly Split[]>();
  await Promise.all(tickers.map(async (symbol) => splits.set(symbol, await loadSplits(context, symbol))));
  const split = tickers.filter((symbol) => splits.get(symbol)!.length > 0);
  const sums = new Map<string, number>();
  for (const { symbol, side, qty } of traded)
    if (!split.includes(symbol)) addTo(sums, symbol, (directionOf(side) ?? 0) * qty);
  if (split.length === 0) return sums;
  const today = exchangeDate(context.nowMs);
  for (const { symbol, side, qty, tsMs } of await tradesOf(context.store, by, split))
    addTo(sums, symbol, (directionOf(side) ?? 0) * qty * splitFactor(splits.get(symbol)!, tradeDate(tsMs), today));
  return sums;
}

async function positionOf(context: RequestContext, instrument: string, qty: number): Promise<JournalPosition> {
  const contract = contractIn(instrument);
  const symbol = contract === null ? instrument : await underlyingOf(context, contract);
  return { instrument, symbol, contract, qty };
}

/** The positions of the caller's journal at an instant, by instrument. Expired contracts are no positions. */
export async function journalPositions(outer: RequestContext, args: PositionsArgs): Promise<JournalPositions> {
  if (args.first < 1) throw invalidParameter('first', 'expected 1 or more');
  const context = contextAsOf(outer, args);
  const atMs = throughMs(context);
  const by = { accountId: context.caller.accountId, journalAccountId: args.accountId ?? null, throughMs: atMs };
  return fromStore('journal', async () => {
    const traded = await tradedQuantities(context.store, by);
    const today = exchangeDate(context.nowMs);
    const held = [...(await netQuantities(context, by, traded))]
      .map(([instrument, qty]) => [instrument, roundTo(qty, 9)] as const)
      .filter(([instrument, qty]) => qty !== 0 && (contractIn(instrument)?.expiry ?? today) >= today);
    const shown = held.slice(0, Math.min(args.first, maxPositions));
    const undirected = traded.filter(({ side }) => directionOf(side) === null);
    return {
      atMs,
      rows: await Promise.all(shown.map(([instrument, qty]) => positionOf(context, instrument, qty))),
      total: held.length,
      undirected: undirected.reduce((sum, { trades }) => sum + trades, 0),
      context,
    };
  });
}

/** Greeks of a whole position; null where those of its contract are unknown. */
export interface PositionGreeks {
  /** Shares. */
  delta: number | null;
  /** Shares per $1 move. */
  gamma: number | null;
  /** Dollars a day. */
  theta: number | null;
  /** Dollars per vol point. */
  vega: number | null;
  /** Why the greeks are unknown; null if they are known. */
  note: string | null;
}

/** Greeks of a position: of a contract by the last chain by the instant, times quantity and multiplier. */
export async function positionGreeks(
  context: RequestContext,
  { instrument, contract, qty }: JournalPosition,
): Promise<PositionGreeks> {
  if (contract === null) return { delta: qty, gamma: 0, theta: 0, vega: 0, note: null };
  const row = await chainRowOf(context, contract);
  if (row === null) {
    const unknown = { delta: null, gamma: null, theta: null, vega: null };
    return { ...unknown, note: `The last chain does not list ${instrument}.` };
  }
  const { multiplier } = (await rootsOf(context)).of(contract.root, exchangeDate(context.nowMs));
  const whole = (value: number | null | undefined) => (value == null ? null : value * qty * multiplier);
  const shown = (name: 'delta' | 'gamma' | 'theta' | 'vega') => whole(row[name] ?? row.solved?.[name]);
  return { delta: shown('delta'), gamma: shown('gamma'), theta: shown('theta'), vega: shown('vega'), note: null };
}
