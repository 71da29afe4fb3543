// Dealer gamma during a session: strikes against time, both linear, gamma as colour, the spot as a line.
import type { CustomSeriesRenderItem, EChartsOption } from 'echarts';
import type { GexColumn, GexHistory } from '../../../../../generated/pages/operation-types.ts';
import { axisLook, baseOption, strikeAxisLook, tooltipText } from '../charts/chart-look.ts';
import { typicalStep, weightyStrikes } from '../charts/levels.ts';
import type { Palette } from '../charts/palette.ts';
import { clockTime, gex, price, strike } from '../format.ts';

/** Cells of the heat map. */
export interface HeatCells {
  /** Thousandths, ascending. */
  strikes: number[];
  /** [capture's instant, epoch ms; strike, dollars; gamma, dollars per $1; time until the next, ms]. */
  cells: [number, number, number, number][];
  /** [capture's instant, spot in dollars]. */
  spot: [number, number][];
  /** The gamma of the fullest colours: few cells exceed it. */
  full: number;
  /** Height of a cell, dollars. */
  step: number;
}

const fullQuantile = 0.97;
const minuteMs = 60_000;
/** Width of the last capture's cells. */
const usualGapMs = 5 * minuteMs;

/** The strikes with weight over the whole session, and their gamma by capture. */
export function heatCells(captures: readonly GexColumn[]): HeatCells {
  const weights = new Map<number, number>();
  for (const { strikes } of captures)
    for (const row of strikes) weights.set(row.strike, (weights.get(row.strike) ?? 0) + Math.abs(row.gex));
  const ascending = [...weights].map(([at, weight]) => ({ at, weight })).sort((a, b) => a.at - b.at);
  const strikes = weightyStrikes(ascending, ({ weight }) => weight, { tail: 0.01, least: 12 }).map(({ at }) => at);
  const wanted = new Set(strikes);
  const gap = typicalStep(captures.map(({ capturedAt }) => capturedAt)) ?? usualGapMs;
  const cells = captures.flatMap(({ capturedAt, strikes: rows }, i) => {
    const next = captures[i + 1]?.capturedAt ?? capturedAt + gap;
    // Gaps between captures are left empty.
    const lasts = Math.min(next - capturedAt, 2 * gap);
    return rows
      .filter((row) => wanted.has(row.strike))
      .map((row): HeatCells['cells'][number] => [capturedAt, row.strike / 1000, row.gex, lasts]);
  });
  const sizes = cells.map(([, , value]) => Math.abs(value)).sort((a, b) => a - b);
  return {
    strikes,
    cells,
    spot: captures.flatMap(({ capturedAt, spot }) => (spot === null ? [] : [[capturedAt, spot] as [number, number]])),
    full: sizes[Math.floor((sizes.length - 1) * fullQuantile)] || 1,
    step: (typicalStep(strikes) ?? 1000) / 1000,
  };
}

const minuteOf = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5));

/**
 * The time from the session's open to its close, epoch ms, widened to captures outside of it; null without captures.
 */
export function sessionSpan({ captures, meta }: GexHistory): [number, number] | null {
  const first = captures[0]?.capturedAt;
  if (first === undefined) return null;
  const dayMs = Math.floor(first / minuteMs) * minuteMs - minuteOf(clockTime(first)) * minuteMs;
  const at = (clock: string) => dayMs + minuteOf(clock) * minuteMs;
  return [
    Math.min(at(meta.sessionOpen ?? '09:30'), first),
    Math.max(at(meta.sessionClose ?? '16:00'), captures.at(-1)!.capturedAt),
  ];
}

function tip(shown: unknown, captures: readonly GexColumn[]): string {
  const { value, seriesId } = shown as { value: number[]; seriesId: string };
  const [at, dollars, gamma] = value as [number, number, number];
  const spot = captures.find(({ capturedAt }) => capturedAt === at)?.spot ?? null;
  if (seriesId === 'spot') return tooltipText(clockTime(at), [['Spot', price(dollars)]]);
  return tooltipText(clockTime(at), [
    ['Strike', strike(Math.round(dollars * 1000))],
    ['Net GEX, per $1', gex(gamma), gamma >= 0 ? 'call' : 'put'],
    ['Spot', price(spot)],
  ]);
}

/** The colour scale of gamma from −`full` to `full`, below the chart. */
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

/** A cell: from its capture to the next one, as high as the typical distance of strikes. */
const renderCell =
  (step: number): CustomSeriesRenderItem =>
  (_params, api) => {
    const [at, dollars, lasts] = [api.value(0) as number, api.value(1) as number, api.value(3) as number];
    const [left, top] = api.coord([at, dollars + step / 2]);
    const [right, bottom] = api.coord([at + lasts, dollars - step / 2]);
    return {
      type: 'rect',
      shape: { x: left!, y: top!, width: Math.max(1, right! - left! - 0.5), height: Math.max(1, bottom! - top! - 0.5) },
      style: { fill: api.visual('color') as string },
    };
  };

const hourMs = 60 * minuteMs;

/** The whole hours from one instant to another: New York's clock differs from UTC by such. */
function wholeHours(fromMs: number, toMs: number): number[] {
  const first = Math.ceil(fromMs / hourMs);
  return Array.from({ length: Math.floor(toMs / hourMs) - first + 1 }, (_, i) => (first + i) * hourMs);
}

/** Time from open to close at the bottom, strikes at the left. */
function axes(
  { strikes, step, spot }: HeatCells,
  [openMs, closeMs]: readonly [number, number],
  palette: Palette,
): Pick<EChartsOption, 'xAxis' | 'yAxis'> {
  const look = axisLook(palette);
  const prices = [...strikes.map((at) => at / 1000), ...spot.map(([, at]) => at)];
  return {
    xAxis: {
      type: 'value',
      min: openMs,
      max: closeMs,
      ...look,
      splitLine: { show: false },
      axisTick: { ...look.axisTick, customValues: wholeHours(openMs, closeMs) },
      axisLabel: {
        ...look.axisLabel,
        customValues: wholeHours(openMs, closeMs),
        formatter: (value: number) => clockTime(value),
      },
    },
    yAxis: {
      type: 'value',
      min: Math.min(...prices) - step,
      max: Math.max(...prices) + step,
      ...strikeAxisLook(palette),
    },
  };
}

/** The chart. */
export function heatOption(cells: HeatCells, history: GexHistory, palette: Palette): EChartsOption {
  const span = sessionSpan(history);
  if (span === null) return {};
  return {
    ...baseOption(palette),
    animation: false,
    grid: { left: 52, right: 14, top: 8, bottom: 48 },
    ...axes(cells, span, palette),
    visualMap: colourScale(cells.full, palette),
    tooltip: {
      ...(baseOption(palette).tooltip as object),
      trigger: 'item',
      formatter: (shown: unknown) => tip(shown, history.captures),
    },
    series: [
      {
        id: 'heat',
        type: 'custom',
        renderItem: renderCell(cells.step),
        encode: { x: 0, y: 1 },
        data: cells.cells,
        clip: true,
        // Without animation: a session has a few thousand cells.
        progressive: 0,
        progressiveThreshold: 100_000,
      },
      {
        id: 'spot',
        type: 'line',
        data: cells.spot,
        symbol: cells.spot.length > 1 ? 'none' : 'circle',
        lineStyle: { color: palette.text, width: 1.75 },
        itemStyle: { color: palette.text },
        z: 5,
      },
    ],
  };
}
