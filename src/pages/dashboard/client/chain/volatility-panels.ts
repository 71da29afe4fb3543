// Implied volatility: smiles and term structure.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { VolatilitySurface } from '../../../../../generated/pages/operation-types.ts';
import { Chart } from '../charts/chart.ts';
import type { Palette } from '../charts/palette.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { type PanelEntries, panelEntries, shownSession } from '../data/dashboard-state.ts';
import { useEntries } from '../data/state-store.ts';
import { date, dayAndTime, fraction, shortDate, strike, whole } from '../format.ts';
import { Panel, type PanelState, panelState } from '../panel.ts';
import { expiryColour, firstExpiries, smileOf, smileOption, termOption } from './volatility-lines.ts';

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
