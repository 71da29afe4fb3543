// A component that is drawn again only when its properties change.

import { html } from 'htm/preact';
import { Component, type ComponentChild, type FunctionComponent, h, type VNode } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type {
  FlowEvent,
  LargeTrade,
  TradedChainRow,
  TradedLeg,
} from '../../../../../generated/pages/operation-types.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { type DashboardState, panelEntries } from '../data/dashboard-state.ts';
import { useEntries } from '../data/state-store.ts';
import { narrowed, type TradeList, tradesPerPage } from '../data/trade-list.ts';
import {
  clockTimeSeconds,
  compact,
  dateOf,
  dayOf,
  figureOrWhy,
  fraction,
  price,
  shortDate,
  strike,
  unknown,
  usd,
  whole,
} from '../format.ts';
import { Panel, type PanelState, panelState } from '../panel.ts';
import { dollarsOf, expiriesOf, isNarrow, kindNames, sideNames, type TradeFilter } from './trade-filter.ts';

/** The component, drawn again only when one of its properties is another value. */
function memo<Props extends object>(draw: (props: Props) => ComponentChild): FunctionComponent<Props> {
  class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      return (Object.keys(next) as (keyof Props)[]).some((name) => next[name] !== (this.props as Props)[name]);
    }
    override render(): ComponentChild {
      return draw(this.props as Props);
    }
  }
  return (props) => h(Memo as never, props as never);
}

// The list of large trades and its filter.

// Number of rows drawn before the reader asks for more, because drawing is slow.
const drawnRows = 120;

const entries = [...panelEntries, 'trades', 'filteredTrades', 'tradeFilter', 'crossSection', 'latestSession'] as const;

function stateOf(state: Pick<DashboardState, (typeof entries)[number]>): PanelState {
  const none = state.trades.trades.length === 0;
  const { symbol, session } = state.view;
  // Without a snapshot no option of the symbol was observed.
  const hasFlow = state.crossSection?.snapshot != null;
  const quiet = `No large trade of ${symbol} options ${session === null ? 'since this time on the previous trading day' : 'in the session'}.`;
  return panelState(
    state,
    ['symbol', 'flow', 'largeTrades'],
    none
      ? hasFlow
        ? quiet
        : `No option trades of ${symbol} are stored${session === null ? '' : ' of the session'}.`
      : null,
    'trades',
    hasFlow ? null : 'option-trades',
  );
}

type Contract = FlowEvent['legs'][number]['contract'];

/** A contract, short: its expiry, strike and right; `today` = the date beside it. */
const contractName = ({ expiry, strike: at, right }: Contract, today: string) =>
  `${shortDate(expiry, today)} ${strike(at)}${right === 'call' ? 'C' : 'P'}`;

/** The contracts of a trade, short: expiry, strike and right of a single one; the number of several. */
function contractText({ legs, eventTsMs }: FlowEvent): string {
  const [first] = legs;
  if (!first) return '';
  const text = contractName(first.contract, dateOf(eventTsMs));
  const contracts = new Set(legs.map(({ contract }) => contract.id));
  return contracts.size > 1 ? `${text} +${contracts.size - 1}` : text;
}

function legsText({ legs }: FlowEvent): string {
  return legs
    .map(({ contract, price: paid, size }) => `${size} × ${contract.id.slice(2)} at ${price(paid)}`)
    .join('\n');
}

const sides = { buy_inferred: 'up', sell_inferred: 'down', neutral: '', unknown: '' } as const;

const bidAsk = ({ bid, ask }: TradedChainRow) =>
  bid === null || ask === null ? unknown : `${price(bid)}–${price(ask)}`;

/** A leg: what was paid, and its contract in the chain before. */
function legRow(leg: TradedLeg, today: string, id: string): VNode {
  const { contract, price: paid, size, side, premiumUsd, context } = leg;
  const row = context.contract?.chainRow ?? null;
  const why =
    row === null ? 'No chain with the contract was captured before the trade.' : 'The chain does not have it.';
  const texts = [
    row ? bidAsk(row) : unknown,
    whole(row?.openInterest),
    whole(row?.volume),
    fraction(row?.iv),
    row?.delta == null ? unknown : row.delta.toFixed(2),
  ];
  return html`<tr><th scope="row" title=${contract.id}>${contractName(contract, today)}</th>
    <td>${whole(size)}</td><td>${price(paid)}</td><td class=${sides[side] ?? ''}>${sideNames[side] ?? side}</td><td>${usd(premiumUsd)}</td>
    ${texts.map((text, index) => html`<td>${figureOrWhy(text, `why-${id}-${index}`, why)}</td>`)}</tr>` as VNode;
}

const legHeads = ['Contract', 'Size', 'Price', 'Side', 'Premium', 'Bid–ask', 'Open interest', 'Volume', 'IV', 'Delta'];

/** The legs of a trade, which are requested when it is opened. */
function TradeDetails({ id, today, ask }: Pick<TradeRowProps, 'today' | 'ask'> & { id: string }): VNode {
  const [legs, setLegs] = useState<readonly TradedLeg[] | string | null>(null);
  useEffect(() => {
    let isGone = false;
    ask(id).then(
      (found) => isGone || setLegs(found),
      (error: Error) => isGone || setLegs(error.message),
    );
    return () => {
      isGone = true;
    };
  }, [id]);
  if (legs === null) return html`<p class="more">Loading…</p>` as VNode;
  if (typeof legs === 'string') return html`<p class="more" role="alert">Could not be loaded: ${legs}</p>` as VNode;
  return html`<table><caption>Spot ${price(legs[0]?.context.symbol.quote?.spot)}. Bid–ask and later columns: of the last chain before the trade.</caption>
    <thead><tr>${legHeads.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${legs.map((leg, index) => legRow(leg, today, `${id}-${index}`))}</tbody></table>` as VNode;
}

interface TradeRowProps {
  trade: LargeTrade;
  today: string;
  isOpen: boolean;
  toggle: (id: string) => void;
  ask: (id: string) => Promise<readonly TradedLeg[]>;
}

const TradeRow = memo(({ trade, today, isOpen, toggle, ask }: TradeRowProps): VNode => {
  const { event } = trade.update;
  const right = event.legs.every(({ contract }) => contract.right === event.legs[0]?.contract.right)
    ? event.legs[0]?.contract.right
    : undefined;
  const day = dateOf(event.eventTsMs) === today ? '' : `${dayOf(event.eventTsMs)} `;
  const row = html`<tr title=${legsText(event)} onClick=${() => toggle(event.id)}>
    <td>${day ? html`<span class="day">${day}</span>` : null}${clockTimeSeconds(event.eventTsMs)}</td>
    <td class="contract"><button type="button" aria-expanded=${isOpen}><i class=${`box ${right ?? 'muted'}`}></i>${contractText(event)}</button></td>
    <td class=${event.premiumUsd >= 1e6 ? 'premium large' : 'premium'}>${usd(event.premiumUsd)}</td>
    <td class=${sides[event.side] ?? ''}>${sideNames[event.side] ?? event.side}</td>
    <td>${kindNames[event.eventKind] ?? event.eventKind}</td>
    <td>${compact(event.totalSize)}</td>
    <td>${event.priceLow === event.priceHigh ? price(event.priceLow) : `${price(event.priceLow)}–${price(event.priceHigh)}`}</td>
  </tr>` as VNode;
  if (!isOpen) return row;
  return html`${row}<tr class="details"><td colspan="7"><div><${TradeDetails} id=${event.id} today=${today} ask=${ask} /></div></td></tr>` as VNode;
});

function pick(
  label: string,
  value: string | null,
  names: Readonly<Record<string, string>>,
  choose: (value: string | null) => void,
): VNode {
  return html`<label><span class="visually-hidden">${label}</span><select value=${value ?? ''} onChange=${(event: Event) => choose((event.target as HTMLSelectElement).value || null)}>
    <option value="">${label}: all</option>${Object.entries(names).map(([key, name]) => html`<option value=${key} selected=${key === value}>${name}</option>`)}
  </select></label>` as VNode;
}

function Filters({
  filter,
  expiries,
  change,
}: {
  filter: TradeFilter;
  expiries: readonly string[];
  change: (change: Partial<TradeFilter>) => void;
}): VNode {
  const [typed, setTyped] = useState('');
  const wrong = typed.trim() !== '' && dollarsOf(typed) === null;
  const type = (text: string) => {
    setTyped(text);
    const dollars = text.trim() === '' ? 0 : dollarsOf(text);
    if (dollars !== null) change({ minPremiumUsd: dollars });
  };
  const expiryNames = Object.fromEntries(expiries.map((expiry) => [expiry, shortDate(expiry, expiries[0]!)]));
  return html`<div class="filters" role="group" aria-label="Filter">
    ${pick('Kind', filter.kind, kindNames, (kind) => change({ kind: kind as TradeFilter['kind'] }))}
    ${pick('Side', filter.side, sideNames, (side) => change({ side: side as TradeFilter['side'] }))}
    ${pick('Right', filter.right, { call: 'Calls', put: 'Puts' }, (right) => change({ right: right as TradeFilter['right'] }))}
    ${pick('Expiry', filter.expiry, expiryNames, (expiry) => change({ expiry }))}
    <label><span class="visually-hidden">Minimum premium, dollars</span><input value=${typed} onInput=${(event: Event) => type((event.target as HTMLInputElement).value)} placeholder="min $, e.g. 250k" inputmode="decimal" size="13" aria-invalid=${wrong} /></label>
  </div>` as VNode;
}

/** Number of listed trades, of all, and the premium of all. */
export function tradesNote({ trades, total }: TradeList): string {
  if (total === null) return `${trades.length} so far`;
  const all = trades.length < total.count ? `the newest ${trades.length} of ${total.count}` : String(total.count);
  return `${all}, ${usd(total.premiumUsd)}`;
}

/** The part below the rows, which leads to older trades. */
function Further({ list, drawn, more }: { list: TradeList; drawn: number; more: () => void }): VNode | null {
  if (list.trades.length > drawn || list.cursor !== null)
    return html`<p class="more"><button type="button" onClick=${more}>More trades</button></p>` as VNode;
  if (list.total === null || list.total.count <= list.trades.length) return null;
  return html`<p class="more">To see those further back, narrow the filter.</p>` as VNode;
}

export function TradesPanel({ controller }: { controller: DashboardController }): VNode {
  const state = useEntries(controller.store, entries);
  const { tradeFilter: filter, view, latestSession, crossSection } = state;
  const [drawn, setDrawn] = useState(drawnRows);
  useEffect(() => setDrawn(drawnRows), [filter, view.symbol, view.session]);
  const list = useMemo(
    () => state.filteredTrades ?? (isNarrow(filter) ? narrowed(state.trades, filter) : state.trades),
    [state.filteredTrades, state.trades, filter],
  );
  const expiries = useMemo(
    () => expiriesOf(state.trades.trades, crossSection?.snapshot ?? null),
    [state.trades, crossSection],
  );
  const [opened, setOpened] = useState<string | null>(null);
  const toggle = useCallback((id: string) => setOpened((before) => (before === id ? null : id)), []);
  const ask = useCallback((id: string) => controller.trade(id), []);
  const row = (trade: LargeTrade) =>
    html`<${TradeRow} key=${trade.update.event.eventId} trade=${trade} today=${latestSession} isOpen=${trade.update.event.id === opened} toggle=${toggle} ask=${ask} />`;
  const more = () => {
    setDrawn(drawn + tradesPerPage);
    if (list.trades.length < drawn + tradesPerPage) controller.furtherTrades();
  };
  return html`<${Panel} id="trades" title="Large option trades" state=${stateOf(state)} part="trades" see=${() => controller.see()} retry=${() => controller.reload()}
    note=${tradesNote(list)}
    legend=${html`<${Filters} filter=${filter} expiries=${expiries} change=${(change: Partial<TradeFilter>) => controller.filterTrades(change)} />`}>
    <div class="scroll" tabindex="0" role="region" aria-label="Large option trades, newest first">
      <table class="trades"><thead><tr><th scope="col">Time</th><th scope="col">Contract</th><th scope="col">Premium</th><th scope="col">Side</th><th scope="col">Kind</th><th scope="col">Size</th><th scope="col">Price</th></tr></thead>
      <tbody>${list.trades.slice(0, drawn).map(row)}</tbody></table>
      ${list.trades.length === 0 ? html`<p class="message">No trade passes the filter.</p>` : null}
      <${Further} list=${list} drawn=${drawn} more=${more} />
    </div>
  <//>` as VNode;
}
