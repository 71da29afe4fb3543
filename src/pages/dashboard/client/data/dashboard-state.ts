// State of the page, in one object.

import type {
  BarsPage,
  CompositionPage,
  ConcentrationPage,
  CrossSectionPage,
  DailyColumns,
  Dashboard,
  GexCapture,
  GexHistory,
  MarketClock,
  Quote,
  SessionContents,
  VolatilitySurface,
  Watchlist,
} from '../../../../../generated/pages/operation-types.ts';
import { anyTrade, type TradeFilter } from '../flow/trade-filter.ts';
import type { View } from '../view-address.ts';
import type { FieldError, GraphFailure } from './graph-client.ts';
import type { LiveState } from './live-link.ts';
import type { Part } from './part-names.ts';
import { noTrades, type TradeList } from './trade-list.ts';

/** Phase of the one query. */
export type Phase = 'no-key' | 'loading' | 'ready' | 'failed';

export interface DashboardState {
  view: View;
  phase: Phase;
  /** Reason for which there is no answer, or no newer one; null if there is one. */
  failure: GraphFailure | null;
  /** Time at which a failed query is retried, epoch ms; null = it is not. */
  retryAtMs: number | null;
  /**
   * View that is shown as soon as the request budget allows, while the former one stays; null = the shown view is the
   * chosen one.
   */
  wanted: View | null;
  /** The market's hours; null until they are known. */
  market: MarketClock | null;
  /** Offset of the server's clock from the browser's, ms. */
  clockAheadMs: number;
  /** The latest session with data of the symbol; until that is known, the latest that has begun. */
  latestSession: string;
  /** The answer for `view.symbol`; null until loaded. Parts that live data changes are stored separately. */
  answer: Dashboard | null;
  errors: readonly FieldError[];
  /** Parts loaded so far, of those that load when they scroll into view. */
  loaded: readonly Part[];
  /** Daily closes and volumes of the symbol, from which its sessions are known. */
  daily: DailyColumns | null;
  bars: BarsPage | null;
  barsLoading: boolean;
  capture: GexCapture | null;
  history: GexHistory | null;
  crossSection: CrossSectionPage | null;
  /** All large trades. */
  trades: TradeList;
  /** Those that pass `tradeFilter`; null if all do, or they were not requested. */
  filteredTrades: TradeList | null;
  surface: VolatilitySurface | null;
  composition: CompositionPage | null;
  concentration: ConcentrationPage | null;
  quotes: Readonly<Record<string, Quote>>;
  /** Symbols of the requested quotes that the caller may not read. */
  restricted: readonly string[];
  /** The account's lists, then the built-in ones. */
  lists: readonly Watchlist[];
  /** True if the lists are loaded: they do not depend on the symbol. */
  hasLists: boolean;
  listId: string;
  live: LiveState;
  /** Parts that the caller's tier may not read for any symbol, with their errors: they are not requested again. */
  locked: readonly FieldError[];
  /** The session of the latest capture received, of any symbol; null = none yet. */
  capturedSession: string | null;
  /** The filter of the large trades. */
  tradeFilter: TradeFilter;
  helpShown: boolean;
  /** The stored data of a symbol's sessions; no rows until they were requested. */
  sessions: { symbol: string; rows: readonly SessionContents[] };
}

/** Id of the default list of readers without lists. */
export const marketId = 'tapegraph:market';

/** That list: the tickers with data. */
export const marketList = (tickers: readonly string[]): Watchlist => ({
  id: marketId,
  name: 'Market',
  tickers: [...tickers],
});

/** Id of the list of the largest movers. */
export const moversId = 'tapegraph:movers';

/** The state before any request. */
export function initialState(
  { view, symbols, latestSession }: { view: View; symbols: readonly string[]; latestSession: string },
  hasKey: boolean,
): DashboardState {
  return {
    view,
    phase: hasKey ? 'loading' : 'no-key',
    failure: null,
    retryAtMs: null,
    wanted: null,
    market: null,
    clockAheadMs: 0,
    latestSession,
    ...nothingShown,
    quotes: {},
    restricted: [],
    lists: [marketList(symbols)],
    hasLists: false,
    locked: [],
    capturedSession: null,
    listId: marketId,
    live: 'off',
    tradeFilter: anyTrade,
    helpShown: false,
    sessions: { symbol: '', rows: [] },
  };
}

/** The parts that belong to one symbol and session. */
export const nothingShown = {
  answer: null,
  errors: [],
  loaded: [],
  daily: null,
  bars: null,
  barsLoading: false,
  capture: null,
  history: null,
  crossSection: null,
  trades: noTrades,
  filteredTrades: null,
  surface: null,
  composition: null,
  concentration: null,
} satisfies Partial<DashboardState>;

/** The shown part of a state, for restoring it. */
export function shownOf(state: DashboardState): Partial<DashboardState> {
  const names = [...(Object.keys(nothingShown) as (keyof typeof nothingShown)[]), 'view'] as const;
  return Object.fromEntries(names.map((name) => [name, state[name]]));
}

/** A namespace of a symbol that requires a tier of its own, for any symbol. */
export type LockedPart = 'flow' | 'offExchange';

/** True if the caller's tier may not read a namespace for any symbol. */
export const isLocked = ({ locked }: Pick<DashboardState, 'locked'>, part: LockedPart) =>
  locked.some(({ path }) => path[1] === part);

/** The session the page shows. */
export const shownSession = ({ view, latestSession }: Pick<DashboardState, 'view' | 'latestSession'>) =>
  view.session ?? latestSession;

/** State entries that every panel's state depends on. */
export const panelEntries = [
  'answer',
  'phase',
  'failure',
  'errors',
  'view',
  'latestSession',
  'loaded',
] as const satisfies readonly (keyof DashboardState)[];
export type PanelEntries = Pick<DashboardState, (typeof panelEntries)[number]>;

/** The symbol's current price, dollars; null if unknown, and in the view of a past session, which does not show it. */
export const liveSpot = ({ view, quotes }: DashboardState): number | null =>
  view.session === null ? (quotes[view.symbol]?.spot ?? null) : null;

/** The tickers of the selected list. */
export const listedTickers = ({ lists, listId }: Pick<DashboardState, 'lists' | 'listId'>) =>
  (lists.find(({ id }) => id === listId) ?? lists[0])?.tickers ?? [];

// Maximum number of symbols of a request, 180.
const maxQuotes = 180;

/**
 * Symbols whose quotes the page shows, sorted: its own, and those of the selected list. They are the same for every
 * symbol of the list.
 */
export const quotedSymbols = (state: Pick<DashboardState, 'lists' | 'listId' | 'view'>) =>
  [...new Set([state.view.symbol, ...listedTickers(state)])].slice(0, maxQuotes).sort();
