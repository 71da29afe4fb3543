// Dealer gamma through a session: strikes against time, gamma as colour, the spot as a line.
import type { EChartsOption } from 'echarts';
import { axisLook, baseOption, tooltipText } from '../charts/chart-look.ts';
import { placeAmong, weightyStrikes } from '../charts/levels.ts';
import type { Palette } from '../charts/palette.ts';
import type { GexColumn } from '../data/operation-types.ts';
import { clockTime, gex, price, strike } from '../format.ts';

/** What the heat map draws. */
export interface HeatCells {
  /** Thousandths, ascending. */
  strikes: number[];
  /** Captures, epoch ms, ascending. */
  times: number[];
  /** [index of time, index of strike, dollars per $1]; what a capture does not hold is not there. */
  cells: [number, number, number][];
  /** [index of time, place among the strikes] of the spot. */
  spot: [number, number][];
  /** The gamma at which colours are fullest: few cells go beyond it. */
  full: number;
}

const fullQuantile = 0.97;
// Strikes that are named on the axis.
const mostLabels = 14;

/** The strikes that weigh over the whole session, and their gamma capture by capture. */
export function heatCells(captures: readonly GexColumn[]): HeatCells {
  const weights = new Map<number, number>();
  for (const { strikes } of captures)
    for (const row of strikes) weights.set(row.strike, (weights.get(row.strike) ?? 0) + Math.abs(row.gex));
  const ascending = [...weights].map(([at, weight]) => ({ at, weight })).sort((a, b) => a.at - b.at);
  const strikes = weightyStrikes(ascending, ({ weight }) => weight, { tail: 0.01, least: 12 }).map(({ at }) => at);
  const index = new Map(strikes.map((at, i) => [at, i]));
  const cells: HeatCells['cells'] = [];
  const spot: HeatCells['spot'] = [];
  captures.forEach((capture, time) => {
    for (const row of capture.strikes) {
      const at = index.get(row.strike);
      if (at !== undefined) cells.push([time, at, row.gex]);
    }
    const place = capture.spot === null ? null : placeAmong(strikes, capture.spot * 1000);
    if (place !== null) spot.push([time, place]);
  });
  const sizes = cells.map(([, , value]) => Math.abs(value)).sort((a, b) => a - b);
  return {
    strikes,
    times: captures.map(({ capturedAt }) => capturedAt),
    cells,
    spot,
    full: sizes[Math.floor((sizes.length - 1) * fullQuantile)] || 1,
  };
}

function tip(shown: unknown, strikes: readonly number[], captures: readonly GexColumn[]): string {
  const { value, seriesId } = shown as { value: [number, number, number]; seriesId: string };
  const capture = captures[value[0]];
  if (!capture) return '';
  const at = `${clockTime(capture.capturedAt)}`;
  if (seriesId === 'spot') return tooltipText(at, [['Spot', price(capture.spot)]]);
  return tooltipText(at, [
    ['Strike', strike(strikes[value[1]]!)],
    ['Net GEX, per $1', gex(value[2]), value[2] >= 0 ? 'call' : 'put'],
    ['Spot', price(capture.spot)],
  ]);
}

/** The colours of gamma from −`full` to `full`, below the chart. */
const colourScale = (full: number, palette: Palette) => ({
  type: 'continuous' as const,
  min: -full,
  max: full,
  dimension: 2,
  seriesIndex: 0,
  calculable: false,
  hoverLink: false,
  orient: 'horizontal' as const,
  left: 'center',
  bottom: 0,
  itemHeight: 120,
  itemWidth: 8,
  text: [gex(full), gex(-full)],
  textStyle: { color: palette.muted, fontSize: 11 },
  inRange: { color: [palette.put, palette.raised, palette.call] },
});

/** The chart. */
export function heatOption(
  { strikes, times, cells, spot, full }: HeatCells,
  captures: readonly GexColumn[],
  palette: Palette,
): EChartsOption {
  const look = axisLook(palette);
  return {
    ...baseOption(palette),
    animation: false,
    grid: { left: 52, right: 14, top: 8, bottom: 48 },
    xAxis: { type: 'category', data: times.map(clockTime), ...look, axisTick: { show: false } },
    yAxis: [
      {
        type: 'category',
        data: strikes.map((at) => strike(at)),
        ...look,
        axisLabel: { ...look.axisLabel, interval: Math.ceil(strikes.length / mostLabels) - 1 },
        axisTick: { show: false },
        splitLine: { show: false },
      },
      { type: 'value', min: -0.5, max: strikes.length - 0.5, show: false },
    ],
    visualMap: colourScale(full, palette),
    tooltip: {
      ...(baseOption(palette).tooltip as object),
      trigger: 'item',
      formatter: (shown: unknown) => tip(shown, strikes, captures),
    },
    series: [
      {
        id: 'heat',
        type: 'heatmap',
        data: cells,
        // Drawn at once: a session is a few thousand cells.
        progressive: 0,
        progressiveThreshold: 100_000,
        emphasis: { itemStyle: { borderColor: palette.text, borderWidth: 1 } },
      },
      {
        id: 'spot',
        type: 'line',
        yAxisIndex: 1,
        data: spot,
        symbol: times.length > 1 ? 'none' : 'circle',
        lineStyle: { color: palette.text, width: 1.75 },
        itemStyle: { color: palette.text },
        z: 5,
      },
    ],
  };
}
