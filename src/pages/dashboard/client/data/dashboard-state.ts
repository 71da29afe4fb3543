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
  VolatilitySurface,
  Watchlist,
} from '../../../../../generated/pages/operation-types.ts';
import type { View } from '../address.ts';
import { anyTrade, type TradeFilter } from '../flow/trade-filter.ts';
import type { FieldError, GraphFailure } from './graph-client.ts';
import type { LiveState } from './live-link.ts';
import type { Part } from './part-names.ts';
import { noTrades, type TradeList } from './trade-list.ts';

/** Phase of the one query. */
export type Phase = 'no-key' | 'loading' | 'ready' | 'failed';

export interface DashboardState {
  view: View;
  phase: Phase;
  /** Why there is no answer, or no newer one; null when there is. */
  failure: GraphFailure | null;
  /** When a failed query is sent again by itself, epoch ms; null = it is not. */
  retryAtMs: number | null;
  /**
   * View that is shown as soon as the budget of requests allows, while the one before stays; null = the shown one is
   * the was chosen.
   */
  wanted: View | null;
  /** The market's hours; null until they are known. */
  market: MarketClock | null;
  /** Lead of the server's clock over the browser's, ms. */
  clockAheadMs: number;
  /** The latest session that is known to have begun. */
  latestSession: string;
  /** The answer for `view.symbol`; null until it is there. Parts that live data changes stand beside it. */
  answer: Dashboard | null;
  errors: readonly FieldError[];
  /** Loaded parts of those that are asked for when they come into sight. */
  loaded: readonly Part[];
  /** Daily closes and volumes of the symbol: the sessions there are. */
  daily: DailyColumns | null;
  bars: BarsPage | null;
  barsLoading: boolean;
  capture: GexCapture | null;
  history: GexHistory | null;
  crossSection: CrossSectionPage | null;
  /** All large trades. */
  trades: TradeList;
  /** Those that pass `tradeFilter`; null if every one does, or the server has not been asked. */
  filteredTrades: TradeList | null;
  surface: VolatilitySurface | null;
  composition: CompositionPage | null;
  concentration: ConcentrationPage | null;
  quotes: Readonly<Record<string, Quote>>;
  /** Symbols that may not be read, of those whose quotes were asked for. */
  restricted: readonly string[];
  /** The account's lists, then ours. */
  lists: readonly Watchlist[];
  /** True if the lists are known: another symbol does not change them. */
  hasLists: boolean;
  listId: string;
  live: LiveState;
  /** Parts that the caller’s tier may not read of whichever symbol, by their error: they are not asked for again. */
  locked: readonly FieldError[];
  /** The session of the latest capture received, of any symbol; null = none yet. */
  capturedSession: string | null;
  /** Which large trades are listed. */
  tradeFilter: TradeFilter;
  helpShown: boolean;
}

/** Id of the list shown to who has none of their own. */
export const marketId = 'tapegraph:market';

/** That list: the tickers that have data. */
export const marketList = (tickers: readonly string[]): Watchlist => ({
  id: marketId,
  name: 'Market',
  tickers: [...tickers],
});

/** Id of the list of those that moved most. */
export const moversId = 'tapegraph:movers';

/** The state before anything was asked. */
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

/** The shown part of a state, to be put back. */
export function shownOf(state: DashboardState): Partial<DashboardState> {
  const names = [...(Object.keys(nothingShown) as (keyof typeof nothingShown)[]), 'view'] as const;
  return Object.fromEntries(names.map((name) => [name, state[name]]));
}

/** A namespace of the symbol that takes a tier of its own, whichever the symbol. */
export type LockedPart = 'flow' | 'offExchange';

/** True if the caller’s tier may not read a namespace of any symbol. */
export const isLocked = ({ locked }: Pick<DashboardState, 'locked'>, part: LockedPart) =>
  locked.some(({ path }) => path[1] === part);

/** The session the page shows. */
export const shownSession = ({ view, latestSession }: Pick<DashboardState, 'view' | 'latestSession'>) =>
  view.session ?? latestSession;

/** Entries from which any panel derives its state. */
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

/**
 * The symbol's price as it is now, dollars; null when unknown, and in the view of a past session, where it has no
 * place.
 */
export const liveSpot = ({ view, quotes }: DashboardState): number | null =>
  view.session === null ? (quotes[view.symbol]?.spot ?? null) : null;

/** The tickers of the list that is shown. */
export const listedTickers = ({ lists, listId }: Pick<DashboardState, 'lists' | 'listId'>) =>
  (lists.find(({ id }) => id === listId) ?? lists[0])?.tickers ?? [];

// A request names at most 180 symbols.
const maxQuotes = 180;

/**
 * Symbols whose quotes the page needs, sorted: its own, and those of the list that is shown. They are the same
 * whichever symbol of the list is the page's own.
 */
export const quotedSymbols = (state: Pick<DashboardState, 'lists' | 'listId' | 'view'>) =>
  [...new Set([state.view.symbol, ...listedTickers(state)])].slice(0, maxQuotes).sort();
