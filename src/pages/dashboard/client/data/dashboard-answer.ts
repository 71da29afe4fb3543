// Builds the query from the state, and the state from its answer.
import type {
  Dashboard,
  DashboardVariables,
  Quote,
  SymbolParts,
  Watchlist,
} from '../../../../../generated/pages/operation-types.ts';
import { addDays, barSpan } from '../format.ts';
import {
  type DashboardState,
  isLocked,
  type LockedPart,
  marketId,
  moversId,
  quotedSymbols,
  shownSession,
} from './dashboard-state.ts';
import type { FieldError } from './graph-client.ts';
import { withCapture } from './live-operations.ts';
import { type Part, parts } from './part-names.ts';
import { withPageOfTrades } from './trade-list.ts';

/** Period of off-exchange activity, calendar days. */
const activityDays = 31;
/** Period of the selectable sessions, calendar days. */
const sessionDays = 400;

/** The span of the selectable sessions, as dates [from, to): up to the latest one, or around an older one. */
export function dailySpan(session: string, latestSession: string): { dailyFrom: string; dailyTo: string } {
  const around = addDays(session, sessionDays / 2);
  const last = addDays(session, 300) > latestSession ? latestSession : around;
  return { dailyFrom: addDays(last, -sessionDays), dailyTo: addDays(last, 1) };
}

const earlierOf = (one: string | null, other: string) => (one !== null && one < other ? one : other);

/**
 * The variables of a query for some of the parts. For a chosen session they select its data; otherwise the latest data.
 */
export function variablesOf(state: DashboardState, asked: readonly Part[] = []): DashboardVariables {
  const { view, latestSession, market } = state;
  const session = shownSession(state);
  // The graph's own latest session is that of the clock.
  const isBehind = market !== null && latestSession < market.sessionDate;
  return {
    symbol: view.symbol,
    // Before its first capture, a session shows the heat map of the one before.
    session: view.session ?? earlierOf(state.capturedSession, session),
    past: view.session !== null,
    sessionAt: session,
    flowSession: isBehind ? session : view.session,
    timeframe: view.timeframe,
    ...barSpan(view.timeframe, session),
    // Quotes of the lists arrive with the stream whenever it is opened.
    quotes: state.hasLists ? [view.symbol] : quotedSymbols(state),
    lists: !state.hasLists,
    offFrom: view.session,
    offTo: view.session,
    activityFrom: addDays(session, -activityDays),
    ...dailySpan(session, latestSession),
    flow: !isLocked(state, 'flow'),
    activity: !isLocked(state, 'offExchange'),
    ...partVariables(asked),
    trades: asked.includes('trades') && !isLocked(state, 'flow'),
    offExchange: asked.includes('offExchange') && !isLocked(state, 'offExchange'),
    // Volatilities exist only for the latest chain.
    volatility: asked.includes('volatility') && view.session === null,
  };
}

/**
 * The selectable lists: the account's own first, then the built-in ones. A reader with own lists sees the first of them
 * by default.
 */
function listsOf(
  { watchlists, movers }: Dashboard,
  { lists: before, listId, answer }: DashboardState,
): Pick<DashboardState, 'lists' | 'listId'> {
  const own = (watchlists?.rows ?? []).filter(({ tickers }) => tickers.length > 0);
  const moved: Watchlist[] = movers?.rows.length
    ? [{ id: moversId, name: 'Movers', tickers: movers.rows.map(({ symbol }) => symbol) }]
    : [];
  const market = before.filter(({ id }) => id === marketId);
  const lists = [...own, ...market, ...moved];
  const chosen = lists.some(({ id }) => id === listId) && (answer !== null || listId !== marketId);
  return { lists, listId: chosen ? listId : lists[0]!.id };
}

/** The tier that each namespace requires, for any symbol. */
const tierOf: Readonly<Record<LockedPart, string>> = { flow: 'pro', offExchange: 'basic' };

/** Parts locked for every symbol by the errors of an answer, added to earlier ones. */
function lockedBy(errors: readonly FieldError[], before: readonly FieldError[]): readonly FieldError[] {
  const found = (Object.keys(tierOf) as LockedPart[]).flatMap((part) => {
    const error = errors.find(({ path, requiredTier }) => path[1] === part && requiredTier === tierOf[part]);
    return error ? [{ ...error, path: ['symbol', part] }] : [];
  });
  return [...before, ...found];
}

/** Changes of the state by an answer for some of the parts. */
export function accepted(
  state: DashboardState,
  answer: Dashboard,
  errors: readonly FieldError[],
  browserMs: number,
  asked: readonly Part[],
): Partial<DashboardState> {
  const { symbol, market } = answer;
  const others = parts.filter((part) => !asked.includes(part));
  const capture = symbol?.gex.latest ?? symbol?.gex.at ?? null;
  const locked = lockedBy(errors, state.locked);
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
    errors: [...errorsOf(state.errors, others), ...errors, ...locked],
    bars: symbol?.bars ?? null,
    barsLoading: false,
    capture,
    crossSection: symbol?.flow.crossSection ?? null,
    capturedSession: symbol?.gex.latest?.sessionDate ?? state.capturedSession,
    ...(symbol && withParts({ ...state, capture }, symbol, asked)),
    quotes,
    restricted: [...new Set([...(state.hasLists ? state.restricted : []), ...(answer.quotes?.meta.restricted ?? [])])],
    ...(answer.watchlists !== undefined && { ...listsOf(answer, state), hasLists: true }),
    locked,
  };
}

// The parts of a view that load when their panels scroll into view.

/** Paths of a part in an answer. */
const pathsOf: Readonly<Record<Part, readonly (readonly string[])[]>> = {
  trades: [['symbol', 'flow', 'largeTrades']],
  heat: [['symbol', 'gex', 'history']],
  volatility: [['symbol', 'volatility', 'surface']],
  offExchange: [
    ['symbol', 'offExchange', 'composition'],
    ['symbol', 'offExchange', 'concentration'],
  ],
};

const isOf = (part: Part, { path }: FieldError) =>
  pathsOf[part].some((of) => of.every((name, index) => path[index] === name));

/** The variables that select some parts and none of the others. */
const partVariables = (asked: readonly Part[]) =>
  Object.fromEntries(parts.map((part) => [part, asked.includes(part)])) as Record<Part, boolean>;

/** The errors that concern some parts. */
export const errorsOf = (errors: readonly FieldError[], some: readonly Part[]) =>
  errors.filter((error) => some.some((part) => isOf(part, error)));

/** Changes of the state by the parts of an answer; others are unchanged. */
export function withParts(
  { loaded, trades, capture, view }: Pick<DashboardState, 'loaded' | 'trades' | 'capture' | 'view'>,
  { flow, gex, volatility, offExchange }: SymbolParts,
  asked: readonly Part[],
): Partial<DashboardState> {
  const history = gex.history ?? null;
  // A capture received during this request can be later than the answer.
  const isLater = view.session === null && capture !== null && history !== null;
  return {
    loaded: [...new Set([...loaded, ...asked])],
    ...(asked.includes('trades') && flow.largeTrades && { trades: withPageOfTrades(trades, flow.largeTrades) }),
    ...(asked.includes('heat') && { history: isLater ? withLaterCapture(history, capture) : history }),
    ...(asked.includes('volatility') && { surface: volatility.surface ?? null }),
    ...(asked.includes('offExchange') && {
      composition: offExchange.composition ?? null,
      concentration: offExchange.concentration ?? null,
    }),
  };
}

function withLaterCapture(
  history: NonNullable<DashboardState['history']>,
  capture: NonNullable<DashboardState['capture']>,
): DashboardState['history'] {
  const last = history.captures.at(-1)?.capturedAt ?? 0;
  return capture.sessionDate === history.sessionDate && capture.capturedAt > last
    ? withCapture(history, capture)
    : history;
}
