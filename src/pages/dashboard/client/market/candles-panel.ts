// The panel of candles with volume, and the choice of their length.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { BarColumns } from '../../../../../generated/pages/operation-types.ts';
import { Chart } from '../charts/chart.ts';
import { levelsOf } from '../charts/levels.ts';
import type { Palette } from '../charts/palette.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { type DashboardState, liveSpot, panelEntries } from '../data/dashboard-state.ts';
import { useEntries, useStore } from '../data/state-store.ts';
import { compact, price } from '../format.ts';
import { Choice, Panel, type PanelState, panelState } from '../panel.ts';
import { type Timeframe, timeframes } from '../timeframes.ts';
import { candleOption } from './candle-chart.ts';
import { candleHeading } from './candles.ts';

const names: Record<Timeframe, string> = { '1m': '1m', '5m': '5m', '1h': '1h', '1d': '1d' };

const entries = [...panelEntries, 'bars', 'barsLoading', 'capture'] as const;

function stateOf(state: Pick<DashboardState, (typeof entries)[number]>): PanelState {
  if (state.barsLoading && state.bars === null) return { kind: 'loading' };
  const days = state.view.timeframe === '1d';
  const none = (state.bars?.columns.tsMs.length ?? 0) === 0;
  return panelState(
    state,
    ['symbol', 'bars'],
    none
      ? `No ${days ? 'daily' : 'minute'} bars of ${state.view.symbol} are stored for ${days ? 'this time' : 'this session'}.`
      : null,
    null,
    days ? 'stock-day-bars' : 'stock-minute-bars',
  );
}

/** A description of the chart in one sentence. */
function sentence({ tsMs, open, high, low, close }: BarColumns, symbol: string, timeframe: Timeframe): string {
  const last = tsMs.length - 1;
  if (last < 0) return `Candles of ${symbol}: none.`;
  const from = `${candleHeading(tsMs[0]!, timeframe)} at ${price(open[0])}`;
  const to = `${candleHeading(tsMs[last]!, timeframe)} at ${price(close[last])}`;
  const range = `${price(low[last])} and ${price(high[last])}`;
  return `${tsMs.length} candles of ${symbol}, ${timeframe} each, from ${from} to ${to}; the last between ${range}.`;
}

function figures({ tsMs, open, high, low, close, volume }: BarColumns, timeframe: Timeframe) {
  return {
    head: ['Time', 'Open', 'High', 'Low', 'Close', 'Volume'],
    rows: tsMs
      .map((at, i) => [
        candleHeading(at, timeframe),
        price(open[i]),
        price(high[i]),
        price(low[i]),
        price(close[i]),
        compact(volume[i]),
      ])
      .reverse(),
  };
}

export function CandlesPanel({ controller, palette }: { controller: DashboardController; palette: Palette }): VNode {
  const state = useEntries(controller.store, entries);
  const [withLevels, setWithLevels] = useState(true);
  const { bars, view, capture } = state;
  const live = useStore(controller.store, liveSpot);
  const option = useMemo(() => {
    if (bars === null) return {};
    const levels = withLevels ? levelsOf(capture, null) : [];
    return candleOption({
      bars: bars.columns,
      timeframe: view.timeframe,
      levels,
      live,
      palette,
    });
  }, [bars, view.timeframe, capture, withLevels, live, palette]);
  const controls = html`
    <button type="button" class="chip" aria-pressed=${withLevels} onClick=${() => setWithLevels(!withLevels)} title="Flip point, zero gamma and walls of dealer gamma; an arrow points to those beyond the prices shown, a dash to a line without room for its name">Levels</button>
    <${Choice} label="Length of a candle" values=${timeframes} names=${names} value=${view.timeframe} choose=${(timeframe: Timeframe) => controller.show({ timeframe })} />`;
  return html`<${Panel} id="candles" title="Price" state=${stateOf(state)} retry=${() => controller.reload()} controls=${controls}
    note="New York time"
    table=${() => figures(bars!.columns, view.timeframe)}>
    <${Chart} option=${option} length=${bars?.columns.tsMs.length ?? 0} subject=${`${view.symbol} ${view.timeframe} ${view.session} ${bars === null}`}
      label=${bars === null ? '' : sentence(bars.columns, view.symbol, view.timeframe)} />
  <//>` as VNode;
}
