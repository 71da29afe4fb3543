// The session's option flow panels, calls against puts.
import type { EChartsOption } from 'echarts';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { CrossSection } from '../../../../../generated/pages/operation-types.ts';
import { Chart } from '../charts/chart.ts';
import type { Palette } from '../charts/palette.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { liveSpot, panelEntries, shownSession } from '../data/dashboard-state.ts';
import { useEntries, useStore } from '../data/state-store.ts';
import { clockTime, ratio, shortDate } from '../format.ts';
import { Choice, Panel, panelState } from '../panel.ts';
import {
  callsAndPuts,
  expiryFlowOption,
  expiryRows,
  type FlowMeasure,
  type FlowRow,
  flowMeasureNames,
  flowMeasures,
  flowText,
  flowTotals,
  strikeFlowOption,
  strikeRows,
} from './flow-bars.ts';

const words: Record<FlowMeasure, string> = { premium: 'premium', volume: 'contracts', trades: 'prints' };

function legend(totals: { calls: number; puts: number }, measure: FlowMeasure): VNode {
  return html`<ul class="legend">
    <li><i class="box call"></i>Calls <b>${flowText(totals.calls, measure)}</b></li>
    <li><i class="box put"></i>Puts <b>${flowText(totals.puts, measure)}</b></li>
    <li>Put/call <b>${ratio(totals.puts, totals.calls)}</b></li>
  </ul>` as VNode;
}

/** `shown` = the session of the page. */
function note({ coverage }: CrossSection, shown: string): string {
  const through = coverage.complete ? 'whole session' : `through ${clockTime(coverage.observedThroughMs)}`;
  return `${shortDate(coverage.sessionDate, shown)}, ${through}`;
}

const entries = [...panelEntries, 'crossSection', 'capture'] as const;

interface FlowPanelProps {
  controller: DashboardController;
  palette: Palette;
  id: string;
  title: string;
  by: string;
  rowsOf: (snapshot: CrossSection, measure: FlowMeasure) => FlowRow[];
  withSpot: boolean;
}

function FlowPanel({ controller, palette, id, title, by, rowsOf, withSpot }: FlowPanelProps): VNode {
  const state = useEntries(controller.store, entries);
  const [measure, setMeasure] = useState<FlowMeasure>('premium');
  const { crossSection, view, capture } = state;
  const live = useStore(controller.store, liveSpot);
  const snapshot = crossSection?.snapshot ?? null;
  const past = view.session !== null && capture?.sessionDate === view.session ? capture.spot : null;
  const spot = withSpot ? (live ?? past) : null;
  const rows = useMemo(() => (snapshot === null ? [] : rowsOf(snapshot, measure)), [snapshot, measure]);
  const option: EChartsOption = useMemo(
    () => (withSpot ? strikeFlowOption(rows, measure, palette, spot) : expiryFlowOption(rows, measure, palette)),
    [rows, measure, palette, spot],
  );
  const totals = snapshot === null ? { calls: 0, puts: 0 } : flowTotals(snapshot.update.byExpiration, measure);
  const why = snapshot === null ? (crossSection?.meta.note ?? `No option trades of ${view.symbol} are stored.`) : null;
  return html`<${Panel} id=${id} title=${title} state=${panelState(state, ['symbol', 'flow', 'crossSection'], why, null, 'option-trades')} retry=${() => controller.reload()}
    note=${snapshot && note(snapshot, shownSession(state))}
    controls=${html`<${Choice} label="Measure" values=${flowMeasures} names=${flowMeasureNames} value=${measure} choose=${setMeasure} />`}
    legend=${legend(totals, measure)}
    table=${() => ({
      head: [by, `Call ${words[measure]}`, `Put ${words[measure]}`],
      rows: rows.map(({ name, measures }) => {
        const { calls, puts } = callsAndPuts(measures, measure);
        return [name, flowText(calls, measure), flowText(puts, measure)];
      }),
    })}>
    <${Chart} option=${option} subject=${`${view.symbol} ${view.session} ${measure}`}
      label=${`Option flow of ${view.symbol}, ${title.toLowerCase()}: calls ${flowText(totals.calls, measure)} ${words[measure]}, puts ${flowText(totals.puts, measure)}.`} />
  <//>` as VNode;
}

const byStrike = (snapshot: CrossSection, measure: FlowMeasure) => strikeRows(snapshot.update.byStrike, measure);
const byExpiry = (snapshot: CrossSection) => expiryRows(snapshot.update.byExpiration);

/** Flow by strike, over all expirations. */
export function StrikeFlowPanel(props: { controller: DashboardController; palette: Palette }): VNode {
  return html`<${FlowPanel} ...${props} id="flow-strikes" title="Flow by strike" by="Strike" rowsOf=${byStrike} withSpot />` as VNode;
}

/** Flow by expiration, over all strikes. */
export function ExpiryFlowPanel(props: { controller: DashboardController; palette: Palette }): VNode {
  return html`<${FlowPanel} ...${props} id="flow-expiries" title="Flow by expiry" by="Expires" rowsOf=${byExpiry} withSpot=${false} />` as VNode;
}
