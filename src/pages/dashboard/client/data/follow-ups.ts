// Small questions after the first: what came into sight, and what its answer could not hold.
import { variablesOf } from './desk-answer.ts';
import { type DeskState, listedTickers } from './desk-state.ts';
import type { Ask, FieldError } from './graph.ts';
import { withPage, withTrades } from './live-rows.ts';
import type { Quote } from './operation-types.ts';
import { barsQuery, historyQuery, partsQuery, quotesQuery, surfaceQuery, tradesQuery } from './operations.ts';
import { errorsOf, type Part, withParts } from './parts.ts';
import type { Store } from './store.ts';

/** What they are asked with. `signal` ends them when something else is shown. */
export interface FollowUp {
  ask: Ask;
  store: Store<DeskState>;
  signal: AbortSignal;
}

// Pages of candles that are followed: a session with its extended hours takes two.
const maxBarPages = 4;
// An answer has at most so many large trades; fewer with a key.
const mostTrades = 200;
// A request names at most so many symbols.
const maxQuotes = 180;

/** Parts whose panels have come into sight; the errors of the answer. */
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
  await askEarlierHistory(followUp);
  return errors;
}

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
  const { surface } = data.symbol.volatility;
  if (!signal.aborted && surface) store.set({ surface });
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

/** Large trades further back that have at least a premium, dollars: as many as an answer holds. */
export async function askTrades({ ask, store, signal }: FollowUp, minPremiumUsd: number): Promise<void> {
  const { view } = store.get();
  const variables = { symbol: view.symbol, session: view.session, minPremiumUsd, limit: mostTrades };
  const { data } = await ask(tradesQuery, variables, signal);
  const page = data.symbol.flow.largeTrades;
  if (signal.aborted || !page) return;
  const { trades, hasAllTrades } = store.get();
  store.set({
    trades: withTrades(trades, page.events),
    hasAllTrades: hasAllTrades || (minPremiumUsd === 0 && page.events.length < page.meta.limit),
  });
}
