// The page: head, watchlist, panels.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { WatchlistPanel } from './account/watchlist.ts';
import { SmilePanel, TermPanel } from './chain/volatility-panels.ts';
import type { Palette } from './charts/palette.ts';
import { usePalette } from './charts/theme-palette.ts';
import type { DashboardController } from './data/dashboard-controller.ts';
import { useStore } from './data/state-store.ts';
import { ExpiryFlowPanel, StrikeFlowPanel } from './flow/flow-panels.ts';
import { TradesPanel } from './flow/trades-panel.ts';
import { GexHeatPanel, GexStrikesPanel } from './gex/gex-panels.ts';
import { Help } from './help.ts';
import { CandlesPanel } from './market/candles-panel.ts';
import { Summary } from './market/summary.ts';
import { NoticeBar, noticeOf } from './notices.ts';
import { CompositionPanel, ConcentrationPanel } from './offexchange/off-exchange-panels.ts';

/** Props of the page. */
export interface AppProps {
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
