// The chart of candles with volume.
import type { CustomSeriesRenderItem, EChartsOption } from 'echarts';
import type { BarColumns } from '../../../../../generated/pages/operation-types.ts';
import { axisLook, baseOption, tooltipText } from '../charts/chart-look.ts';
import { type Level, spread } from '../charts/levels.ts';
import { faded, type Palette } from '../charts/palette.ts';
import { brief, change, compact, price } from '../format.ts';
import type { Timeframe } from '../timeframes.ts';
import { candleHeading, candleLabel, candleScale, dayStarts, namedLevels, volumeEnd } from './candles.ts';

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

/** The levels within the shown prices: lines, each with its name and price. */
function levelLines(levels: readonly (Level & { y: number })[], { x, y, width, height }: Area, palette: Palette) {
  const names = spread(
    levels.map((level) => level.y - nameHeight),
    nameHeight,
    y,
    y + height - nameHeight,
  );
  return levels.flatMap(({ name, at, colour, y: line }, index) => [
    {
      type: 'line' as const,
      shape: { x1: x, y1: line, x2: x + width, y2: line },
      style: { stroke: palette[colour], lineWidth: 1, lineDash: [4, 3], opacity: 0.8 },
    },
    {
      type: 'text' as const,
      x: x + 3,
      y: names[index]!,
      style: {
        text: `${name} ${price(at)}`,
        fill: palette[colour],
        font: `10px ${palette.font}`,
        // Legible on top of candles.
        backgroundColor: faded(palette.panel, 0.9),
        padding: [1, 3],
      },
    },
  ]);
}

/** The levels outside the shown prices, in one line above or below the candles: the nearest first, with an arrow. */
function levelsBeyond(levels: readonly Level[], arrow: '↑' | '↓', { x, width }: Area, y: number, palette: Palette) {
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
        text: levels.map(({ name, at, colour }) => `{${colour}|${arrow} ${name} ${price(at)}}`).join('   '),
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
  const renderItem: CustomSeriesRenderItem = ({ coordSys, dataIndexInside }, api) => {
    if (dataIndexInside > 0) return;
    const area = coordSys as unknown as Area;
    const bottom = area.y + area.height;
    const placed = named.map((level) => ({ ...level, y: api.coord([0, level.at])[1]! }));
    const above = placed.filter(({ y }) => y < area.y).reverse();
    const below = placed.filter(({ y }) => y > bottom);
    const within = placed.filter(({ y }) => y >= area.y && y <= bottom);
    return {
      type: 'group',
      children: [
        ...levelLines(within, area, palette),
        ...levelsBeyond(above, '↑', area, area.y - edgeRow / 2, palette),
        ...levelsBeyond(below, '↓', area, bottom + edgeRow / 2, palette),
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
  return dayStarts(bars.tsMs).map(([index, day]) => ({
    xAxis: index,
    lineStyle: { color: palette.border, type: 'solid' as const, width: 1 },
    label: {
      show: true,
      position: 'insideEndTop' as const,
      rotate: 0,
      formatter: day,
      color: palette.muted,
      fontSize: 10,
      // Below the line with the levels above the shown prices.
      align: 'left' as const,
      verticalAlign: 'top' as const,
      padding: [9, 0, 0, 4],
    },
  }));
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
  const begins = new Set(dayStarts(tsMs).map(([index]) => tsMs[index]!));
  const axis = { type: 'category' as const, data: tsMs.map(String), boundaryGap: true, axisTick: { show: false } };
  return {
    xAxis: [
      { ...axis, axisLine: look.axisLine, axisLabel: { show: false }, axisPointer: { label: { show: false } } },
      {
        ...axis,
        gridIndex: 1,
        axisLine: look.axisLine,
        axisLabel: {
          ...look.axisLabel,
          formatter: (text: string) => candleLabel(Number(text), timeframe, begins, tsMs.at(-1)!),
        },
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
