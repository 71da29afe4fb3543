// From the state to the one question, and from its answer to the state.
import { addDays, barSpan } from '../dates.ts';
import { type DeskState, defaultList, moversId, quotedSymbols, shownSession } from './desk-state.ts';
import type { FieldError } from './graph.ts';
import type { Dashboard, DashboardVariables, Quote, Watchlist } from './operation-types.ts';
import { errorsOf, type Part, parts, partVariables, withParts } from './parts.ts';

/** Sessions of off-exchange activity, in calendar days. */
const activityDays = 31;
/** Sessions to choose from, in calendar days. */
const sessionDays = 400;

/**
 * The variables of a question, for some of the parts. A session that was chosen is asked for as it was; else what there
 * is of the latest.
 */
export function variablesOf(state: DeskState, asked: readonly Part[] = []): DashboardVariables {
  const { view, latestSession } = state;
  const session = shownSession(state);
  return {
    symbol: view.symbol,
    session,
    past: view.session !== null,
    sessionAt: session,
    flowSession: view.session,
    timeframe: view.timeframe,
    ...barSpan(view.timeframe, session),
    // Those of the lists come with the stream whenever it is opened.
    quotes: state.hasLists ? [view.symbol] : quotedSymbols(state),
    lists: !state.hasLists,
    offFrom: view.session,
    offTo: view.session,
    activityFrom: addDays(session, -activityDays),
    dailyFrom: addDays(latestSession, -sessionDays),
    dailyTo: addDays(latestSession, 1),
    ...partVariables(asked),
    // Of the latest chain alone.
    volatility: asked.includes('volatility') && view.session === null,
  };
}

/**
 * The lists to choose from: the account's own first, then ours. Who has lists of their own sees the first of them,
 * until they choose.
 */
export function listsOf(
  { watchlists, movers }: Dashboard,
  { listId, answer }: DeskState,
): Pick<DeskState, 'lists' | 'listId'> {
  const own = (watchlists?.rows ?? []).filter(({ tickers }) => tickers.length > 0);
  const moved: Watchlist[] = movers?.rows.length
    ? [{ id: moversId, name: 'Movers', tickers: movers.rows.map(({ symbol }) => symbol) }]
    : [];
  const lists = [...own, defaultList, ...moved];
  const chosen = lists.some(({ id }) => id === listId) && (answer !== null || listId !== defaultList.id);
  return { lists, listId: chosen ? listId : lists[0]!.id };
}

/** What an answer changes in the state, that was asked for some of the parts. */
export function accepted(
  state: DeskState,
  answer: Dashboard,
  errors: readonly FieldError[],
  browserMs: number,
  asked: readonly Part[],
): Partial<DeskState> {
  const { symbol, market } = answer;
  const others = parts.filter((part) => !asked.includes(part));
  const capture = symbol?.gex.latest ?? symbol?.gex.at ?? null;
  const quotes: Record<string, Quote> = { ...state.quotes };
  for (const quote of answer.quotes?.rows ?? []) quotes[quote.symbol] = quote;
  return {
    phase: 'ready',
    failure: null,
    retryAtMs: null,
    wanted: null,
    ...(market && { market, clockAheadMs: market.nowMs - browserMs }),
    daily: symbol?.daily?.columns ?? null,
    answer,
    errors: [...errorsOf(state.errors, others), ...errors],
    bars: symbol?.bars ?? null,
    barsLoading: false,
    capture,
    crossSection: symbol?.flow.crossSection ?? null,
    ...(symbol && withParts({ ...state, capture }, symbol, asked)),
    quotes,
    restricted: [...new Set([...(state.hasLists ? state.restricted : []), ...(answer.quotes?.meta.restricted ?? [])])],
    ...(answer.watchlists !== undefined && { ...listsOf(answer, state), hasLists: true }),
    lockedFlow: errors.some(({ path, code }) => path[1] === 'flow' && code === 'not_entitled_tier'),
  };
}
