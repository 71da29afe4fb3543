// The watchlists: quotes, and links to other symbols.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { Quote } from '../../../../../generated/pages/operation-types.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { listedTickers } from '../data/dashboard-state.ts';
import { useEntries } from '../data/state-store.ts';
import { change, compact, price, shortDate } from '../format.ts';
import { addressOf } from '../view-address.ts';

const direction = (percent: number | null | undefined) =>
  percent == null || percent === 0 ? '' : percent > 0 ? 'up' : 'down';

/** Text beside a price: its session's volume, or its day if that is not the latest session. */
function besidePrice(quote: Quote | undefined, latestSession: string): string {
  if (quote?.sessionDate != null && quote.sessionDate < latestSession)
    return shortDate(quote.sessionDate, latestSession);
  if (quote && quote.spot === null) return 'no recent price';
  return quote?.volume ? compact(quote.volume) : '';
}

/** Moves the focus among the rows with arrows, Home and End. */
function moveAmong(rows: HTMLElement, event: KeyboardEvent): void {
  const links = [...rows.querySelectorAll<HTMLAnchorElement>('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  const to = {
    ArrowDown: Math.min(at + 1, links.length - 1),
    ArrowUp: Math.max(at - 1, 0),
    Home: 0,
    End: links.length - 1,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  links[to]?.focus();
}

const entries = ['lists', 'listId', 'quotes', 'restricted', 'view', 'phase', 'latestSession'] as const;

/** The list and its rows. */
export function WatchlistPanel({ controller }: { controller: DashboardController }): VNode {
  const state = useEntries(controller.store, entries);
  const rows = useRef<HTMLUListElement>(null);
  const { lists, listId, quotes, restricted, view, phase, latestSession } = state;
  const tickers = [...new Set(listedTickers({ lists, listId }))];
  const open = (event: MouseEvent, symbol: string) => {
    // A click that opens another tab is left to the browser.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    controller.show({ symbol });
  };
  return html`<nav class="watchlist panel" aria-label="Watchlist">
    <div class="head"><h2>Watchlist</h2>
      ${view.session === null ? null : html`<span class="note" title="Quotes of now, not of the session chosen above">live</span>`}
      <label><span class="visually-hidden">List</span><select id="list" value=${listId} onChange=${(event: Event) => controller.chooseList((event.target as HTMLSelectElement).value)}>
        ${lists.map(({ id, name }) => html`<option value=${id} selected=${id === listId}>${name}</option>`)}
      </select></label>
    </div>
    ${tickers.length === 0 ? html`<p class="none">No symbol has data yet.</p>` : null}
    <ul ref=${rows} onKeyDown=${(event: KeyboardEvent) => rows.current && moveAmong(rows.current, event)}>
      ${tickers.map((symbol) => {
        const quote = quotes[symbol];
        const locked = restricted.includes(symbol);
        return html`<li key=${symbol}><a href=${addressOf({ ...view, symbol })}
          aria-current=${symbol === view.symbol ? 'page' : null}
          onClick=${(event: MouseEvent) => open(event, symbol)}
          title=${locked ? `${symbol} cannot be read with this key` : null}>
          <b>${symbol}</b>
          <span class="spot">${locked ? html`<em>locked</em>` : quote ? (quote.spot === null ? '' : price(quote.spot)) : phase === 'loading' ? html`<i class="bone"></i>` : ''}</span>
          <span class="volume">${besidePrice(quote, latestSession)}</span>
          <span class=${`change ${direction(quote?.changePct)}`}>${locked || quote?.changePct == null ? '' : change(quote.changePct)}</span>
        </a></li>`;
      })}
    </ul>
  </nav>` as VNode;
}
