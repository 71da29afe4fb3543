// Implied volatility: the smile of an expiry, and the term structure at the money.
import type { EChartsOption } from 'echarts';
import type {
  VolatilityExpiry,
  VolatilityPoint,
  VolatilitySurface,
} from '../../../../../generated/pages/operation-types.ts';
import { axisLook, baseOption, strikeAxisLook, tooltipText } from '../charts/chart-look.ts';
import { lineColours, type Palette } from '../charts/palette.ts';
import { date, fraction, shortDate, strike, whole } from '../format.ts';

/** A point of a smile: the strike, dollars, and the volatility, a fraction. */
export interface SmilePoint {
  strike: number;
  iv: number;
  right: 'call' | 'put';
}

// Beyond this many standard deviations of the price at expiry, volatilities are mostly noise.
const deviations = 4;

/**
 * The smile of an expiry by convention: of each strike the option out of the money (puts below the spot, calls above),
 * which is traded more. Without a spot, or if only the other one is known, the known one.
 */
export function smileOf(
  points: readonly VolatilityPoint[],
  { expiry, atmIv, dte }: VolatilityExpiry,
  spot: number | null,
): SmilePoint[] {
  const byStrike = new Map<number, VolatilityPoint>();
  for (const point of points) {
    if (point.expiry !== expiry) continue;
    const wanted = spot === null || point.strike / 1000 >= spot ? 'call' : 'put';
    if (!byStrike.has(point.strike) || point.right === wanted) byStrike.set(point.strike, point);
  }
  const width = spot === null || atmIv === null ? Infinity : deviations * atmIv * Math.sqrt(Math.max(dte, 1) / 365);
  return [...byStrike.values()]
    .map((point) => ({ strike: point.strike / 1000, iv: point.iv, right: point.right }))
    .filter((point) => spot === null || Math.abs(Math.log(point.strike / spot)) <= width)
    .sort((a, b) => a.strike - b.strike);
}

/**
 * The expiries that are initially drawn: of those at least a day away the nearest, one about a month away, and the
 * last.
 */
export function firstExpiries(expiries: readonly VolatilityExpiry[]): string[] {
  const known = expiries.filter(({ atmIv, dte }) => atmIv !== null && dte > 0);
  const month = known.find(({ dte }) => dte >= 25);
  return [...new Set([known[0], month, known.at(-1)].flatMap((one) => (one ? [one.expiry] : [])))];
}

/** The index of an expiry's colour, the same whichever others are shown. */
export const expiryColour = (expiries: readonly VolatilityExpiry[], expiry: string) =>
  Math.max(
    0,
    expiries.findIndex((one) => one.expiry === expiry),
  ) % lineColours;

/** A vertical line at the spot. */
const spotLine = (spot: number, palette: Palette) => ({
  symbol: 'none',
  silent: true,
  animation: false,
  data: [
    {
      xAxis: spot,
      lineStyle: { color: palette.text, type: 'solid' as const, width: 1, opacity: 0.6 },
      label: { show: false },
    },
  ],
});

/** The smiles of the chosen expiries. */
export function smileOption(surface: VolatilitySurface, chosen: readonly string[], palette: Palette): EChartsOption {
  const look = axisLook(palette);
  const shown = surface.expiries.filter(({ expiry }) => chosen.includes(expiry));
  const first = surface.expiries[0]?.expiry ?? null;
  return {
    ...baseOption(palette),
    grid: { left: 46, right: 14, top: 10, bottom: 26 },
    xAxis: {
      type: 'value',
      min: 'dataMin',
      max: 'dataMax',
      ...strikeAxisLook(palette),
    },
    yAxis: {
      type: 'value',
      scale: true,
      ...look,
      splitNumber: 4,
      axisLabel: { ...look.axisLabel, formatter: (value: number) => fraction(value, 0) },
    },
    tooltip: {
      ...(baseOption(palette).tooltip as object),
      trigger: 'item',
      formatter: (item: unknown) => {
        const { value, seriesId } = item as { value: [number, number, string]; seriesId: string };
        return tooltipText(`${strike(Math.round(value[0] * 1000))} ${value[2]}`, [
          ['Expires', shortDate(seriesId, first)],
          ['Implied volatility', fraction(value[1], 2)],
        ]);
      },
    },
    series: shown.map((expiry, index) => ({
      id: expiry.expiry,
      type: 'line' as const,
      data: smileOf(surface.points, expiry, surface.spot).map((point) => [point.strike, point.iv, point.right]),
      symbolSize: 4,
      symbol: 'circle',
      lineStyle: { width: 1.75, color: palette.lines[expiryColour(surface.expiries, expiry.expiry)]! },
      itemStyle: { color: palette.lines[expiryColour(surface.expiries, expiry.expiry)]! },
      ...(index === 0 && surface.spot !== null && { markLine: spotLine(surface.spot, palette) }),
    })),
  };
}

/** Volatility at the money against days to expiry. */
export function termOption({ expiries }: VolatilitySurface, palette: Palette): EChartsOption {
  const look = axisLook(palette);
  const known = expiries.filter(({ atmIv }) => atmIv !== null);
  return {
    ...baseOption(palette),
    grid: { left: 46, right: 18, top: 14, bottom: 42 },
    xAxis: {
      type: 'value',
      min: 0,
      max: 'dataMax',
      ...look,
      splitLine: { show: false },
      name: 'days to expiry',
      nameLocation: 'middle',
      nameGap: 26,
    },
    yAxis: {
      type: 'value',
      scale: true,
      ...look,
      splitNumber: 4,
      axisLabel: { ...look.axisLabel, formatter: (value: number) => fraction(value, 1) },
    },
    tooltip: {
      ...(baseOption(palette).tooltip as object),
      trigger: 'axis',
      formatter: (items: unknown) => {
        const expiry = known[(items as { dataIndex: number }[])[0]!.dataIndex]!;
        return tooltipText(date(expiry.expiry), [
          ['At the money', fraction(expiry.atmIv, 2)],
          ['Strike', strike(expiry.atmStrike)],
          ['Days', whole(expiry.dte)],
          ['Contracts', whole(expiry.contractCount)],
        ]);
      },
    },
    series: [
      {
        id: 'term',
        type: 'line',
        data: known.map(({ dte, atmIv }) => [dte, atmIv]),
        symbolSize: 7,
        symbol: 'circle',
        lineStyle: { width: 2, color: palette.accent },
        itemStyle: { color: palette.accent },
        areaStyle: { color: palette.accent, opacity: 0.08 },
      },
    ],
  };
}
