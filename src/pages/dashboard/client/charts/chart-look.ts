// The look of all charts: colours, axes, tooltips.
import type { EChartsOption } from 'echarts';
import { strike } from '../format.ts';
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
