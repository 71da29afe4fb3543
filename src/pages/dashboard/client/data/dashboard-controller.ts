import type { FoundSymbol, TradedLeg } from '../../../../../generated/pages/operation-types.ts';
import { searchRank } from '../../../../core/domain/market/symbol.ts';
import type { TradeFilter } from '../flow/trade-filter.ts';
import { sessionAtOrBefore, sessionsOf } from '../market/sessions.ts';
import { addressOf, tickerOf, type View } from '../view-address.ts';
import { accepted, variablesOf } from './dashboard-answer.ts';
import { type DashboardState, initialState, marketList, nothingShown, shownOf } from './dashboard-state.ts';
import {
  askBars,
  askCapturedHistory,
  askFilteredTrades,
  askFurtherBars,
  askFurtherTrades,
  askListQuotes,
  askParts,
  askSessions,
  askSurface,
  type FollowUp,
} from './follow-ups.ts';
import { type Ask, type FieldError, GraphFailure } from './graph-client.ts';
import { backOffMs, type LiveLink, type LiveParts } from './live-link.ts';
import { type HeardMessage, liveOperations, withMessages } from './live-operations.ts';
import { dashboardQuery, registryQuery, searchQuery, tradeQuery } from './operations.ts';
import type { Part } from './part-names.ts';
import { createStore, type Store } from './state-store.ts';

// Collects bursts of messages, so that the page changes at most once per frame.

/** A queue that passes its items, in order, to `flush` at the next frame. `keep` filters the queued items. */
export function frameQueue<Item>(
  flush: (items: Item[]) => void,
  nextFrame: (run: () => void) => void,
): { put: (item: Item) => void; keep: (isKept: (item: Item) => boolean) => void } {
  let waiting: Item[] = [];
  let asked = false;
  return {
    put: (item) => {
      waiting.push(item);
      if (asked) return;
      asked = true;
      nextFrame(() => {
        asked = false;
        const items = waiting;
        waiting = [];
        if (items.length > 0) flush(items);
      });
    },
    keep: (isKept) => {
      waiting = waiting.filter(isKept);
    },
  };
}

// The search field's symbols: the registry is requested once, so that a search takes nothing from the budget.

/** Maximum number of suggestions for a text. */
const mostFound = 8;

/** Symbols that a text finds, the best match first, then in the order of the registry. */
function matching(registry: readonly FoundSymbol[], text: string): FoundSymbol[] {
  const wanted = text.trim().toLowerCase();
  return registry
    .flatMap((found) => {
      const rank = searchRank(found, wanted);
      return rank === null ? [] : [{ found, rank }];
    })
    .sort((one, other) => one.rank - other.rank)
    .slice(0, mostFound)
    .map(({ found }) => found);
}

/** Rejects once a signal aborts. */
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** Searches the cached registry, or the server if the registry is larger than an answer. */
export class RegistrySearch {
  readonly #ask: Ask;
  // Null = larger than an answer.
  #registry: Promise<readonly FoundSymbol[] | null> | null = null;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Drops the cache, because another key may read another registry. */
  forget(): void {
    this.#registry = null;
  }

  /** Symbols that begin with a text, or whose names contain it. */
  async find(text: string, signal: AbortSignal): Promise<FoundSymbol[]> {
    const registry = await Promise.race([this.#whole(), aborted(signal)]);
    if (registry !== null) return matching(registry, text);
    const { data } = await this.#ask(searchQuery, { search: text }, signal);
    return data.symbols?.nodes ?? [];
  }

  /** Further typing aborts a search, but not the one registry request that all of them await. */
  #whole(): Promise<readonly FoundSymbol[] | null> {
    if (this.#registry) return this.#registry;
    const own = this.#ask(registryQuery, {}, new AbortController().signal).then(({ data }) =>
      data.symbols === null || data.symbols.pageInfo.hasNextPage ? null : data.symbols.nodes,
    );
    this.#registry = own;
    own.catch(() => {
      if (this.#registry === own) this.#registry = null;
    });
    return own;
  }
}

// Actions of the page: it sends queries, listens to subscriptions, and changes its state.

/** The browser's functions for the page. */
interface ControllerParts {
  ask: Ask;
  /** Address of the subscriptions, and the factory of their link. */
  liveUrl: string;
  openLive: (parts: LiveParts) => LiveLink;
  key: () => string;
  view: View;
  /** Tickers with data: the default list of readers without lists. */
  symbols: readonly string[];
  latestSession: string;
  now: () => number;
  random: () => number;
  nextFrame: (run: () => void) => void;
  /** The parts whose panels are in the viewport. */
  inSight: () => Part[];
  /** Shows a view in the address bar; `step` = as a new entry of the browser's history. */
  showAddress: (address: string, symbol: string, step: boolean) => void;
}

// Delay before a panel is loaded, ms, so that panels that are scrolled past are not.
const sightMs = 120;

// Delay after the last change of a filter, ms.
const restMs = 400;

/** Failures after which a query is retried automatically. */
const passing = new Set(['rate', 'away', 'server', 'slow']);

/** The page's state, and its actions. */
export class DashboardController {
  readonly store: Store<DashboardState>;
  readonly #parts: ControllerParts;
  #question = new AbortController();
  #live: LiveLink | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  // Number of consecutive answers with parts rejected for too many concurrent requests, possibly from other tabs.
  #crowded = 0;
  // Parts requested since the last full request; the others are requested again when they scroll into view.
  #asked = new Set<Part>();
  #sight: ReturnType<typeof setTimeout> | undefined;
  #filtered: ReturnType<typeof setTimeout> | undefined;
  // Subject of the next retry: only parts, or everything.
  #retriesParts = false;
  // Live messages that arrived before the answer they change.
  #early: HeardMessage[] = [];
  // View before another symbol or session was chosen, until that is loaded.
  #before: Partial<DashboardState> | null = null;
  readonly #queue;
  readonly #registry: RegistrySearch;

  /** Sends nothing before `reload`. */
  constructor(parts: ControllerParts) {
    this.#parts = parts;
    this.#registry = new RegistrySearch(parts.ask);
    this.store = createStore<DashboardState>(initialState(parts, parts.key() !== ''));
    this.#queue = frameQueue<HeardMessage>((messages) => this.#heard(messages), parts.nextFrame);
  }

  /** Requests everything shown again; its subscriptions are already open, or reopened. */
  reload(): void {
    const { wanted, live } = this.store.get();
    this.store.set({ hasLists: false, locked: [] });
    // A connection that is waiting to reconnect tries immediately.
    if (live !== 'live') this.#closeLive();
    if (wanted === null) this.#begin();
    else this.show(wanted, false);
  }

  /** Requests everything shown, and subscribes to its changes. */
  #begin(): void {
    this.#failures = 0;
    const hasKey = this.#parts.key() !== '';
    // A text that cannot be a ticker is not requested: the page reports it.
    if (!hasKey || tickerOf(this.store.get().view.symbol) === null) {
      this.#question.abort();
      this.#closeLive();
      clearTimeout(this.#retry);
      this.store.set({ ...nothingShown, phase: hasKey ? 'ready' : 'no-key', failure: null, retryAtMs: null });
      return;
    }
    this.#listen();
    void this.#load();
  }

  /** Shows another symbol, session or length of candles; `step` = as a new entry of the browser's history. */
  show(change: Partial<View>, step = true): void {
    const { view: before, answer } = this.store.get();
    const view = { ...before, ...change };
    const address = addressOf(view);
    this.#parts.showAddress(address, view.symbol, step && address !== addressOf(before));
    const other = view.symbol !== before.symbol || view.session !== before.session;
    if (!other && view.timeframe === before.timeframe) {
      // The shown view was chosen again: nothing else waits for the budget.
      this.store.set({ wanted: null });
      return;
    }
    if (other || answer === null) {
      if (answer !== null) this.#before = shownOf(this.store.get());
      // The other symbol may not have the expiration.
      const tradeFilter = { ...this.store.get().tradeFilter, expiry: null };
      this.store.set({ ...nothingShown, wanted: null, view, tradeFilter });
      this.#begin();
      return;
    }
    this.store.set({ view, bars: null, barsLoading: true });
    this.#listen();
    this.#follow(askBars(this.#followUp()));
  }

  /** Discards everything loaded with the former key. */
  keyChanged(): void {
    const market = marketList(this.#parts.symbols);
    const lists = { lists: [market], hasLists: false, listId: market.id, locked: [] };
    this.#before = null;
    this.#registry.forget();
    this.#closeLive();
    this.store.set({ ...nothingShown, ...lists, wanted: null, quotes: {}, restricted: [], failure: null });
    this.#begin();
  }

  /** Closes the subscriptions when the page is left. */
  pause(): void {
    this.#closeLive();
  }

  chooseList(listId: string): void {
    this.store.set({ listId });
    if (this.#parts.key() === '') return;
    this.#listen();
    this.#follow(askListQuotes(this.#followUp()));
  }

  /** Requests the parts of panels that scrolled into view, together. */
  see(): void {
    clearTimeout(this.#sight);
    this.#sight = setTimeout(() => void this.#askParts(), sightMs);
  }

  /** Lists the large trades that pass a filter. */
  filterTrades(change: Partial<TradeFilter>): void {
    this.store.set({ tradeFilter: { ...this.store.get().tradeFilter, ...change }, filteredTrades: null });
    clearTimeout(this.#filtered);
    this.#filtered = setTimeout(() => this.#follow(askFilteredTrades(this.#followUp())), restMs);
  }

  /** Requests the next page of large trades. */
  furtherTrades(): void {
    this.#follow(askFurtherTrades(this.#followUp()));
  }

  /** Requests what is stored of the symbol's sessions, once: the list of them shows it. */
  seeSessions(): void {
    const { view, sessions } = this.store.get();
    if (sessions.symbol === view.symbol || this.store.get().answer === null) return;
    this.store.set({ sessions: { symbol: view.symbol, rows: [] } });
    this.#follow(askSessions(this.#followUp()));
  }

  /** The legs of a large trade, with the market before each. */
  async trade(id: string): Promise<readonly TradedLeg[]> {
    const { data } = await this.#parts.ask(tradeQuery, { id }, this.#question.signal);
    return data.node?.legs ?? [];
  }

  /** Symbols of the registry that begin with a text, or whose names contain it. */
  search(text: string, signal: AbortSignal): Promise<FoundSymbol[]> {
    return this.#registry.find(text, signal);
  }

  showHelp(helpShown: boolean): void {
    this.store.set({ helpShown });
  }

  #followUp(): FollowUp {
    return { ask: this.#parts.ask, store: this.store, signal: this.#question.signal };
  }

  #follow(asked: Promise<unknown>): void {
    const { signal } = this.#question;
    asked.catch((error) => {
      if (!signal.aborted) this.#failed(error);
    });
  }

  /** Sends the query and shows its answer, then sends follow-ups. */
  async #load(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retriesParts = false;
    this.#question.abort();
    this.#question = new AbortController();
    const { signal } = this.#question;
    this.store.set({ phase: 'loading', retryAtMs: null });
    const asked = this.#parts.inSight();
    this.#asked = new Set(asked);
    try {
      const { data, errors } = await this.#parts.ask(dashboardQuery, variablesOf(this.store.get(), asked), signal);
      if (signal.aborted) return;
      this.#failures = 0;
      this.#before = null;
      const { listId } = this.store.get();
      this.store.set(accepted(this.store.get(), data, errors, this.#parts.now(), asked));
      if (this.#isNoSession()) return;
      const isOtherList = this.store.get().listId !== listId;
      if (isOtherList) this.#listen();
      this.#heard(this.#early.splice(0));
      if (this.#otherLatest()) return await this.#load();
      const followUp = this.#followUp();
      if (this.#isCrowded(errors)) return;
      this.see();
      await Promise.all([
        askFurtherBars(followUp),
        askCapturedHistory(followUp),
        isOtherList && askListQuotes(followUp),
        askFilteredTrades(followUp),
      ]);
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
  }

  /** Requests the visible parts not requested yet. While the budget is used up, the next retry does. */
  async #askParts(): Promise<void> {
    const { answer, phase } = this.store.get();
    if (answer === null || phase !== 'ready') return;
    const parts = this.#parts.inSight().filter((part) => !this.#asked.has(part));
    if (parts.length === 0) return;
    for (const part of parts) this.#asked.add(part);
    const { signal } = this.#question;
    try {
      const followUp = this.#followUp();
      this.#isCrowded(await askParts(followUp, parts));
      if (parts.includes('trades')) await askFilteredTrades(followUp);
    } catch (error) {
      if (signal.aborted) return;
      for (const part of parts) this.#asked.delete(part);
      this.#retriesParts = true;
      this.#failed(error);
    }
  }

  /**
   * The latest session is the last one with data of the symbol, however old, and a later one from its first quote on.
   * Returns true if the live view is of another session from now on.
   */
  #otherLatest(): boolean {
    const { quotes, view, latestSession, answer } = this.store.get();
    const { sessionDates, lastSession } = answer?.symbol ?? {};
    const known = [sessionDates?.[0], lastSession, quotes[view.symbol]?.sessionDate];
    const session = known
      .filter((date) => date != null)
      .sort()
      .at(-1);
    if (session === undefined || session === latestSession) return false;
    this.store.set({ latestSession: session });
    return view.session === null;
  }

  /** Parts rejected for too many concurrent requests are requested again soon; loaded parts stay until then. */
  #isCrowded(errors: readonly FieldError[]): boolean {
    const crowded = errors.some(({ code }) => code === 'rate_limited');
    if (!crowded) this.#crowded = 0;
    else this.#retry = setTimeout(() => void this.#load(), backOffMs(this.#crowded++, this.#parts.random()));
    return crowded;
  }

  /** An address may contain a date without a session: the session before it is shown. */
  #isNoSession(): boolean {
    const { view, answer } = this.store.get();
    if (view.session === null || (answer?.symbol?.sessionDates ?? []).length === 0) return false;
    const sessions = sessionsOf(this.store.get());
    if (sessions.includes(view.session)) return false;
    this.show({ session: sessionAtOrBefore(sessions, view.session) });
    return true;
  }

  #heard(messages: readonly HeardMessage[]): void {
    if (messages.length === 0) return;
    if (this.store.get().answer === null) this.#early.push(...messages);
    else {
      const capturedAt = this.store.get().capture?.capturedAt ?? 0;
      this.store.set(withMessages(this.store.get(), messages));
      if (this.#otherLatest()) void this.#load();
      // A new chain was captured: its volatilities are requested.
      else if (this.#asked.has('volatility') && (this.store.get().capture?.capturedAt ?? 0) > capturedAt)
        this.#follow(askSurface(this.#followUp()));
    }
  }

  /** Subscribes to the changes of the view only. */
  #listen(): void {
    const operations = liveOperations(this.store.get(), this.#queue.put);
    const ids = new Set(operations.map(({ id }) => id));
    const isKept = ({ operation }: HeardMessage) => ids.has(operation);
    this.#queue.keep(isKept);
    this.#early = this.#early.filter(isKept);
    // Past sessions do not change.
    if (operations.length === 0) {
      this.#closeLive();
      return;
    }
    this.#live ??= this.#parts.openLive({
      url: this.#parts.liveUrl,
      key: this.#parts.key(),
      onState: (live) => this.store.set({ live }),
      onReturn: () => void this.#load(),
      random: this.#parts.random,
    });
    this.#live.listen(operations);
  }

  #closeLive(): void {
    this.#live?.close();
    this.#live = null;
    this.store.set({ live: 'off' });
  }

  /** While the request budget is used up, the former view stays; the chosen one is requested later. */
  #keepBefore(): void {
    const { view: wanted, answer } = this.store.get();
    if (answer !== null || this.#before === null) return;
    this.store.set({ ...this.#before, wanted });
    this.#asked = new Set(this.store.get().loaded);
    const { view } = this.store.get();
    this.#parts.showAddress(addressOf(view), view.symbol, false);
    this.#listen();
  }

  #again(): void {
    const { wanted } = this.store.get();
    if (wanted !== null) this.show(wanted, false);
    else if (this.#retriesParts) {
      this.#retriesParts = false;
      this.store.set({ phase: 'ready', failure: null, retryAtMs: null });
      void this.#askParts();
    } else void this.#load();
  }

  #failed(error: unknown): void {
    const failure = error instanceof GraphFailure ? error : new GraphFailure('server', String(error));
    const waits = passing.has(failure.kind);
    const { retryAfterSeconds } = failure;
    const waitMs =
      retryAfterSeconds === null ? backOffMs(this.#failures++, this.#parts.random()) : retryAfterSeconds * 1000;
    this.store.set({
      phase: failure.kind === 'no-key' ? 'no-key' : 'failed',
      failure,
      retryAtMs: waits ? this.#parts.now() + waitMs : null,
      barsLoading: false,
    });
    if (failure.kind === 'rate') this.#keepBefore();
    clearTimeout(this.#retry);
    if (waits) this.#retry = setTimeout(() => this.#again(), waitMs);
    else this.#closeLive();
  }
}
