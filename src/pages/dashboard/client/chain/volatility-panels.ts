// Implied volatility: smiles and term structure.

import type { EChartsOption } from 'echarts';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type {
  VolatilityExpiry,
  VolatilityPoint,
  VolatilitySurface,
} from '../../../../../generated/pages/operation-types.ts';
import { Chart } from '../charts/chart.ts';
import { axisLook, baseOption, strikeAxisLook, tooltipText } from '../charts/chart-look.ts';
import { lineColours, type Palette } from '../charts/palette.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { type PanelEntries, panelEntries, shownSession } from '../data/dashboard-state.ts';
import { useEntries } from '../data/state-store.ts';
import { date, dayAndTime, fraction, shortDate, strike, whole } from '../format.ts';
import { Panel, type PanelState, panelState } from '../panel.ts';

function stateOf(state: PanelEntries, surface: VolatilitySurface | null): PanelState {
  if (state.view.session !== null && state.answer !== null)
    return { kind: 'empty', why: 'Volatilities are available for the latest chain only. Go back to live to see them.' };
  const none = surface === null || surface.expiries.length === 0;
  return panelState(
    state,
    ['symbol', 'volatility', 'surface'],
    none ? (surface?.meta.note ?? `No option chain of ${state.view.symbol} is stored.`) : null,
    'volatility',
    'chain',
  );
}

const entries = [...panelEntries, 'surface'] as const;

/** The smiles of some expiries. */
export function SmilePanel({ controller, palette }: { controller: DashboardController; palette: Palette }): VNode {
  const state = useEntries(controller.store, entries);
  const { surface } = state;
  const [picked, setPicked] = useState<readonly string[] | null>(null);
  const expiries = surface?.expiries ?? [];
  const here = picked?.filter((expiry) => expiries.some((one) => one.expiry === expiry)) ?? [];
  const chosen = useMemo(() => (here.length > 0 ? here : firstExpiries(expiries)), [surface, picked]);
  const option = useMemo(
    () => (surface === null ? {} : smileOption(surface, chosen, palette)),
    [surface, chosen, palette],
  );
  const toggle = (expiry: string) => {
    const next = chosen.includes(expiry) ? chosen.filter((one) => one !== expiry) : [...chosen, expiry];
    if (next.length > 0) setPicked(next);
  };
  const legend = html`<div class="legend expiries" role="group" aria-label="Expiries">${expiries.map(
    ({ expiry }) =>
      html`<button type="button" class="chip" aria-pressed=${chosen.includes(expiry)}
        onClick=${() => toggle(expiry)}><i class=${`box line-${expiryColour(expiries, expiry)}`}></i>${shortDate(expiry, expiries[0]!.expiry)}</button>`,
  )}</div>`;
  return html`<${Panel} id="smile" title="Volatility smile" state=${stateOf(state, surface)} part="volatility" see=${() => controller.see()} retry=${() => controller.reload()} legend=${legend}
    note=${surface?.asOfMs != null && `${dayAndTime(surface.asOfMs, shownSession(state))}, out of the money`}
    table=${() => ({
      head: ['Expires', 'Strike', 'Right', 'Implied volatility'],
      rows: expiries
        .filter(({ expiry }) => chosen.includes(expiry))
        .flatMap((expiry) =>
          smileOf(surface!.points, expiry, surface!.spot).map((point) => [
            date(expiry.expiry),
            strike(Math.round(point.strike * 1000)),
            point.right,
            fraction(point.iv, 2),
          ]),
        ),
    })}>
    <${Chart} option=${option} subject=${`${state.view.symbol} ${state.view.session}`}
      label=${`Implied volatility by strike of ${state.view.symbol} for ${chosen.map((expiry) => date(expiry)).join(', ')}.`} />
  <//>` as VNode;
}

export function TermPanel({ controller, palette }: { controller: DashboardController; palette: Palette }): VNode {
  const state = useEntries(controller.store, entries);
  const { surface } = state;
  const option = useMemo(() => (surface === null ? {} : termOption(surface, palette)), [surface, palette]);
  const known = (surface?.expiries ?? []).filter(({ atmIv }) => atmIv !== null);
  const levels = known.map((one) => `${date(one.expiry)} ${fraction(one.atmIv)}`);
  return html`<${Panel} id="term" title="Term structure" state=${stateOf(state, surface)} part="volatility" see=${() => controller.see()} retry=${() => controller.reload()}
    note="implied volatility at the money"
    table=${() => ({
      head: ['Expires', 'Days', 'At the money', 'Strike', 'Contracts'],
      rows: surface!.expiries.map((one) => [
        date(one.expiry),
        whole(one.dte),
        fraction(one.atmIv, 2),
        strike(one.atmStrike),
        whole(one.contractCount),
      ]),
    })}>
    <${Chart} option=${option} subject=${`${state.view.symbol} ${state.view.session}`}
      label=${`Implied volatility at the money of ${state.view.symbol}: ${levels.join(', ')}.`} />
  <//>` as VNode;
}

// Implied volatility: the smile of an expiry, and the term structure at the money.

/** A point of a smile: the strike, dollars, and the volatility, a fraction. */
interface SmilePoint {
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
