// A session's option flow, calls against puts: by strike, and by expiry.
import type { EChartsOption } from 'echarts';
import { axisLook, baseOption, tooltipText } from '../charts/chart-look.ts';
import { nearestStrike, weightyStrikes } from '../charts/levels.ts';
import type { Palette } from '../charts/palette.ts';
import type { FlowMeasures } from '../data/operation-types.ts';
import { brief, compact, date, ratio, shortDate, strike, usd, whole } from '../format.ts';

/** What of the flow is shown. */
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

/** A bar's place on the axis, and what traded there. */
export interface FlowRow {
  /** Below the bar. */
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
  return weightyStrikes(byStrike, weight).map((row) => ({
    name: strike(row.strikeThousandths),
    heading: `Strike ${strike(row.strikeThousandths)}`,
    measures: row.measures,
  }));
}

/** Rows by expiration, ascending. */
export function expiryRows(byExpiration: readonly { expiry: string; measures: FlowMeasures }[]): FlowRow[] {
  const first = byExpiration[0]?.expiry ?? null;
  return byExpiration.map(({ expiry, measures }) => ({
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

function tip({ heading, measures }: FlowRow): string {
  return tooltipText(heading, [
    ['Call premium', usd(measures.callPremiumUsd), 'call'],
    ['Put premium', usd(measures.putPremiumUsd), 'put'],
    ['Calls', `${whole(measures.callVolume)} in ${whole(measures.callTradeCount)}`],
    ['Puts', `${whole(measures.putVolume)} in ${whole(measures.putTradeCount)}`],
    ['Put/call premium', ratio(measures.putPremiumUsd, measures.callPremiumUsd)],
  ]);
}

/** A dashed line at a category, by its index. */
const strikeLine = (index: number, palette: Palette) => ({
  xAxis: index,
  lineStyle: { color: palette.text, type: 'dashed' as const, width: 1, opacity: 0.7 },
  label: { show: false },
});

/** The chart: calls upwards, puts downwards. `spot` in dollars marks the strike nearest it. */
export function flowOption(
  rows: readonly FlowRow[],
  measure: FlowMeasure,
  palette: Palette,
  spot: number | null,
): EChartsOption {
  const look = axisLook(palette);
  const names = rows.map(({ name }) => name);
  const amounts = rows.map(({ measures }) => callsAndPuts(measures, measure));
  const strikes = rows.map(({ name }) => Math.round(Number(name.replace(/,/g, '')) * 1000));
  const marked = nearestStrike(strikes, spot);
  const bar = { type: 'bar' as const, stack: 'flow', barMaxWidth: 26, barCategoryGap: '22%' };
  return {
    ...baseOption(palette),
    grid: { left: 52, right: 10, top: 10, bottom: 26 },
    xAxis: {
      type: 'category',
      data: names,
      ...look,
      axisTick: { show: false },
      splitLine: { show: false },
      axisLine: { onZero: false, lineStyle: { color: palette.border } },
    },
    yAxis: {
      type: 'value',
      ...look,
      splitNumber: 4,
      axisLabel: { ...look.axisLabel, formatter: (value: number) => brief(flowText(Math.abs(value), measure)) },
    },
    tooltip: {
      ...(baseOption(palette).tooltip as object),
      trigger: 'axis',
      axisPointer: { type: 'shadow', shadowStyle: { color: palette.muted, opacity: 0.12 } },
      formatter: (shown: unknown) => tip(rows[(shown as { dataIndex: number }[])[0]!.dataIndex]!),
    },
    series: [
      {
        ...bar,
        id: 'calls',
        name: 'Calls',
        data: amounts.map(({ calls }) => calls),
        itemStyle: { color: palette.call },
        markLine: {
          symbol: 'none',
          silent: true,
          animation: false,
          data: marked === null ? [] : [strikeLine(strikes.indexOf(marked), palette)],
        },
      },
      { ...bar, id: 'puts', name: 'Puts', data: amounts.map(({ puts }) => -puts), itemStyle: { color: palette.put } },
    ],
  };
}
