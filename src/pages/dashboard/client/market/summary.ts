// The head of the page: the symbol, its price, and the figures a trader looks for first.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Desk } from '../data/desk.ts';
import { type DeskState, shownSession } from '../data/desk-state.ts';
import type { LiveState } from '../data/live-link.ts';
import type { Quote } from '../data/operation-types.ts';
import { useStore } from '../data/store.ts';
import { flowTotals } from '../flow/flow-bars.ts';
import { change, clockTimeSeconds, compact, date, fraction, gex, price, ratio, strike, unknown } from '../format.ts';
import { SpotNote } from '../gex/spot-note.ts';
import { SymbolField } from './symbol-field.ts';

const liveNames: Record<LiveState, string> = {
  off: 'Not live',
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  refused: 'Not live',
};

function liveBadge({ live, view }: DeskState): VNode {
  const text = view.session === null ? liveNames[live] : 'Past session';
  return html`<span class="live" data-state=${view.session === null ? live : 'past'} role="status"><i></i>${text}</span>` as VNode;
}

function sessionField(desk: Desk, state: DeskState): VNode {
  const { view, latestSession } = state;
  return html`<span class="session">
    <label><span class="visually-hidden">Session</span><input type="date" id="session" value=${shownSession(state)} max=${latestSession}
      onChange=${(event: Event) => {
        const { value } = event.target as HTMLInputElement;
        desk.show({ session: value === '' || value >= latestSession ? null : value });
      }} /></label>
    ${view.session === null ? null : html`<button type="button" onClick=${() => desk.show({ session: null })}>Back to live</button>`}
  </span>` as VNode;
}

/** A figure of the strip: its name, its value, and what it is in words. */
type Figure = readonly [name: string, value: string, what: string, colour?: string | undefined];

/** The figures, each of which may be unknown. */
export function figuresOf(state: DeskState): Figure[] {
  const { capture, crossSection, answer } = state;
  const expiry = capture?.expiries.find(({ expiry }) => expiry > capture.sessionDate) ?? capture?.expiries[0];
  const flow = crossSection?.snapshot ? flowTotals(crossSection.snapshot.update.byExpiration, 'premium') : null;
  const off = answer?.symbol?.offExchange.activity?.rows.at(-1);
  const spot = state.quotes[state.view.symbol]?.spot ?? capture?.spot ?? null;
  const move = expiry?.expectedMoveStraddle ?? null;
  return [
    [
      'Net GEX',
      gex(capture?.netGex),
      'Dollars dealers trade to stay hedged when the price moves $1',
      capture ? (capture.netGex >= 0 ? 'call' : 'put') : undefined,
    ],
    ['Flip', price(capture?.flipPoint), 'Price at which the cumulative net curve crosses zero'],
    ['Zero gamma', price(capture?.zeroGamma), 'Price at which re-priced net gamma changes sign'],
    ['Call wall', strike(capture?.callWall), 'Strike of the largest call gamma', 'call'],
    ['Put wall', strike(capture?.putWall), 'Strike of the largest put gamma', 'put'],
    [
      'ATM IV',
      fraction(expiry?.atmIv),
      expiry ? `Implied volatility at the money, ${date(expiry.expiry)}` : 'Implied volatility at the money',
    ],
    [
      'Expected move',
      move === null ? price(null) : `±${price(move)}${spot ? ` (${fraction(move / spot)})` : ''}`,
      expiry ? `Price of the straddle at the money, ${date(expiry.expiry)}` : 'Price of the straddle at the money',
    ],
    [
      'Max pain',
      strike(expiry?.maxPain),
      expiry
        ? `Strike at which option holders receive the least, ${date(expiry.expiry)}`
        : 'Strike at which option holders receive the least',
    ],
    [
      'Put/call',
      flow ? ratio(flow.puts, flow.calls) : price(null),
      'Premium of puts to premium of calls in the session',
    ],
    [
      'Off exchange',
      fraction(off?.offExchPct),
      off ? `Share of volume off exchange, ${date(off.date)}` : 'Share of volume off exchange',
    ],
  ];
}

/** The price and its change; `past` = what is shown below is of another session. */
function quoteLine({ spot, officialClose, changePct, volume, eventTsMs }: Quote, past: boolean): VNode {
  const amount = spot !== null && officialClose !== null ? spot - officialClose : null;
  const way = changePct === null || changePct === 0 ? '' : changePct > 0 ? 'up' : 'down';
  return html`<div class="quote" role="group" aria-label="Quote">
    <b class="spot" id="spot">${price(spot)}</b>
    <span class=${`change ${way}`} id="change">${amount === null ? '' : `${amount > 0 ? '+' : ''}${price(amount)} `}${change(changePct)}</span>
    <span class="small">${past ? html`now · ` : null}${volume ? html`Vol <b>${compact(volume)}</b> · ` : null}Close <b>${price(officialClose)}</b>${eventTsMs === null ? null : html` · <b id="quote-time">${clockTimeSeconds(eventTsMs)}</b>`}</span>
  </div>` as VNode;
}

/** The head. */
export function Summary({ desk }: { desk: Desk }): VNode {
  const state = useStore(desk.store, (all) => all);
  const { view, quotes, answer } = state;
  const quote = quotes[view.symbol];
  const name = answer?.symbol?.name;
  // A skeleton says that something is coming.
  const loading = state.phase === 'loading' && answer === null;
  return html`<div class="summary">
    <div class="title">
      <h1>${view.symbol}</h1>
      <span class="name">${name ?? ''}</span>
    </div>
    ${quote?.spot == null ? null : quoteLine(quote, view.session !== null)}
    <div class="tools">${liveBadge(state)}${sessionField(desk, state)}<${SymbolField} desk=${desk} />
      <button type="button" class="help-button" aria-label="Help: keys and terms" aria-keyshortcuts="?" onClick=${() => desk.showHelp(true)}>?</button></div>
    <dl class="strip">${figuresOf(state).map(
      ([label, value, what, colour]) =>
        html`<div title=${what}><dt>${label}</dt><dd class=${value === unknown ? '' : (colour ?? '')}>${loading ? html`<i class="bone"></i>` : value}</dd></div>`,
    )}</dl>
    <${SpotNote} capture=${state.capture} />
  </div>` as VNode;
}
