// Dealer gamma panels: by strike now, and during the session.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Chart } from '../charts/chart.ts';
import { candlesElsewhere, nearRange } from '../charts/chart-look.ts';
import { type Level, levelsOf } from '../charts/levels.ts';
import type { Palette } from '../charts/palette.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { liveSpot, panelEntries, shownSession } from '../data/dashboard-state.ts';
import { useEntries, useStore } from '../data/state-store.ts';
import { clockTime, dayAndTime, fullDate, gex, price, shortDate, strike, whole } from '../format.ts';
import { Choice, Panel, panelState } from '../panel.ts';
import { drawnRows, type GexMeasure, gexBarsOption } from './gex-bars.ts';
import { heatCells, heatOption } from './gex-heat.ts';

const measures = ['gex', 'oi'] as const;
const measureNames: Record<GexMeasure, string> = { gex: 'Net gamma', oi: 'Open interest' };

const strikesEntries = [...panelEntries, 'capture', 'bars'] as const;
const extents = ['near', 'all'] as const;
const extentNames = { near: 'Near the spot', all: 'All strikes' };
const heatEntries = [...panelEntries, 'history'] as const;

function legend(levels: readonly Level[]): VNode {
  return html`<ul class="legend">${levels.map(
    ({ name, at, colour, dashed }) =>
      html`<li><i class=${`line ${colour} ${dashed ? 'dashed' : ''}`}></i>${name} <b>${price(at)}</b></li>`,
  )}</ul>` as VNode;
}

/** Gamma by strike. */
export function GexStrikesPanel({ controller, palette }: { controller: DashboardController; palette: Palette }): VNode {
  const state = useEntries(controller.store, strikesEntries);
  const [measure, setMeasure] = useState<GexMeasure>('gex');
  const [extent, setExtent] = useState<(typeof extents)[number]>('near');
  const { capture, view, bars } = state;
  const shown = shownSession(state);
  const live = useStore(controller.store, liveSpot);
  const levels = useMemo(() => levelsOf(capture, live), [capture, live]);
  const near = nearRange(capture?.strikes ?? [], capture?.spot ?? null);
  const elsewhere = candlesElsewhere(bars?.columns ?? null, view.timeframe, near);
  const range = extent === 'near' ? near : null;
  const option = useMemo(
    () => (capture === null ? {} : gexBarsOption({ rows: capture.strikes, measure, levels, range, palette })),
    [capture, levels, measure, range?.join(), palette],
  );
  const why =
    capture === null
      ? `No option chain of ${view.symbol} is stored${view.session === null ? '' : ` up to ${fullDate(view.session)}`}.`
      : capture.strikes.length === 0
        ? 'The capture has no strikes with open interest.'
        : null;
  const path = ['symbol', 'gex', view.session === null ? 'latest' : 'at'];
  const label =
    capture === null
      ? ''
      : `Dealer gamma of ${view.symbol} by strike: net ${gex(capture.netGex)} per $1 move; ${levels.map(({ name, at }) => `${name} ${price(at)}`).join(', ')}.`;
  return html`<${Panel} id="gex-strikes" title="Gamma by strike" state=${panelState(state, path, why, null, capture === null ? 'chain' : null)} retry=${() => controller.reload()}
    note=${capture && `${dayAndTime(capture.capturedAt, shown)}${elsewhere ? `; candles at ${price(elsewhere.low)}–${price(elsewhere.high)}` : ''}`}
    controls=${html`${
      near === null
        ? null
        : html`<${Choice} label="Strikes" values=${extents} names=${extentNames} value=${extent} choose=${setExtent} />`
    }
      <${Choice} label="Measure" values=${measures} names=${measureNames} value=${measure} choose=${setMeasure} />`}
    legend=${legend(levels)}
    table=${() => ({
      head: ['Strike', 'Net GEX, per $1', '0DTE part', 'Call OI', 'Put OI'],
      rows: drawnRows(capture!.strikes, measure)
        .toReversed()
        .map((row) => [strike(row.strike), gex(row.gex), gex(row.gex0dte), whole(row.callOi), whole(row.putOi)]),
    })}>
    <${Chart} option=${option} subject=${`${view.symbol} ${view.session} ${measure} ${extent}`} label=${label} />
  <//>` as VNode;
}

/** Gamma during the session. */
export function GexHeatPanel({ controller, palette }: { controller: DashboardController; palette: Palette }): VNode {
  const state = useEntries(controller.store, heatEntries);
  const { history, view } = state;
  const shown = shownSession(state);
  const captures = history?.captures ?? [];
  const cells = useMemo(() => heatCells(captures), [history]);
  const option = useMemo(() => (history === null ? {} : heatOption(cells, history, palette)), [cells, palette]);
  const why =
    captures.length === 0
      ? `No option chain of ${view.symbol} is stored of the session${history ? ` of ${fullDate(history.sessionDate)}` : ''}.`
      : null;
  const first = captures[0];
  const last = captures.at(-1);
  return html`<${Panel} id="gex-heat" title="Gamma through the session" state=${panelState(state, ['symbol', 'gex', 'history'], why, 'heat', 'chain')} part="heat" see=${() => controller.see()} retry=${() => controller.reload()}
    note=${history && `${shortDate(history.sessionDate, shown)}, ${captures.length} ${captures.length === 1 ? 'capture' : 'captures'}; line: spot`}
    table=${() => ({
      head: ['Capture', 'Spot', 'Largest gamma', 'Lowest gamma'],
      rows: captures.toReversed().map((capture) => {
        const rows = capture.strikes.toSorted((a, b) => b.gex - a.gex);
        const [most, least] = [rows[0], rows.at(-1)];
        return [
          clockTime(capture.capturedAt),
          price(capture.spot),
          most ? `${strike(most.strike)} (${gex(most.gex)})` : '',
          least ? `${strike(least.strike)} (${gex(least.gex)})` : '',
        ];
      }),
    })}>
    <${Chart} option=${option} subject=${`${view.symbol} ${history?.sessionDate}`}
      label=${
        first && last
          ? `Heat map of dealer gamma of ${view.symbol}: ${cells.strikes.length} strikes ` +
            `from ${clockTime(first.capturedAt)} to ${clockTime(last.capturedAt)}; ` +
            `the spot went from ${price(first.spot)} to ${price(last.spot)}.`
          : ''
      } />
  <//>` as VNode;
}
