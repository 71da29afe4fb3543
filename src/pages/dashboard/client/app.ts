// The page: head, watchlist, panels.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { WatchlistPanel } from './account/watchlist.ts';
import { SmilePanel, TermPanel } from './chain/volatility-panels.ts';
import { type Palette, usePalette } from './charts/palette.ts';
import type { DashboardController } from './data/dashboard-controller.ts';
import { useStore } from './data/state-store.ts';
import { ExpiryFlowPanel, StrikeFlowPanel } from './flow/flow-panels.ts';
import { TradesPanel } from './flow/trades-panel.ts';
import { GexHeatPanel, GexStrikesPanel } from './gex/gex-panels.ts';
import { CandlesPanel } from './market/candles-panel.ts';
import { Summary } from './market/summary.ts';
import { NoticeBar, noticeOf } from './notices.ts';
import { CompositionPanel, ConcentrationPanel } from './offexchange/off-exchange-panels.ts';

/** Props of the page. */
interface AppProps {
  controller: DashboardController;
  /** The browser's clock, epoch ms. */
  now: () => number;
  /** The sample market's key; '' = not shown. */
  sampleKey: string;
  /** The palette with which the page was painted. */
  painted: Palette;
  /** Reads the current palette. */
  readPalette: () => Palette;
}

/** The whole page below the header. */
export function App({ controller, now, sampleKey, painted, readPalette }: AppProps): VNode {
  const palette = usePalette(painted, readPalette);
  const blocked = useStore(controller.store, (state) => noticeOf(state)?.block === true);
  const props = { controller, palette };
  const notice = html`<${NoticeBar} controller=${controller} now=${now} sampleKey=${sampleKey} />`;
  // In the order in which they are seen: a browser may paint before all of them have come.
  return html`<div class="desk">
    <${Summary} controller=${controller} now=${now} />
    ${blocked ? null : notice}
    <${WatchlistPanel} controller=${controller} />
    ${
      blocked
        ? notice
        : html`<div class="panels">
      <${CandlesPanel} ...${props} /><${GexStrikesPanel} ...${props} />
      <${TradesPanel} controller=${controller} /><${GexHeatPanel} ...${props} />
      <${StrikeFlowPanel} ...${props} /><${ExpiryFlowPanel} ...${props} />
      <${SmilePanel} ...${props} /><${TermPanel} ...${props} />
      <${CompositionPanel} controller=${controller} /><${ConcentrationPanel} controller=${controller} />
    </div>`
    }
    <${Help} controller=${controller} />
  </div>` as VNode;
}

// The help: keys, and a glossary.

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
function Help({ controller }: { controller: DashboardController }): VNode {
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
