// Dealer gamma by strike as bars that lie along the price axis, with the levels drawn across.
import type { CustomSeriesRenderItem, EChartsOption } from 'echarts';
import { axisLook, baseOption, tooltipText } from '../charts/chart-look.ts';
import { type Level, openInterestOf, weightyStrikes } from '../charts/levels.ts';
import { faded, type Palette } from '../charts/palette.ts';
import type { GexStrikeRow } from '../data/operation-types.ts';
import { brief, compact, gex, strike, usd, whole } from '../format.ts';

/** What the bars measure: net gamma, or the open interest of calls and puts. */
export type GexMeasure = 'gex' | 'oi';

interface GexParts {
  rows: readonly GexStrikeRow[];
  measure: GexMeasure;
  levels: readonly Level[];
  palette: Palette;
}

/** The rows worth drawing. */
export const drawnRows = (rows: readonly GexStrikeRow[], measure: GexMeasure) =>
  weightyStrikes(rows, measure === 'gex' ? (row) => row.gex : openInterestOf, { tail: 0.025, least: 25 });

/** The least distance of neighbouring strikes, dollars: a bar's height. */
export function strikeStep(strikes: readonly number[]): number {
  let step = Infinity;
  for (let i = 1; i < strikes.length; i++) step = Math.min(step, strikes[i]! - strikes[i - 1]!);
  return Number.isFinite(step) && step > 0 ? step / 1000 : 1;
}

function tip(row: GexStrikeRow): string {
  return tooltipText(`Strike ${strike(row.strike)}`, [
    ['Net GEX, per $1', gex(row.gex), row.gex >= 0 ? 'call' : 'put'],
    ['0DTE part', gex(row.gex0dte)],
    ['Call OI', whole(row.callOi), 'call'],
    ['Put OI', whole(row.putOi), 'put'],
  ]);
}

/** Bars of [strike, from, to, colour] on value axes: ECharts' own bars stand upright there. */
function barSeries(id: string, step: number, data: number[][], colours: readonly string[]) {
  const renderItem: CustomSeriesRenderItem = (_params, api) => {
    const from = api.coord([api.value(1), api.value(0)]);
    const to = api.coord([api.value(2), api.value(0)]);
    const size = (api.size!([0, step]) as number[])[1]!;
    const height = Math.max(1, Math.min(16, size * 0.78));
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

function lineOf({ name, at, colour, dashed }: Level, palette: Palette) {
  return {
    name,
    yAxis: at,
    lineStyle: {
      color: palette[colour],
      type: dashed ? ('dashed' as const) : ('solid' as const),
      width: dashed ? 1.25 : 1,
    },
    label: { show: false },
  };
}

/** The range of prices drawn: that of the bars, widened to the spot. */
export function drawnRange(rows: readonly GexStrikeRow[], levels: readonly Level[], step: number): [number, number] {
  const spot = levels.find(({ name }) => name === 'Spot')?.at;
  const ends = [rows[0], rows.at(-1)].flatMap((row) => (row ? [row.strike / 1000] : []));
  const all = spot === undefined ? ends : [...ends, spot];
  return [Math.min(...all) - step, Math.max(...all) + step];
}

/** Bars as [strike, from, to, colour]: one per row, or calls and puts beside each other. */
const barsOf = (rows: readonly GexStrikeRow[], measure: GexParts['measure']) =>
  measure === 'gex'
    ? rows.map((row) => [row.strike / 1000, 0, row.gex, row.gex >= 0 ? 0 : 1])
    : rows.flatMap((row) => [
        [row.strike / 1000, 0, row.callOi ?? 0, 0],
        [row.strike / 1000, 0, -(row.putOi ?? 0), 1],
      ]);

/** Zooms with Ctrl and the wheel, moves with the mouse. */
const zoom = {
  type: 'inside' as const,
  yAxisIndex: 0,
  filterMode: 'none' as const,
  zoomOnMouseWheel: 'ctrl' as const,
  moveOnMouseMove: true,
  moveOnMouseWheel: false,
  preventDefaultMouseMove: false,
};

/** The chart. */
export function gexBarsOption({ rows, measure, levels, palette }: GexParts): EChartsOption {
  const drawn = drawnRows(rows, measure);
  const step = strikeStep(drawn.map((row) => row.strike));
  const look = axisLook(palette);
  const [low, high] = drawnRange(drawn, levels, step);
  const colours = [palette.call, palette.put, faded(palette.call, 0.45), faded(palette.put, 0.45)];
  const byStrike = new Map(drawn.map((row) => [row.strike, row]));
  return {
    ...baseOption(palette),
    grid: { left: 52, right: 14, top: 8, bottom: 26 },
    xAxis: {
      type: 'value',
      ...look,
      splitNumber: 4,
      axisLabel: {
        ...look.axisLabel,
        formatter: (value: number) => brief(measure === 'gex' ? usd(value) : compact(Math.abs(value))),
      },
    },
    yAxis: {
      type: 'value',
      min: low,
      max: high,
      ...look,
      splitLine: { show: false },
      axisLabel: {
        ...look.axisLabel,
        showMinLabel: false,
        showMaxLabel: false,
        formatter: (value: number) => strike(Math.round(value * 1000)),
      },
    },
    dataZoom: [zoom],
    tooltip: {
      ...(baseOption(palette).tooltip as object),
      trigger: 'item',
      formatter: (shown: unknown) => {
        const row = byStrike.get(Math.round((shown as { value: number[] }).value[0]! * 1000));
        return row ? tip(row) : '';
      },
    },
    series: [
      {
        ...barSeries('gex', step, barsOf(drawn, measure), colours),
        markLine: {
          symbol: 'none',
          silent: true,
          animation: false,
          data: levels.filter(({ at }) => at >= low && at <= high).map((level) => lineOf(level, palette)),
        },
      },
    ],
  };
}
