// Bars as a chart of candles with volume.
import type { EChartsOption } from 'echarts';
import { axisLook, baseOption, tooltipText } from './chart-look.ts';
import { brief, change, clockTime, compact, date, dateOf, dayAndTime, dayOf, price } from './format.ts';
import type { Level } from './levels.ts';
import { faded, type Palette } from './palette.ts';
import type { BarColumns, Timeframe } from './types.ts';

/** Candles first in sight, of each length; the rest is a scroll away. */
const firstShown: Record<Timeframe, number> = { '1m': 240, '5m': 234, '1h': 210, '1d': 180 };

/** What stands below a candle: the time within a session, the day where one begins. */
export function candleLabel(atMs: number, timeframe: Timeframe, begins: ReadonlySet<number>): string {
  if (timeframe === '1d') return date(dateOf(atMs)).replace(/^\w+, /, '');
  return begins.has(atMs) ? dayOf(atMs) : clockTime(atMs);
}

/** The heading of a candle: its day, and its time where it has one. */
export const candleHeading = (tsMs: number, timeframe: Timeframe) =>
  timeframe === '1d' ? date(dateOf(tsMs)) : dayAndTime(tsMs);

/** The bars that begin another day than the one before them: [index, day]. */
export function dayStarts(tsMs: readonly number[]): [number, string][] {
  const starts: [number, string][] = [];
  for (let i = 1; i < tsMs.length; i++) {
    if (dateOf(tsMs[i - 1]!) !== dateOf(tsMs[i]!)) starts.push([i, dayOf(tsMs[i]!)]);
  }
  return starts;
}

/** The lowest and highest price of the bars; null without any. */
export function priceRange({ low, high }: BarColumns): { low: number; high: number } | null {
  if (low.length === 0) return null;
  let [least, most] = [Infinity, -Infinity];
  for (let i = 0; i < low.length; i++) {
    least = Math.min(least, low[i]!);
    most = Math.max(most, high[i]!);
  }
  return { low: least, high: most };
}

/** Levels that are near enough to the prices shown to be drawn without pressing them flat. */
export function levelsInSight(levels: readonly Level[], bars: BarColumns): Level[] {
  const range = priceRange(bars);
  if (range === null) return [];
  const room = Math.max(range.high - range.low, range.high * 0.002) * 0.5;
  return levels.filter(({ at }) => at >= range.low - room && at <= range.high + room);
}

/** The levels but the spot, highest first; those of one price under one name. */
export function namedLevels(levels: readonly Level[]): Level[] {
  const byPrice = new Map<number, Level>();
  for (const level of levels) {
    if (level.name === 'Spot') continue;
    const same = byPrice.get(level.at);
    byPrice.set(
      level.at,
      same ? { ...same, name: `${same.name}, ${level.name.toLowerCase()}`, colour: 'muted' } : level,
    );
  }
  return [...byPrice.values()].sort((a, b) => b.at - a.at);
}

/** A round number that is not below a volume, nor much above it: where its axis ends. */
export function volumeEnd(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return unit * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((times) => times * unit >= most)!;
}

interface CandleParts {
  bars: BarColumns;
  timeframe: Timeframe;
  /** Close of the session before the first bar, dollars. */
  priorClose: number | null;
  levels: readonly Level[];
  palette: Palette;
}

function lines(palette: Palette, last: number | undefined, levels: readonly Level[], rising: boolean) {
  const lastLine =
    last === undefined
      ? []
      : [
          {
            name: 'Last',
            yAxis: last,
            lineStyle: { color: rising ? palette.up : palette.down, type: 'dotted' as const, width: 1 },
            label: {
              show: true,
              position: 'end' as const,
              formatter: price(last),
              color: palette.panel,
              backgroundColor: rising ? palette.up : palette.down,
              padding: [3, 5],
              borderRadius: 2,
              fontSize: 11,
            },
          },
        ];
  const others = namedLevels(levels).map(({ name, at, colour }, index, all) => ({
    name,
    yAxis: at,
    lineStyle: { color: palette[colour], type: 'dashed' as const, width: 1, opacity: 0.8 },
    label: {
      show: true,
      // Of lines close to each other the upper one is named above, the lower one below.
      position: index === all.length - 1 && index > 0 ? ('insideStartBottom' as const) : ('insideStartTop' as const),
      formatter: `${name} ${price(at)}`,
      color: palette[colour],
      fontSize: 10,
    },
  }));
  return [...lastLine, ...others];
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
      align: 'left' as const,
      padding: [0, 0, 0, 4],
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

/** The chart. */
export function candleOption(parts: CandleParts): EChartsOption {
  const { bars, timeframe, levels, palette } = parts;
  const { tsMs, open, high, low, close, volume } = bars;
  const look = axisLook(palette);
  const tag = { backgroundColor: palette.border, color: palette.text, fontSize: 11, padding: [3, 5] };
  const labels = tsMs.map(String);
  const most = Math.max(0, ...volume);
  const begins = new Set(dayStarts(tsMs).map(([index]) => tsMs[index]!));
  const rising = close.map((value, i) => value >= open[i]!);
  const axis = { type: 'category' as const, data: labels, boundaryGap: true, axisTick: { show: false } };
  return {
    ...baseOption(palette),
    grid: [
      // An index has no volume: the candles take its room.
      { left: 8, right: 64, top: 18, bottom: most > 0 ? 84 : 28 },
      { left: 8, right: 64, height: 46, bottom: 28 },
    ],
    axisPointer: { link: [{ xAxisIndex: 'all' }] },
    xAxis: [
      { ...axis, axisLine: look.axisLine, axisLabel: { show: false }, axisPointer: { label: { show: false } } },
      {
        ...axis,
        gridIndex: 1,
        axisLine: look.axisLine,
        axisLabel: {
          ...look.axisLabel,
          formatter: (text: string) => candleLabel(Number(text), timeframe, begins),
        },
        axisPointer: { label: { ...tag, formatter: ({ value }) => candleHeading(Number(value), timeframe) } },
      },
    ],
    yAxis: [
      {
        scale: true,
        position: 'right',
        ...look,
        splitNumber: 5,
        axisLine: { show: false },
        axisLabel: { ...look.axisLabel, formatter: (value: number) => price(value) },
        axisPointer: { label: { ...tag, formatter: ({ value }) => price(Number(value)) } },
      },
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
    dataZoom: [
      {
        type: 'inside',
        xAxisIndex: [0, 1],
        startValue: Math.max(0, tsMs.length - firstShown[timeframe]),
        endValue: tsMs.length - 1,
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
    series: [
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
          data: [...dayLines(parts), ...lines(palette, close.at(-1), levels, rising.at(-1) ?? true)],
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
    ],
  };
}
