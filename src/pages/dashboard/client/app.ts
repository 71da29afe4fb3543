// The page: head, watchlist, panels.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { CandlesPanel } from './candles-panel.ts';
import type { Desk } from './desk.ts';
import { ExpiryFlowPanel, StrikeFlowPanel } from './flow-panels.ts';
import { GexHeatPanel, GexStrikesPanel } from './gex-panels.ts';
import { Help } from './help.ts';
import { NoticeBar, noticeOf } from './notices.ts';
import { CompositionPanel, ConcentrationPanel } from './off-exchange-panels.ts';
import { useStore } from './store.ts';
import { Summary } from './summary.ts';
import { usePalette } from './theme-palette.ts';
import { TradesPanel } from './trades-panel.ts';
import { SmilePanel, TermPanel } from './volatility-panels.ts';
import { WatchlistPanel } from './watchlist.ts';

/** The whole page below the header. */
export function App({ desk, now }: { desk: Desk; now: () => number }): VNode {
  const palette = usePalette();
  const blocked = useStore(desk.store, (state) => noticeOf(state)?.block === true);
  const props = { desk, palette };
  return html`<div class="desk">
    <${Summary} desk=${desk} />
    <${NoticeBar} desk=${desk} now=${now} />
    <${WatchlistPanel} desk=${desk} />
    ${
      blocked
        ? null
        : html`<div class="panels">
      <${CandlesPanel} ...${props} /><${GexStrikesPanel} ...${props} />
      <${TradesPanel} desk=${desk} /><${GexHeatPanel} ...${props} />
      <${StrikeFlowPanel} ...${props} /><${ExpiryFlowPanel} ...${props} />
      <${SmilePanel} ...${props} /><${TermPanel} ...${props} />
      <${CompositionPanel} desk=${desk} /><${ConcentrationPanel} desk=${desk} />
    </div>`
    }
    <${Help} desk=${desk} />
  </div>` as VNode;
}
