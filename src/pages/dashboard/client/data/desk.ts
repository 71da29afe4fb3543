// What the page does: asks, listens, and changes its state.
import { addressOf, tickerOf, type View } from '../address.ts';
import { accepted, variablesOf } from './desk-answer.ts';
import { type DeskState, defaultList, initialState, nothingShown } from './desk-state.ts';
import {
  askBars,
  askEarlierHistory,
  askFurtherBars,
  askListQuotes,
  askSurface,
  askTrades,
  type FollowUp,
} from './follow-ups.ts';
import { frameQueue } from './frame-queue.ts';
import { type Ask, GraphFailure } from './graph.ts';
import { backOffMs, openLive } from './live-link.ts';
import { type LiveMessage, liveOperations, withMessages } from './live-operations.ts';
import type { FoundSymbol } from './operation-types.ts';
import { dashboardQuery, searchQuery } from './operations.ts';
import { createStore, type Store } from './store.ts';

/** What the page gets from the browser. */
export interface DeskParts {
  ask: Ask;
  /** Address of the subscriptions. */
  liveUrl: string;
  key: () => string;
  view: View;
  latestSession: string;
  now: () => number;
  random: () => number;
  nextFrame: (run: () => void) => void;
  /** Puts a view into the address bar; `step` = as a new step of the browser's history. */
  showAddress: (address: string, symbol: string, step: boolean) => void;
}

/** The page's state, and what can be done. */
export class Desk {
  readonly store: Store<DeskState>;
  readonly #parts: DeskParts;
  #question = new AbortController();
  #closeLive = () => {};
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  // Live messages that came before the answer they change.
  #early: LiveMessage[] = [];
  readonly #queue;

  /** Nothing is asked before `reload`. */
  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.store = createStore<DeskState>(initialState(parts.view, parts.latestSession, parts.key() !== ''));
    this.#queue = frameQueue<LiveMessage>((messages) => this.#heard(messages), parts.nextFrame);
  }

  /** Asks for everything that is shown once more; what changes it is listened to already, or again. */
  reload(): void {
    this.#begin(this.store.get().live !== 'live');
  }

  /** Asks for everything that is shown; `listen` = and listens to what changes it. */
  #begin(listen: boolean): void {
    this.#failures = 0;
    const hasKey = this.#parts.key() !== '';
    // What cannot be a ticker is not asked for: the page says so.
    if (!hasKey || tickerOf(this.store.get().view.symbol) === null) {
      this.#question.abort();
      this.#closeLive();
      clearTimeout(this.#retry);
      this.store.set({
        ...nothingShown,
        phase: hasKey ? 'ready' : 'no-key',
        failure: null,
        retryAtMs: null,
        live: 'off',
      });
      return;
    }
    if (listen) this.#listen();
    void this.#load();
  }

  /** Shows another symbol, session or length of candles; `step` = as a new step of the browser's history. */
  show(change: Partial<View>, step = true): void {
    const { view: before, answer } = this.store.get();
    const view = { ...before, ...change };
    const address = addressOf(view);
    this.#parts.showAddress(address, view.symbol, step && address !== addressOf(before));
    const other = view.symbol !== before.symbol || view.session !== before.session;
    if (!other && view.timeframe === before.timeframe) return;
    if (other || answer === null) {
      this.store.set({ ...nothingShown, view });
      this.#begin(true);
      return;
    }
    this.store.set({ view, bars: null, barsLoading: true });
    this.#listen();
    this.#follow(askBars(this.#followUp()));
  }

  /** The key has changed: nothing of what the last one was given stays. */
  keyChanged(): void {
    const lists = { lists: [defaultList], listId: defaultList.id };
    this.store.set({ ...nothingShown, ...lists, quotes: {}, restricted: [], failure: null });
    this.#begin(true);
  }

  chooseList(listId: string): void {
    this.store.set({ listId });
    if (this.#parts.key() === '') return;
    this.#listen();
    this.#follow(askListQuotes(this.#followUp()));
  }

  /** Asks for large trades further back than those that are there, from a least premium in dollars. */
  askTrades(minPremiumUsd: number): void {
    this.#follow(askTrades(this.#followUp(), minPremiumUsd));
  }

  /** Symbols of the registry that begin with a text, or whose names hold it. */
  async search(text: string, signal: AbortSignal): Promise<FoundSymbol[]> {
    const { data } = await this.#parts.ask(searchQuery, { search: text }, signal);
    return data.symbols?.nodes ?? [];
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

  /** Asks the one question and shows its answer, then what follows from it. */
  async #load(): Promise<void> {
    clearTimeout(this.#retry);
    this.#question.abort();
    this.#question = new AbortController();
    const { signal } = this.#question;
    this.store.set({ phase: 'loading', retryAtMs: null });
    try {
      const { data, errors } = await this.#parts.ask(dashboardQuery, variablesOf(this.store.get()), signal);
      if (signal.aborted) return;
      this.#failures = 0;
      const { listId } = this.store.get();
      this.store.set(accepted(this.store.get(), data, errors));
      if (this.store.get().listId !== listId) this.#listen();
      this.#heard(this.#early.splice(0));
      if (this.#laterSession()) return await this.#load();
      const followUp = this.#followUp();
      await Promise.all([askFurtherBars(followUp), askEarlierHistory(followUp), askListQuotes(followUp)]);
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
  }

  /** A page that was opened before a session began finds out by the quote; true = the live view is of that session from now on. */
  #laterSession(): boolean {
    const { quotes, view, latestSession } = this.store.get();
    const session = quotes[view.symbol]?.sessionDate;
    if (session == null || session <= latestSession) return false;
    this.store.set({ latestSession: session });
    return view.session === null;
  }

  #heard(messages: readonly LiveMessage[]): void {
    if (messages.length === 0) return;
    if (this.store.get().answer === null) this.#early.push(...messages);
    else {
      const capturedAt = this.store.get().capture?.capturedAt ?? 0;
      this.store.set(withMessages(this.store.get(), messages));
      if (this.#laterSession()) void this.#load();
      // Another chain has been captured: its volatilities are asked for.
      else if ((this.store.get().capture?.capturedAt ?? 0) > capturedAt) this.#follow(askSurface(this.#followUp()));
    }
  }

  #listen(): void {
    this.#closeLive();
    this.#closeLive = () => {};
    this.#queue.clear();
    this.#early = [];
    // The past does not change.
    if (this.store.get().view.session !== null) {
      this.store.set({ live: 'off' });
      return;
    }
    this.#closeLive = openLive({
      url: this.#parts.liveUrl,
      key: this.#parts.key(),
      operations: liveOperations(this.store.get(), this.#queue.put),
      onState: (live) => this.store.set({ live }),
      onReturn: () => void this.#load(),
      random: this.#parts.random,
    });
  }

  #failed(error: unknown): void {
    const failure = error instanceof GraphFailure ? error : new GraphFailure('server', String(error));
    const waits = failure.kind === 'rate' || failure.kind === 'away' || failure.kind === 'server';
    const { retryAfterSeconds } = failure;
    const waitMs =
      retryAfterSeconds === null ? backOffMs(this.#failures++, this.#parts.random()) : retryAfterSeconds * 1000;
    this.store.set({
      phase: failure.kind === 'no-key' ? 'no-key' : 'failed',
      failure,
      retryAtMs: waits ? this.#parts.now() + waitMs : null,
      barsLoading: false,
    });
    clearTimeout(this.#retry);
    if (waits) this.#retry = setTimeout(() => void this.#load(), waitMs);
    else {
      this.#closeLive();
      this.store.set({ live: 'off' });
    }
  }
}
