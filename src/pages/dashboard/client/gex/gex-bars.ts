// Dealer gamma by strike as horizontal bars along the price axis, with the levels beside them.
import type { CustomSeriesRenderItem, EChartsOption } from 'echarts';
import type { GexStrikeRow } from '../../../../../generated/pages/operation-types.ts';
import { axisLook, baseOption, type PriceRange, tooltipText } from '../charts/chart-look.ts';
import { type Level, openInterestOf, spread, typicalStep, weightyStrikes } from '../charts/levels.ts';
import type { Palette } from '../charts/palette.ts';
import { brief, compact, gex, price, strike, usd, whole } from '../format.ts';

/** Measures of the bars: net gamma, or the open interest of calls and puts. */
export type GexMeasure = 'gex' | 'oi';

interface GexParts {
  rows: readonly GexStrikeRow[];
  measure: GexMeasure;
  levels: readonly Level[];
  /** The shown prices; null = as far as strikes have weight. */
  range: PriceRange | null;
  palette: Palette;
}

/** The rows worth drawing. */
export const drawnRows = (rows: readonly GexStrikeRow[], measure: GexMeasure) =>
  weightyStrikes(rows, measure === 'gex' ? (row) => row.gex : openInterestOf, { tail: 0.025, least: 25 });

/** A bar's height: the typical distance of neighbouring strikes, dollars. */
export const strikeStep = (strikes: readonly number[]) => (typicalStep(strikes) ?? 1000) / 1000;

function tip(row: GexStrikeRow): string {
  return tooltipText(`Strike ${strike(row.strike)}`, [
    ['Net GEX, per $1', gex(row.gex), row.gex >= 0 ? 'call' : 'put'],
    ['0DTE part', gex(row.gex0dte)],
    ['Call OI, contracts', whole(row.callOi), 'call'],
    ['Put OI, contracts', whole(row.putOi), 'put'],
  ]);
}

/** Bars of [strike, from, to, colour] on value axes: ECharts' own bars are vertical there. */
function barSeries(id: string, step: number, data: number[][], colours: readonly string[]) {
  const renderItem: CustomSeriesRenderItem = (_params, api) => {
    const from = api.coord([api.value(1), api.value(0)]);
    const to = api.coord([api.value(2), api.value(0)]);
    const size = (api.size!([0, step]) as number[])[1]!;
    const height = Math.max(1, size * 0.8);
    return {
      type: 'rect',
      shape: {
        x: Math.min(from[0]!, to[0]!),
        y: to[1]! - height / 2,
        width: Math.max(0.5, Math.abs(to[0]! - from[0]!)),
        height,
      },
      style: { fill: colours[api.value(3) as number]! },
    };
  };
  return { id, type: 'custom' as const, renderItem, data, clip: true, encode: { x: [1, 2], y: 0 } };
}

// Height of a level's label, and its start beside the chart, pixels.
const [labelGap, labelLeft] = [15, 16];

/** A line from the right edge of the chart, at the level, to its label. */
function tickLine(right: number, tick: number, label: number, { stroke, dashed }: { stroke: string; dashed: boolean }) {
  const points = [
    [right, tick],
    [right + 5, tick],
    [right + labelLeft - 3, label],
  ];
  const style = { stroke, fill: 'none', lineWidth: 1.5, ...(dashed && { lineDash: [3, 2] }) };
  return { type: 'polyline' as const, shape: { points }, style };
}

function levelLabel(right: number, y: number, text: string, look: { fill: string; fontFamily: string }) {
  const style = { x: right + labelLeft, y, text, ...look, fontSize: 11, verticalAlign: 'middle' as const };
  return { type: 'text' as const, style };
}

/** The levels beside the bars: a tick at the price, joined to a label that keeps clear of its neighbours. */
function levelSeries(levels: readonly Level[], palette: Palette) {
  const ordered = levels.toSorted((a, b) => b.at - a.at);
  const renderItem: CustomSeriesRenderItem = ({ coordSys, dataIndex }, api) => {
    const { x, y, width, height } = coordSys as unknown as { x: number; y: number; width: number; height: number };
    const ticks = ordered.map(({ at }) => api.coord([0, at])[1]!);
    // Levels outside the shown prices are drawn at the edge.
    const edged = ticks.map((tick) => Math.min(y + height, Math.max(y, tick)));
    const { name, colour, dashed } = ordered[dataIndex]!;
    const tick = edged[dataIndex]!;
    const beyond = ticks[dataIndex]! < y - 1 ? '↑ ' : ticks[dataIndex]! > y + height + 1 ? '↓ ' : '';
    const label = spread(edged, labelGap, y + 4, y + height - 4)[dataIndex]!;
    const stroke = palette[colour];
    return {
      type: 'group',
      children: [
        tickLine(x + width, tick, label, { stroke, dashed }),
        levelLabel(x + width, label, `${beyond}${name}`, { fill: stroke, fontFamily: palette.font }),
      ],
    };
  };
  return {
    id: 'levels',
    type: 'custom' as const,
    renderItem,
    yAxisIndex: 1,
    data: ordered.map(({ at }) => [0, at]),
    clip: false,
    silent: true,
  };
}

/** The drawn range of prices: that of the bars, widened to the spot unless that would flatten them. */
export function drawnRange(rows: readonly GexStrikeRow[], levels: readonly Level[], step: number): [number, number] {
  const spot = levels.find(({ name }) => name === 'Spot')?.at;
  const ends = [rows[0], rows.at(-1)].flatMap((row) => (row ? [row.strike / 1000] : []));
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const isNear = spot !== undefined && spot >= low - (high - low) - step && spot <= high + (high - low) + step;
  const all = isNear || ends.length === 0 ? [...ends, spot ?? 0] : ends;
  return [Math.min(...all) - step, Math.max(...all) + step];
}

/** The rows whose strikes are within a range of prices. */
const rowsWithin = (rows: readonly GexStrikeRow[], [low, high]: PriceRange) =>
  rows.filter((row) => row.strike / 1000 >= low && row.strike / 1000 <= high);

/** Bars as [strike, from, to, colour]: one per row, or calls and puts side by side. */
const barsOf = (rows: readonly GexStrikeRow[], measure: GexParts['measure']) =>
  measure === 'gex'
    ? rows.map((row) => [row.strike / 1000, 0, row.gex, row.gex >= 0 ? 0 : 1])
    : rows.flatMap((row) => [
        [row.strike / 1000, 0, row.callOi ?? 0, 0],
        [row.strike / 1000, 0, -(row.putOi ?? 0), 1],
      ]);

/** Zoom with Ctrl and the wheel, pan with the mouse. */
const zoom = {
  type: 'inside' as const,
  yAxisIndex: [0, 1],
  filterMode: 'none' as const,
  zoomOnMouseWheel: 'ctrl' as const,
  moveOnMouseMove: true,
  moveOnMouseWheel: false,
  preventDefaultMouseMove: false,
};

/** The label of a position on the axes, with its unit. */
function pointerLabels(measure: GexMeasure) {
  return {
    amount: ({ value }: { value: unknown }) =>
      measure === 'gex' ? `${gex(Number(value))} per $1 move` : `${compact(Math.abs(Number(value)))} contracts`,
    strike: ({ value }: { value: unknown }) => `$${price(Number(value))}`,
  };
}

/** Dollars per $1 or contracts at the bottom, strikes at the left, both linear. */
function axes(measure: GexMeasure, [low, high]: PriceRange, palette: Palette): Pick<EChartsOption, 'xAxis' | 'yAxis'> {
  const look = axisLook(palette);
  const pointers = pointerLabels(measure);
  return {
    xAxis: {
      type: 'value',
      ...look,
      splitNumber: 4,
      name: measure === 'gex' ? '$ per $1 move' : 'contracts: puts left, calls right',
      nameLocation: 'middle',
      nameGap: 24,
      axisPointer: { label: { formatter: pointers.amount } },
      axisLabel: {
        ...look.axisLabel,
        formatter: (value: number) => brief(measure === 'gex' ? usd(value) : compact(Math.abs(value))),
      },
    },
    yAxis: [
      {
        type: 'value',
        min: low,
        max: high,
        ...look,
        splitLine: { show: false },
        axisPointer: { label: { formatter: pointers.strike } },
        axisLabel: {
          ...look.axisLabel,
          showMinLabel: false,
          showMaxLabel: false,
          formatter: (value: number) => strike(Math.round(value * 1000)),
        },
      },
      { type: 'value', min: low, max: high, show: false, axisPointer: { show: false } },
    ],
  };
}

/** The chart. Levels are beside the bars, so that none is hidden. */
export function gexBarsOption({ rows, measure, levels, range, palette }: GexParts): EChartsOption {
  const drawn = range === null ? drawnRows(rows, measure) : rowsWithin(rows, range);
  const step = strikeStep(drawn.map((row) => row.strike));
  const shown = range ?? drawnRange(drawn, levels, step);
  const colours = [palette.call, palette.put];
  const byStrike = new Map(drawn.map((row) => [row.strike, row]));
  return {
    ...baseOption(palette),
    // The labels' prices are in the legend above the chart.
    grid: { left: 52, right: 108, top: 8, bottom: 42 },
    ...axes(measure, shown, palette),
    dataZoom: [zoom],
    tooltip: {
      ...(baseOption(palette).tooltip as object),
      trigger: 'axis',
      axisPointer: {
        type: 'cross',
        axis: 'y',
        lineStyle: { color: palette.muted },
        crossStyle: { color: palette.muted },
      },
      formatter: (items: unknown) => {
        const [item] = items as { value: number[] }[];
        const row = item && byStrike.get(Math.round(item.value[0]! * 1000));
        return row ? tip(row) : '';
      },
    },
    series: [barSeries('gex', step, barsOf(drawn, measure), colours), levelSeries(levels, palette)],
  };
}
