// Off-exchange trading: its kinds, and its price levels.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ActivityRow, CompositionRow, ConcentrationRow } from '../../../../../generated/pages/operation-types.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { liveSpot, type PanelEntries, panelEntries, shownSession } from '../data/dashboard-state.ts';
import { useEntries, useStore } from '../data/state-store.ts';
import { basisPoints, compact, figureOrWhy, fraction, price, shortDate, usd, whole } from '../format.ts';
import { Panel, type PanelState, panelState } from '../panel.ts';

// Explanations of kinds with unclear names.
const kinds: Readonly<Record<string, string>> = {
  late_oos: 'Late, out of sequence',
  form_t: 'Extended hours (form T)',
};

/** Name of a kind of execution: average_price is Average price. */
export const kindName = (category: string) =>
  kinds[category] ?? category.charAt(0).toUpperCase() + category.slice(1).replaceAll('_', ' ');

/** The levels in descending order of price, with the spot between them. */
export function levelRows(
  rows: readonly ConcentrationRow[],
  spot: number | null,
): (ConcentrationRow | { spot: number })[] {
  const descending = rows.toSorted((a, b) => b.bucketMidpoint - a.bucketMidpoint);
  if (spot === null || descending.length === 0) return descending;
  const below = descending.findIndex(({ bucketMidpoint }) => bucketMidpoint < spot);
  const at = below === -1 ? descending.length : below;
  return [...descending.slice(0, at), { spot }, ...descending.slice(at)];
}

/** Distance of a price from a reference, basis points of it. */
const distanceBps = (to: number, from: number) => (10_000 * (to - from)) / from;

function stateOf(
  state: PanelEntries,
  field: 'composition' | 'concentration',
  rows: number,
  note: string | null,
): PanelState {
  const { answer, view } = state;
  if (answer?.symbol?.class === 'index' && rows === 0)
    return {
      kind: 'empty',
      why: `${view.symbol} is an index. An index is not traded, so it has no off-exchange trading.`,
    };
  return panelState(
    state,
    ['symbol', 'offExchange', field],
    rows > 0 ? null : (note ?? `No off-exchange trading of ${view.symbol} is stored.`),
    'offExchange',
    'stock-trades',
  );
}

const meter = (share: number, colour: string) =>
  html`<i class=${`meter ${colour}`} style=${{ '--share': String(share) }}></i>`;

/** `shown` = the session of the page. */
function trend(rows: readonly ActivityRow[], shown: string): VNode | null {
  const known = rows.filter(({ offExchPct }) => offExchPct !== null).slice(-20);
  if (known.length < 2) return null;
  const most = Math.max(...known.map(({ offExchPct }) => offExchPct!));
  return html`<div class="trend" role="img" aria-label=${`Share of volume off exchange by session: ${known.map((row) => `${shortDate(row.date, shown)} ${fraction(row.offExchPct)}`).join(', ')}`}>
    ${known.map(
      (row) => html`<i title=${`${shortDate(row.date, shown)}: ${fraction(row.offExchPct)}`}
      style=${{ height: `${(100 * row.offExchPct!) / most}%` }}></i>`,
    )}
  </div>` as VNode;
}

/** The kinds of a session's off-exchange trading. */
export function CompositionPanel({ controller }: { controller: DashboardController }): VNode {
  const state = useEntries(controller.store, [...panelEntries, 'composition']);
  const page = state.composition;
  const shown = shownSession(state);
  const activity = state.answer?.symbol?.offExchange.activity?.rows ?? [];
  const rows: CompositionRow[] = (page?.rows ?? []).toSorted(
    (a, b) => b.shareOfOffExchNotional - a.shareOfOffExchNotional,
  );
  const most = rows[0]?.shareOfOffExchNotional ?? 1;
  const today = activity.find(({ date }) => date === page?.meta.session);
  return html`<${Panel} id="composition" title="Off exchange: kinds" state=${stateOf(state, 'composition', rows.length, page?.meta.note ?? null)} part="offExchange"
    see=${() => controller.see()} retry=${() => controller.reload()}
    note=${page?.meta.session ? `session of ${shortDate(page.meta.session, shown)}` : null}>
    <div class="scroll" tabindex="0" role="region" aria-label="Kinds of off-exchange trading">
      ${today ? html`<div class="share"><b>${figureOrWhy(fraction(today.offExchPct), 'why-share', 'The volume of the session on all exchanges is not stored.')}</b><span>of the session’s volume, ${usd(today.notional)}</span>${trend(activity, shown)}</div>` : null}
      <table class="meters"><thead><tr><th scope="col">Kind</th><th scope="col">Share</th><th scope="col">Dollars</th><th scope="col">Trades</th></tr></thead>
      <tbody>${rows.map(
        (row) => html`<tr key=${row.category}>
        <th scope="row">${kindName(row.category)}${meter(row.shareOfOffExchNotional / most, 'accent')}</th>
        <td>${fraction(row.shareOfOffExchNotional)}</td><td>${usd(row.notional)}</td><td>${compact(row.tradeCount)}</td></tr>`,
      )}</tbody></table>
    </div>
  <//>` as VNode;
}

/** The price levels with the most off-exchange trading. */
export function ConcentrationPanel({ controller }: { controller: DashboardController }): VNode {
  const state = useEntries(controller.store, [...panelEntries, 'concentration']);
  const page = state.concentration;
  const rows = page?.rows ?? [];
  const spot = useStore(controller.store, liveSpot);
  const container = useRef<HTMLDivElement>(null);
  // Scrolled to the levels around the price.
  useEffect(() => {
    const row = container.current?.querySelector<HTMLElement>('.spot');
    if (container.current && row) container.current.scrollTop = row.offsetTop - container.current.clientHeight / 2;
  }, [page]);
  const most = Math.max(...rows.map(({ notional }) => notional), 1);
  const first = rows[0];
  // The contract's distance is from the vwap of the window's last session, which is not its close.
  const reference = first ? `the off-exchange vwap of ${shortDate(first.date, shownSession(state))}` : '';
  const fromSpot = (row: ConcentrationRow) => (spot === null ? row.distanceBps : distanceBps(row.bucketMidpoint, spot));
  const distance = (row: ConcentrationRow) =>
    figureOrWhy(basisPoints(fromSpot(row)), `why-level-${row.rank}`, 'No price of the session is stored.');
  return html`<${Panel} id="concentration" title="Off exchange: levels" state=${stateOf(state, 'concentration', rows.length, page?.meta.note ?? null)} part="offExchange"
    see=${() => controller.see()} retry=${() => controller.reload()}
    note=${first ? `${first.lookbackSessions} sessions to ${shortDate(first.date, shownSession(state))}, ±$${price(first.bucketWidth / 2)}` : null}>
    <div class="scroll" ref=${container} tabindex="0" role="region" aria-label="Price levels of off-exchange trading">
      <table class="meters"><thead><tr><th scope="col">Price</th><th scope="col">Dollars</th><th scope="col" title=${spot === null ? `From ${reference}` : null}>${spot === null ? 'From vwap' : 'From spot'}</th><th scope="col">Sessions</th><th scope="col">Rank</th></tr></thead>
      <tbody>${levelRows(rows, spot).map((row) =>
        'spot' in row
          ? html`<tr key="spot" class="spot"><td colspan="5">Spot ${price(row.spot)}</td></tr>`
          : html`<tr key=${row.rank}>
            <th scope="row">${price(row.bucketMidpoint)}${meter(row.notional / most, 'call')}</th>
            <td>${usd(row.notional)}</td><td title=${`${basisPoints(row.distanceBps)} from ${reference}`}>${distance(row)}</td><td>${whole(row.distinctSessions)}</td><td>${whole(row.rank)}</td></tr>`,
      )}</tbody></table>
    </div>
  <//>` as VNode;
}
