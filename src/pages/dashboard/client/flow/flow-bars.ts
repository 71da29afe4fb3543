// A session's option flow, calls against puts, by strike and by expiry.
import type { CustomSeriesRenderItem, EChartsOption } from 'echarts';
import type { FlowMeasures } from '../../../../../generated/pages/operation-types.ts';
import { axisLook, baseOption, strikeAxisLook, tooltipText } from '../charts/chart-look.ts';
import { typicalStep, weightyStrikes } from '../charts/levels.ts';
import type { Palette } from '../charts/palette.ts';
import { brief, compact, date, ratio, shortDate, strike, usd, whole } from '../format.ts';

/** Shown measures of the flow. */
export const flowMeasures = ['premium', 'volume', 'trades'] as const;
export type FlowMeasure = (typeof flowMeasures)[number];
export const flowMeasureNames: Readonly<Record<FlowMeasure, string>> = {
  premium: 'Premium',
  volume: 'Contracts',
  trades: 'Prints',
};

/** Calls and puts of the measure: dollars, contracts or prints. */
export function callsAndPuts(measures: FlowMeasures, measure: FlowMeasure): { calls: number; puts: number } {
  if (measure === 'premium') return { calls: measures.callPremiumUsd, puts: measures.putPremiumUsd };
  if (measure === 'volume') return { calls: measures.callVolume, puts: measures.putVolume };
  return { calls: measures.callTradeCount, puts: measures.putTradeCount };
}

/** The measure's figures as text. */
export const flowText = (value: number, measure: FlowMeasure) => (measure === 'premium' ? usd(value) : compact(value));

/** A bar's position on the axis, and its traded amounts. */
export interface FlowRow {
  /** Its strike in dollars, or its index among the expiries. */
  at: number;
  /** Name of the strike or expiry. */
  name: string;
  heading: string;
  measures: FlowMeasures;
}

/** Rows by strike worth drawing, ascending. */
export function strikeRows(
  byStrike: readonly { strikeThousandths: number; measures: FlowMeasures }[],
  measure: FlowMeasure,
): FlowRow[] {
  const weight = (row: { measures: FlowMeasures }) => {
    const { calls, puts } = callsAndPuts(row.measures, measure);
    return calls + puts;
  };
  // On a linear axis, far strikes take room from those around the spot.
  return weightyStrikes(byStrike, weight, { tail: 0.015 }).map((row) => ({
    at: row.strikeThousandths / 1000,
    name: strike(row.strikeThousandths),
    heading: `Strike ${strike(row.strikeThousandths)}`,
    measures: row.measures,
  }));
}

/** Rows by expiration, ascending. */
export function expiryRows(byExpiration: readonly { expiry: string; measures: FlowMeasures }[]): FlowRow[] {
  const first = byExpiration[0]?.expiry ?? null;
  return byExpiration.map(({ expiry, measures }, at) => ({
    at,
    name: shortDate(expiry, first),
    heading: `Expires ${date(expiry)} ${expiry.slice(0, 4)}`,
    measures,
  }));
}

/** Sums of calls and puts over all rows. */
export function flowTotals(
  rows: readonly { measures: FlowMeasures }[],
  measure: FlowMeasure,
): { calls: number; puts: number } {
  return rows.reduce(
    (sum, row) => {
      const { calls, puts } = callsAndPuts(row.measures, measure);
      return { calls: sum.calls + calls, puts: sum.puts + puts };
    },
    { calls: 0, puts: 0 },
  );
}

const tradedText = (contracts: number, prints: number) =>
  `${whole(contracts)} ${contracts === 1 ? 'contract' : 'contracts'}, ${whole(prints)} ${prints === 1 ? 'print' : 'prints'}`;

function tip({ heading, measures }: FlowRow): string {
  return tooltipText(heading, [
    ['Call premium', usd(measures.callPremiumUsd), 'call'],
    ['Put premium', usd(measures.putPremiumUsd), 'put'],
    ['Calls', tradedText(measures.callVolume, measures.callTradeCount)],
    ['Puts', tradedText(measures.putVolume, measures.putTradeCount)],
    ['Put/call premium', ratio(measures.putPremiumUsd, measures.callPremiumUsd)],
  ]);
}

/** The style of both charts: amounts at the left, and a tooltip for the row at the pointer. */
function flowLook(measure: FlowMeasure, palette: Palette, rowOf: (shown: unknown) => FlowRow | undefined) {
  const look = axisLook(palette);
  return {
    ...baseOption(palette),
    grid: { left: 52, right: 10, top: 10, bottom: 26 },
    yAxis: {
      type: 'value' as const,
      ...look,
      splitNumber: 4,
      axisLabel: { ...look.axisLabel, formatter: (value: number) => brief(flowText(Math.abs(value), measure)) },
    },
    tooltip: {
      ...(baseOption(palette).tooltip as object),
      trigger: 'axis' as const,
      axisPointer: { type: 'shadow' as const, shadowStyle: { color: palette.muted, opacity: 0.12 } },
      formatter: (shown: unknown) => {
        const row = rowOf(shown);
        return row ? tip(row) : '';
      },
    },
  } satisfies EChartsOption;
}

/** By expiry, side by side: calls upwards, puts downwards. */
export function expiryFlowOption(rows: readonly FlowRow[], measure: FlowMeasure, palette: Palette): EChartsOption {
  const look = axisLook(palette);
  const amounts = rows.map(({ measures }) => callsAndPuts(measures, measure));
  const bar = { type: 'bar' as const, stack: 'flow', barMaxWidth: 26, barCategoryGap: '22%' };
  return {
    ...flowLook(measure, palette, (shown) => rows[(shown as { dataIndex: number }[])[0]!.dataIndex]),
    xAxis: {
      type: 'category',
      data: rows.map(({ name }) => name),
      ...look,
      axisTick: { show: false },
      splitLine: { show: false },
      axisLine: { onZero: false, lineStyle: { color: palette.border } },
    },
    series: [
      { ...bar, id: 'calls', data: amounts.map(({ calls }) => calls), itemStyle: { color: palette.call } },
      { ...bar, id: 'puts', data: amounts.map(({ puts }) => -puts), itemStyle: { color: palette.put } },
    ],
  };
}

/** Bars of [strike, amount], vertical on value axes, as wide as the typical distance of strikes. */
function strikeBars(id: string, step: number, colour: string, data: number[][]) {
  const renderItem: CustomSeriesRenderItem = (_params, api) => {
    const from = api.coord([api.value(0), 0]);
    const to = api.coord([api.value(0), api.value(1)]);
    const width = Math.max(1, (api.size!([step, 0]) as number[])[0]! * 0.8);
    const [top, bottom] = [Math.min(from[1]!, to[1]!), Math.max(from[1]!, to[1]!)];
    return {
      type: 'rect',
      shape: { x: to[0]! - width / 2, y: top, width, height: bottom - top },
      style: { fill: colour },
    };
  };
  return { id, type: 'custom' as const, renderItem, data, clip: true, encode: { x: 0, y: 1 } };
}

/** A dashed line at the spot. */
const spotLine = (spot: number, palette: Palette) => ({
  symbol: 'none',
  silent: true,
  animation: false,
  label: { show: false },
  lineStyle: { color: palette.text, type: 'dashed' as const, width: 1, opacity: 0.7 },
  data: [{ xAxis: spot }],
});

/** By strike, along a linear axis: calls upwards, puts downwards. `spot` in dollars; null = unknown. */
export function strikeFlowOption(
  rows: readonly FlowRow[],
  measure: FlowMeasure,
  palette: Palette,
  spot: number | null,
): EChartsOption {
  const strikes = rows.map(({ at }) => at);
  const step = typicalStep(strikes) ?? 1;
  const byStrike = new Map(rows.map((row) => [row.at, row]));
  const amounts = rows.map(({ at, measures }) => ({ at, ...callsAndPuts(measures, measure) }));
  const [low, high] = [Math.min(...strikes) - step, Math.max(...strikes) + step];
  const isWithin = spot !== null && spot > low && spot < high;
  return {
    ...flowLook(measure, palette, (shown) => byStrike.get((shown as { value: number[] }[])[0]!.value[0]!)),
    xAxis: {
      type: 'value',
      min: low,
      max: high,
      ...strikeAxisLook(palette),
      axisLine: { onZero: false, lineStyle: { color: palette.border } },
      // The pointer's shadow on a linear axis has no width.
      axisPointer: { type: 'line', lineStyle: { color: palette.muted }, label: { show: false } },
    },
    series: [
      strikeBars(
        'calls',
        step,
        palette.call,
        amounts.map(({ at, calls }) => [at, calls]),
      ),
      strikeBars(
        'puts',
        step,
        palette.put,
        amounts.map(({ at, puts }) => [at, -puts]),
      ),
      // A custom series has no mark line of its own.
      { id: 'spot', type: 'line', data: [], ...(isWithin && { markLine: spotLine(spot, palette) }) },
    ],
  };
}
