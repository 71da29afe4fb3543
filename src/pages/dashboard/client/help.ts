// The help: keys, and a glossary.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { DashboardController } from './data/dashboard-controller.ts';
import { useStore } from './data/state-store.ts';

const keys: readonly (readonly [string, string])[] = [
  ['/', 'go to the symbol field'],
  ['w', 'go to the watchlist; arrows move, Enter opens'],
  ['1 2 3 4', 'candles of one minute, five minutes, one hour, one day'],
  ['r', 'reload'],
  ['?', 'this help'],
  ['Esc', 'close it'],
];

const words: readonly (readonly [string, string])[] = [
  [
    'Net GEX',
    'Dollars that dealers buy or sell to stay hedged when the price moves $1: calls count positive, puts negative.',
  ],
  ['Flip', 'Price at which the cumulative net gex curve crosses zero, if it does.'],
  ['Zero gamma', 'Price at which net gamma, re-priced at other spots, changes sign.'],
  ['Walls', 'The strikes with the largest positive and the most negative net gamma.'],
  [
    'Side',
    'Inferred from the quote at the time of the trade: near the ask or above it is a buy, near the bid or below it is a sell.',
  ],
  [
    'Off exchange',
    'Trades reported to a trade reporting facility. Published the next morning, in totals of three trades or more.',
  ],
];

/** The dialog. */
export function Help({ controller }: { controller: DashboardController }): VNode {
  const helpShown = useStore(controller.store, (state) => state.helpShown);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (helpShown && !dialog.current?.open) dialog.current?.showModal();
    if (!helpShown && dialog.current?.open) dialog.current.close();
  }, [helpShown]);
  return html`<dialog ref=${dialog} class="help" aria-labelledby="help-title" onClose=${() => controller.showHelp(false)}
    onClick=${(event: Event) => event.target === dialog.current && controller.showHelp(false)}>
    <div><h2 id="help-title">Keys and terms</h2>
    <dl class="keys">${keys.map(([key, what]) => html`<div><dt>${key.split(' ').map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${what}</dd></div>`)}</dl>
    <dl>${words.map(([word, what]) => html`<div><dt>${word}</dt><dd>${what}</dd></div>`)}</dl>
    <p class="muted">Drag a chart to move it; use Ctrl and the mouse wheel to zoom; double-click to reset it. <i>Table</i> shows the figures of a chart. Times are New York times.</p>
    <button type="button" onClick=${() => controller.showHelp(false)}>Close</button></div>
  </dialog>` as VNode;
}
