// Small queries after the first: parts that scrolled into view, and parts that its answer could not contain.

import type { LargeTradesPage, Quote } from '../../../../../generated/pages/operation-types.ts';
import { isNarrow } from '../flow/trade-filter.ts';
import { errorsOf, variablesOf, withParts } from './dashboard-answer.ts';
import { type DashboardState, listedTickers } from './dashboard-state.ts';
import type { Ask, FieldError } from './graph-client.ts';
import { withPage } from './live-operations.ts';
import {
  barsQuery,
  historyQuery,
  partsQuery,
  quotesQuery,
  sessionsQuery,
  surfaceQuery,
  tradesQuery,
} from './operations.ts';
import type { Part } from './part-names.ts';
import type { Store } from './state-store.ts';
import { noTrades, tradesPerPage, withLiveTrades, withPageOfTrades } from './trade-list.ts';

/** Context of follow-ups. `signal` aborts them when something else is shown. */
export interface FollowUp {
  ask: Ask;
  store: Store<DashboardState>;
  signal: AbortSignal;
}

// Maximum number of pages of candles: a session with its extended hours has two.
const maxBarPages = 4;
// Maximum number of symbols of a request.
const maxQuotes = 180;

/** Requests parts whose panels scrolled into view. Returns the errors of the answer. */
export async function askParts(followUp: FollowUp, asked: readonly Part[]): Promise<readonly FieldError[]> {
  const { ask, store, signal } = followUp;
  const { symbol, session, flowSession, offFrom, offTo, heat, trades, volatility, offExchange } = variablesOf(
    store.get(),
    asked,
  );
  const variables = { symbol, session, flowSession, offFrom, offTo, heat, trades, volatility, offExchange };
  const { data, errors } = await ask(partsQuery, variables, signal);
  if (signal.aborted) return [];
  const state = store.get();
  const before = errorsOf(state.errors, asked);
  const others = state.errors.filter((error) => !before.includes(error));
  store.set({ ...withParts(state, data.symbol, asked), errors: [...others, ...errors] });
  await askCapturedHistory(followUp);
  return errors;
}

/** Requests the bars after the first page. */
export async function askFurtherBars({ ask, store, signal }: FollowUp): Promise<void> {
  const { symbol, timeframe, from, to } = variablesOf(store.get());
  for (let page = 1; page < maxBarPages; page++) {
    const { bars } = store.get();
    if (bars?.meta.cursor == null) return;
    const { data } = await ask(barsQuery, { symbol, timeframe, from, to, cursor: bars.meta.cursor }, signal);
    const next = data.symbol.bars;
    if (signal.aborted || next === null || store.get().view.timeframe !== timeframe) return;
    store.set({ bars: { ...bars, columns: withPage(bars.columns, next.columns), meta: next.meta } });
  }
}

/** Requests bars of the chosen length, replacing others. */
export async function askBars(followUp: FollowUp): Promise<void> {
  const { ask, store, signal } = followUp;
  const { symbol, timeframe, from, to } = variablesOf(store.get());
  const { data, errors } = await ask(barsQuery, { symbol, timeframe, from, to }, signal);
  const state = store.get();
  if (signal.aborted || state.view.timeframe !== timeframe) return;
  const others = state.errors.filter(({ path }) => path[1] !== 'bars');
  store.set({ bars: data.symbol.bars, barsLoading: false, errors: [...others, ...errors] });
  await askFurtherBars(followUp);
}

/**
 * Requests the heat map of the latest capture's session: of the one before until a session has its first capture, and
 * of the session itself from then on.
 */
export async function askCapturedHistory({ ask, store, signal }: FollowUp): Promise<void> {
  const { history, capture, view } = store.get();
  if (!history || !capture || capture.sessionDate === history.sessionDate) return;
  if (history.captures.length > 0 && capture.sessionDate < history.sessionDate) return;
  const { data } = await ask(historyQuery, { symbol: view.symbol, session: capture.sessionDate }, signal);
  const other = data.symbol.gex.history;
  // A capture that arrived in the meantime may be the session's first.
  if (!signal.aborted && other && store.get().history === history) store.set({ history: other });
}

/** Requests the current volatilities. */
export async function askSurface({ ask, store, signal }: FollowUp): Promise<void> {
  const { symbol } = store.get().view;
  const { data } = await ask(surfaceQuery, { symbol }, signal);
  const { surface } = data.symbol.volatility;
  if (!signal.aborted && surface) store.set({ surface });
}

/** Requests the stored data of the symbol's sessions. */
export async function askSessions({ ask, store, signal }: FollowUp): Promise<void> {
  const { symbol } = store.get().view;
  const { data } = await ask(sessionsQuery, { symbol }, signal);
  if (!signal.aborted) store.set({ sessions: { symbol, rows: data.symbol.sessions } });
}

/** Requests missing quotes of the selected list. */
export async function askListQuotes({ ask, store, signal }: FollowUp): Promise<void> {
  const { quotes } = store.get();
  const missing = listedTickers(store.get()).filter((symbol) => !(symbol in quotes));
  if (missing.length === 0) return;
  const { data } = await ask(quotesQuery, { quotes: missing.slice(0, maxQuotes) }, signal);
  const rows: Record<string, Quote> = Object.fromEntries((data.quotes?.rows ?? []).map((row) => [row.symbol, row]));
  const state = store.get();
  store.set({
    quotes: { ...rows, ...state.quotes },
    restricted: [...new Set([...state.restricted, ...(data.quotes?.meta.restricted ?? [])])],
  });
}

/** Requests the first page of large trades that pass the filter, unless all do. */
export async function askFilteredTrades(followUp: FollowUp): Promise<void> {
  const { tradeFilter, loaded } = followUp.store.get();
  if (!isNarrow(tradeFilter) || !loaded.includes('trades')) return;
  const page = await pageOfTrades(followUp, null);
  if (!page) return;
  // Trades detected since the page was read are in the list of all.
  const { trades } = followUp.store.get().trades;
  followUp.store.set({ filteredTrades: withLiveTrades(withPageOfTrades(noTrades, page), trades, tradeFilter) });
}

/** Requests the next page of large trades. */
export async function askFurtherTrades(followUp: FollowUp): Promise<void> {
  const name = isNarrow(followUp.store.get().tradeFilter) ? 'filteredTrades' : 'trades';
  const cursor = followUp.store.get()[name]?.cursor;
  const page = cursor == null ? null : await pageOfTrades(followUp, cursor);
  const list = followUp.store.get()[name];
  if (page && list?.cursor === cursor) followUp.store.set({ [name]: withPageOfTrades(list!, page) });
}

async function pageOfTrades({ ask, store, signal }: FollowUp, cursor: string | null): Promise<LargeTradesPage | null> {
  const { view, tradeFilter } = store.get();
  const { symbol } = view;
  const { flowSession: session } = variablesOf(store.get());
  // The same minimum as for the first page: a cursor continues the same filter.
  const filter = { ...tradeFilter, minPremiumUsd: tradeFilter.minPremiumUsd || null };
  const variables = { symbol, session, limit: tradesPerPage, cursor, ...filter };
  const { data } = await ask(tradesQuery, variables, signal);
  return signal.aborted || store.get().tradeFilter !== tradeFilter ? null : data.symbol.flow.largeTrades;
}
