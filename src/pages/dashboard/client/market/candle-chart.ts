// The chart of candles with volume.
import type { EChartsOption } from 'echarts';
import type { BarColumns } from '../../../../../generated/pages/operation-types.ts';
import { axisLook, baseOption, tooltipText } from '../charts/chart-look.ts';
import type { Level } from '../charts/levels.ts';
import { faded, type Palette } from '../charts/palette.ts';
import type { PriceRange } from '../charts/price-axis.ts';
import { brief, change, compact, price } from '../format.ts';
import type { Timeframe } from '../timeframes.ts';
import { candleHeading, candleLabel, dayStarts, namedLevels, volumeEnd } from './candles.ts';

/** Candles first in sight, of each length; the rest is a scroll away. */
const firstShown: Record<Timeframe, number> = { '1m': 240, '5m': 234, '1h': 210, '1d': 180 };

interface CandleParts {
  bars: BarColumns;
  timeframe: Timeframe;
  levels: readonly Level[];
  /** The price as it is now, which the last candle may not have yet; null = the last candle's close is the last. */
  live: number | null;
  /** The prices shown, where the gamma of the strikes shares them; null = those of the candles in sight. */
  range: PriceRange | null;
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
      // Readable where candles lie below it.
      backgroundColor: faded(palette.panel, 0.9),
      padding: [1, 3],
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

/** Time below, prices and volume at the right. */
function axes({ bars, timeframe, range, palette }: CandleParts, most: number): Pick<EChartsOption, 'xAxis' | 'yAxis'> {
  const { tsMs } = bars;
  const look = axisLook(palette);
  const tag = { backgroundColor: palette.border, color: palette.text, fontSize: 11, padding: [3, 5] };
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
      {
        ...(range === null ? { scale: true } : { min: range[0], max: range[1] }),
        position: 'right',
        ...look,
        splitNumber: 5,
        axisLine: { show: false },
        axisLabel: {
          ...look.axisLabel,
          ...(range !== null && { showMinLabel: false, showMaxLabel: false }),
          formatter: (value: number) => price(value),
        },
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
  };
}

/** Candles with their lines, and volume. */
function series(parts: CandleParts): EChartsOption['series'] {
  const { bars, levels, live, palette } = parts;
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
        data: [...dayLines(parts), ...lines(palette, last, levels, rises)],
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
      // An index has no volume: the candles take its room.
      { left: 8, right: 64, top: 18, bottom: most > 0 ? 84 : 28 },
      { left: 8, right: 64, height: 46, bottom: 28 },
    ],
    axisPointer: { link: [{ xAxisIndex: 'all' }] },
    ...axes(parts, most),
    dataZoom: [
      {
        type: 'inside',
        xAxisIndex: [0, 1],
        startValue: Math.max(0, length - firstShown[timeframe]),
        endValue: length - 1,
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
