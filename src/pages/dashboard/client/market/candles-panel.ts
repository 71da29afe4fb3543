// The panel of candles with volume, and the choice of their length.

import type { CustomSeriesRenderItem, EChartsOption } from 'echarts';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { BarColumns } from '../../../../../generated/pages/operation-types.ts';
import { Chart } from '../charts/chart.ts';
import { axisLook, baseOption, tooltipText } from '../charts/chart-look.ts';
import { type Level, levelsOf, spread } from '../charts/levels.ts';
import { faded, type Palette } from '../charts/palette.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { type DashboardState, liveSpot, panelEntries } from '../data/dashboard-state.ts';
import { useEntries, useStore } from '../data/state-store.ts';
import { brief, change, compact, price } from '../format.ts';
import { Choice, Panel, type PanelState, panelState } from '../panel.ts';
import { type Timeframe, timeframes } from '../timeframes.ts';
import {
  type CandleShape,
  candleHeading,
  candleScale,
  dayStarts,
  freePlace,
  namedLevels,
  timeLabels,
  volumeEnd,
} from './candles.ts';

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

// The chart of candles with volume.

/** Number of candles initially visible, by length; the others are reached by scrolling. */
const firstShown: Record<Timeframe, number> = { '1m': 240, '5m': 234, '1h': 210, '1d': 180 };

// Height of the lines above and below the candles that list levels outside the shown prices, pixels.
const edgeRow = 18;

interface CandleParts {
  bars: BarColumns;
  timeframe: Timeframe;
  levels: readonly Level[];
  /** The current price, which the last candle may lack; null = the last candle's close is the current price. */
  live: number | null;
  palette: Palette;
}

/** The line at the last price. */
function lastLine(palette: Palette, last: number, rising: boolean) {
  const colour = rising ? palette.up : palette.down;
  return {
    name: 'Last',
    yAxis: last,
    lineStyle: { color: colour, type: 'dotted' as const, width: 1 },
    label: {
      show: true,
      position: 'end' as const,
      formatter: price(last),
      color: palette.panel,
      backgroundColor: colour,
      padding: [3, 5],
      borderRadius: 2,
      fontSize: 11,
    },
  };
}

/** The area of a chart, pixels. */
interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

// Height of a level's name, pixels.
const nameHeight = 13;

// Width of a letter of a name, pixels.
const letterWidth = 6;

const levelText = ({ name, at }: Level) => `${name} ${price(at)}`;

/** A level on the screen, and the place of its name, pixels; null = it would cover candles. */
type PlacedLevel = Level & { y: number; name: string; top: number; left: number | null };

/** Places for the names of levels within the shown prices. */
function placedNames(
  levels: readonly (Level & { y: number })[],
  { x, y, width, height }: Area,
  candles: readonly CandleShape[],
): PlacedLevel[] {
  const tops = spread(
    levels.map((level) => level.y - nameHeight),
    nameHeight,
    y,
    y + height - nameHeight,
  );
  return levels.map((level, index) => {
    const size = { top: tops[index]!, width: letterWidth * levelText(level).length, height: nameHeight };
    return { ...level, top: tops[index]!, left: freePlace(candles, { left: x + 3, right: x + width }, size) };
  });
}

/** The levels within the shown prices: lines, each with its name and price. */
function levelLines(levels: readonly PlacedLevel[], { x, width }: Area, palette: Palette) {
  return levels.flatMap((level) => {
    const colour = palette[level.colour];
    const line = {
      type: 'line' as const,
      shape: { x1: x, y1: level.y, x2: x + width, y2: level.y },
      style: { stroke: colour, lineWidth: 1, lineDash: [4, 3], opacity: 0.8 },
    };
    if (level.left === null) return [line];
    const name = {
      type: 'text' as const,
      x: level.left,
      y: level.top,
      style: { text: levelText(level), fill: colour, font: `10px ${palette.font}`, padding: [1, 3] },
    };
    return [line, name];
  });
}

/** Levels without a name among the candles, in one line above or below them, each with its mark. */
function levelsBeside(
  levels: readonly (Level & { mark: '↑' | '↓' | '┄' })[],
  { x, width }: Area,
  y: number,
  palette: Palette,
) {
  if (levels.length === 0) return [];
  const rich = Object.fromEntries(
    levels.map(({ colour }) => [colour, { fill: palette[colour], font: `10px ${palette.font}` }]),
  );
  return [
    {
      type: 'text' as const,
      x: x + 3,
      y,
      style: {
        text: levels.map((level) => `{${level.colour}|${level.mark} ${levelText(level)}}`).join('   '),
        rich,
        width,
        overflow: 'truncate' as const,
        verticalAlign: 'middle' as const,
      },
    },
  ];
}

/**
 * The levels over the visible candles, which alone determine the scale: the series has positions in time, and no
 * prices. It is drawn with the first visible candle.
 */
function levelSeries({ bars, levels, palette }: CandleParts) {
  // Highest first, from the top of the chart down.
  const named = namedLevels(levels);
  const renderItem: CustomSeriesRenderItem = ({ coordSys, dataIndex, dataIndexInside, dataInsideLength }, api) => {
    if (dataIndexInside > 0) return;
    const area = coordSys as unknown as Area;
    const candles = Array.from({ length: dataInsideLength }, (_, i) => {
      const [x, top] = api.coord([dataIndex + i, bars.high[dataIndex + i]!]) as [number, number];
      return { x, top, bottom: api.coord([dataIndex + i, bars.low[dataIndex + i]!])[1]! };
    });
    const bottom = area.y + area.height;
    const placed = named.map((level) => ({ ...level, y: api.coord([0, level.at])[1]! }));
    const inside = placed.filter(({ y }) => y >= area.y && y <= bottom);
    const within = placedNames(inside, area, candles);
    const above = [
      ...placed
        .filter(({ y }) => y < area.y)
        .map((level) => ({ ...level, mark: '↑' as const }))
        .reverse(),
      ...within.filter(({ left }) => left === null).map((level) => ({ ...level, mark: '┄' as const })),
    ];
    const below = placed.filter(({ y }) => y > bottom).map((level) => ({ ...level, mark: '↓' as const }));
    return {
      type: 'group',
      children: [
        ...levelLines(within, area, palette),
        ...levelsBeside(above, area, area.y - edgeRow / 2, palette),
        ...levelsBeside(below, area, bottom + edgeRow / 2, palette),
      ],
    };
  };
  return {
    id: 'levels',
    type: 'custom' as const,
    renderItem,
    data: named.length > 0 ? bars.tsMs.map((_, i) => [i]) : [],
    dimensions: ['candle'],
    encode: { x: 0 },
    clip: false,
    silent: true,
    z: 5,
  };
}

/** Lines between the sessions of an intraday chart. */
function dayLines({ bars, timeframe, palette }: CandleParts) {
  if (timeframe !== '1m' && timeframe !== '5m') return [];
  return dayStarts(bars.tsMs).map((index) => ({
    xAxis: index,
    lineStyle: { color: palette.border, type: 'solid' as const, width: 1 },
    label: { show: false },
  }));
}

// Width of a label of the time axis with its distance from the next, pixels.
const labelWidth = 56;

/** The labels of the time axis, for the visible candles: drawn with the first of them, below the volume. */
function timeSeries({ bars: { tsMs }, timeframe, palette }: CandleParts) {
  const renderItem: CustomSeriesRenderItem = ({ coordSys, dataIndex, dataIndexInside, dataInsideLength }, api) => {
    if (dataIndexInside > 0) return;
    const { x, y, width, height } = coordSys as unknown as Area;
    const shown = tsMs.slice(dataIndex, dataIndex + dataInsideLength);
    const labels = timeLabels(shown, timeframe, Math.ceil((labelWidth * shown.length) / width));
    const placed = labels.map(([index, text]) => ({ text, at: api.coord([dataIndex + index, 0])[0]! }));
    return {
      type: 'group',
      children: placed
        .filter(({ at }) => at >= x + labelWidth / 3 && at <= x + width)
        .map(({ text, at }) => ({
          type: 'text' as const,
          x: at,
          y: y + height + 8,
          style: { text, fill: palette.muted, font: `11px ${palette.font}`, align: 'center' as const },
        })),
    };
  };
  return {
    id: 'times',
    type: 'custom' as const,
    xAxisIndex: 1,
    yAxisIndex: 1,
    renderItem,
    data: tsMs.map((_, i) => [i]),
    dimensions: ['candle'],
    encode: { x: 0 },
    clip: false,
    silent: true,
  };
}

function candleTooltip({ bars, timeframe }: CandleParts, index: number): string {
  const open = bars.open[index]!;
  const close = bars.close[index]!;
  return tooltipText(candleHeading(bars.tsMs[index]!, timeframe), [
    ['Open', price(open)],
    ['High', price(bars.high[index])],
    ['Low', price(bars.low[index])],
    ['Close', price(close), close >= open ? 'up' : 'down'],
    ['Change', change(open === 0 ? null : (close / open - 1) * 100)],
    ['Volume', compact(bars.volume[index])],
  ]);
}

/** The initially visible candles: the last ones. */
const firstWindow = (length: number, timeframe: Timeframe) => ({
  startValue: Math.max(0, length - firstShown[timeframe]),
  endValue: Math.max(0, length - 1),
});

/** The price or time at the pointer. */
const tagOf = ({ border, text }: Palette) => ({ backgroundColor: border, color: text, fontSize: 11, padding: [3, 5] });

/** The price axis at the right, for the visible candles. */
function priceAxis({ bars, live, palette }: CandleParts) {
  const last = live ?? bars.close.at(-1) ?? null;
  const look = axisLook(palette);
  return {
    min: ({ min, max }: { min: number; max: number }) => candleScale(min, max, last)[0],
    max: ({ min, max }: { min: number; max: number }) => candleScale(min, max, last)[1],
    position: 'right' as const,
    ...look,
    splitNumber: 5,
    axisLine: { show: false },
    axisLabel: {
      ...look.axisLabel,
      showMinLabel: false,
      showMaxLabel: false,
      formatter: (value: number) => price(value),
    },
    axisPointer: {
      label: { ...tagOf(palette), formatter: ({ value }: { value: unknown }) => price(Number(value)) },
    },
  };
}

/** Time at the bottom, prices and volume at the right. */
function axes(parts: CandleParts, most: number): Pick<EChartsOption, 'xAxis' | 'yAxis'> {
  const { bars, timeframe, palette } = parts;
  const { tsMs } = bars;
  const look = axisLook(palette);
  const tag = tagOf(palette);
  const axis = { type: 'category' as const, data: tsMs.map(String), boundaryGap: true, axisTick: { show: false } };
  return {
    xAxis: [
      { ...axis, axisLine: look.axisLine, axisLabel: { show: false }, axisPointer: { label: { show: false } } },
      {
        ...axis,
        gridIndex: 1,
        axisLine: look.axisLine,
        axisLabel: { show: false },
        axisPointer: { label: { ...tag, formatter: ({ value }) => candleHeading(Number(value), timeframe) } },
      },
    ],
    yAxis: [
      priceAxis(parts),
      {
        gridIndex: 1,
        position: 'right',
        ...look,
        min: 0,
        max: volumeEnd(most),
        interval: volumeEnd(most),
        show: most > 0,
        splitLine: { show: false },
        axisLine: { show: false },
        axisLabel: { ...look.axisLabel, showMinLabel: false, formatter: (value: number) => brief(compact(value)) },
        axisPointer: { label: { ...tag, formatter: ({ value }) => compact(Number(value)) } },
      },
    ],
  };
}

/** Candles with their lines, and volume. */
function series(parts: CandleParts): EChartsOption['series'] {
  const { bars, live, palette } = parts;
  const { tsMs, open, high, low, close, volume } = bars;
  const rising = close.map((value, i) => value >= open[i]!);
  const last = live ?? close.at(-1);
  const rises = live === null ? (rising.at(-1) ?? true) : live >= (close.at(-1) ?? live);
  return [
    {
      id: 'price',
      name: 'Price',
      type: 'candlestick',
      data: tsMs.map((_, i) => [open[i]!, close[i]!, low[i]!, high[i]!]),
      itemStyle: { color: palette.up, borderColor: palette.up, color0: palette.down, borderColor0: palette.down },
      markLine: {
        symbol: 'none',
        animation: false,
        silent: true,
        data: [...dayLines(parts), ...(last === undefined ? [] : [lastLine(palette, last, rises)])],
      },
    },
    {
      id: 'volume',
      name: 'Volume',
      type: 'bar',
      xAxisIndex: 1,
      yAxisIndex: 1,
      data: volume.map((value, i) => ({
        value,
        itemStyle: { color: faded(rising[i] ? palette.up : palette.down, 0.55) },
      })),
    },
    levelSeries(parts),
    timeSeries(parts),
  ];
}

/** The chart. */
export function candleOption(parts: CandleParts): EChartsOption {
  const { bars, timeframe, palette } = parts;
  const { length } = bars.tsMs;
  const most = Math.max(0, ...bars.volume);
  return {
    ...baseOption(palette),
    grid: [
      // An index has no volume: the candles use its space.
      { left: 8, right: 64, top: edgeRow, bottom: (most > 0 ? 76 : 28) + edgeRow },
      { left: 8, right: 64, height: 46, bottom: 28 },
    ],
    axisPointer: { link: [{ xAxisIndex: 'all' }] },
    ...axes(parts, most),
    dataZoom: [
      {
        type: 'inside',
        xAxisIndex: [0, 1],
        ...firstWindow(length, timeframe),
        zoomOnMouseWheel: 'ctrl',
        moveOnMouseWheel: false,
        moveOnMouseMove: true,
        preventDefaultMouseMove: false,
      },
    ],
    tooltip: {
      ...(baseOption(palette).tooltip as object),
      trigger: 'axis',
      axisPointer: { type: 'cross', lineStyle: { color: palette.muted }, crossStyle: { color: palette.muted } },
      formatter: (shown: unknown) => candleTooltip(parts, (shown as { dataIndex: number }[])[0]!.dataIndex),
    },
    series: series(parts)!,
  };
}
