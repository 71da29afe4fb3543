// Small questions after the one: what its answer could not hold.

import { variablesOf } from './desk-answer.ts';
import { type DeskState, listedTickers } from './desk-state.ts';
import type { Ask } from './graph.ts';
import { withPage, withTrades } from './live-rows.ts';
import type { Quote } from './operation-types.ts';
import { barsQuery, historyQuery, quotesQuery, surfaceQuery, tradesQuery } from './operations.ts';
import type { Store } from './store.ts';

/** What they are asked with. `signal` ends them when something else is shown. */
export interface FollowUp {
  ask: Ask;
  store: Store<DeskState>;
  signal: AbortSignal;
}

// Pages of candles that are followed: a session with its extended hours takes two.
const maxBarPages = 4;
// A request names at most so many symbols.
const maxQuotes = 180;

/** Bars behind the first page. */
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

/** Bars of the length that is chosen now, in place of others. */
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

/** Before the first capture of a session, the heat map shows the session of the latest one. */
export async function askEarlierHistory({ ask, store, signal }: FollowUp): Promise<void> {
  const { history, capture, view } = store.get();
  if (!history || history.captures.length > 0 || !capture || capture.sessionDate >= history.sessionDate) return;
  const { data } = await ask(historyQuery, { symbol: view.symbol, session: capture.sessionDate }, signal);
  const earlier = data.symbol.gex.history;
  // A capture that came in the meantime has begun the session's own.
  if (!signal.aborted && earlier && store.get().history?.captures.length === 0) store.set({ history: earlier });
}

/** The volatilities as they are now. */
export async function askSurface({ ask, store, signal }: FollowUp): Promise<void> {
  const { symbol } = store.get().view;
  const { data } = await ask(surfaceQuery, { symbol }, signal);
  const { answer } = store.get();
  if (signal.aborted || !answer?.symbol || !data.symbol.volatility.surface) return;
  store.set({ answer: { ...answer, symbol: { ...answer.symbol, volatility: data.symbol.volatility } } });
}

/** Quotes of the list that is shown, where they are not there yet. */
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

/** Large trades further back that have at least a premium, dollars. */
export async function askTrades({ ask, store, signal }: FollowUp, minPremiumUsd: number): Promise<void> {
  const { view } = store.get();
  const { data } = await ask(tradesQuery, { symbol: view.symbol, session: view.session, minPremiumUsd }, signal);
  const come = data.symbol.flow.largeTrades?.events ?? [];
  if (!signal.aborted) store.set({ trades: withTrades(store.get().trades, come) });
}
