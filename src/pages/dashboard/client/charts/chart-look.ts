// The look of all charts: colours, axes, tooltips.
import type { EChartsOption } from 'echarts';
import type { BarColumns, GexStrikeRow } from '../../../../../generated/pages/operation-types.ts';
import { strike } from '../format.ts';
import { priceRange } from '../market/candles.ts';
import type { Timeframe } from '../timeframes.ts';
import { typicalStep } from './levels.ts';
import type { Palette } from './palette.ts';

/** Options of all charts. */
export function baseOption(palette: Palette): EChartsOption {
  return {
    animation: palette.motion,
    animationDuration: 200,
    animationDurationUpdate: 150,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: palette.font, fontSize: 11, color: palette.muted },
    tooltip: {
      confine: true,
      backgroundColor: palette.panel,
      borderColor: palette.border,
      textStyle: { color: palette.text, fontSize: 12 },
      transitionDuration: 0,
      axisPointer: {
        lineStyle: { color: palette.muted, width: 1 },
        label: { backgroundColor: palette.raised, color: palette.text },
      },
    },
  };
}

/** Style of the labels and lines of an axis. */
export function axisLook(palette: Palette) {
  return {
    axisLabel: { color: palette.muted, fontSize: 11, hideOverlap: true },
    axisLine: { lineStyle: { color: palette.border } },
    axisTick: { lineStyle: { color: palette.border } },
    splitLine: { lineStyle: { color: palette.border, opacity: 0.6 } },
    nameTextStyle: { color: palette.muted, fontSize: 11 },
  };
}

/** Style of an axis of strikes in dollars, whose ends are between round strikes and have no label. */
export function strikeAxisLook(palette: Palette) {
  const look = axisLook(palette);
  return {
    ...look,
    splitLine: { show: false },
    axisLabel: {
      ...look.axisLabel,
      showMinLabel: false,
      showMaxLabel: false,
      formatter: (dollars: number) => strike(Math.round(dollars * 1000)),
    },
  };
}

/**
 * Rows of a tooltip: a heading, then names with values and the class of their colour. The texts are trusted: numbers
 * and fixed words.
 */
export function tooltipText(heading: string, rows: readonly (readonly [string, string, string?])[]): string {
  const lines = rows.map(
    ([name, value, colour]) => `<tr><td>${colour ? `<i class="${colour}"></i>` : ''}${name}</td><td>${value}</td></tr>`,
  );
  return `<div class="tip"><b>${heading}</b><table>${lines.join('')}</table></div>`;
}

// The price range around the spot, and the candles' relation to it.

/** Dollars, low then high. */
export type PriceRange = readonly [number, number];

// Number of strikes on either side of the spot that stay readable, however little the price moves.
const strikesBeside = 8;

/** The price range of some strikes around a capture's spot; null without a spot, or without strikes near it. */
export function nearRange(rows: readonly Pick<GexStrikeRow, 'strike'>[], spot: number | null): PriceRange | null {
  const near = rows
    .map(({ strike }) => strike / 1000)
    .filter((strike) => spot !== null && Math.abs(strike - spot) <= spot / 10);
  const step = typicalStep(near);
  return step === null || spot === null ? null : [spot - strikesBeside * step, spot + strikesBeside * step];
}

/**
 * The price range of candles that is apart from the strikes around a capture's spot; null if they overlap, or if
 * candles are of an hour or a day, which go back too far to compare.
 */
export function candlesElsewhere(
  bars: BarColumns | null,
  timeframe: Timeframe,
  near: PriceRange | null,
): { low: number; high: number } | null {
  const candles = bars && (timeframe === '1m' || timeframe === '5m') ? priceRange(bars) : null;
  if (candles === null || near === null) return null;
  return candles.high < near[0] || candles.low > near[1] ? candles : null;
}
