// The head of the page: the symbol, its price, and the most important figures.
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { GexCapture } from '../../../../../generated/pages/operation-types.ts';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { type DashboardState, type LockedPart, shownSession } from '../data/dashboard-state.ts';
import { useEntries, useStore } from '../data/state-store.ts';
import { flowTotals } from '../flow/flow-bars.ts';
import {
  change,
  clockTime,
  clockTimeSeconds,
  compact,
  date,
  dateBeside,
  dateOf,
  dayAndTime,
  figureOrWhy,
  fraction,
  fullDate,
  gex,
  price,
  ratio,
  shortDate,
  strike,
  unknown,
} from '../format.ts';
import { crossingsOf } from '../gex/crossings.ts';
import { ageText, isMarketOpen, liveBadge, priceTime } from './market-state.ts';
import { contentsText, sessionQuote, sessionsOf } from './sessions.ts';
import { SymbolField } from './symbol-field.ts';

/** The time of the symbol's price, epoch ms; null = unknown, or it is a close. */
function priceMsOf({ quotes, view, market, bars }: DashboardState, nowMs: number): number | null {
  const candles = bars?.columns.tsMs ?? [];
  return priceTime({ quote: quotes[view.symbol], market, candles, timeframe: view.timeframe, nowMs });
}

function badge(state: DashboardState, nowMs: number): VNode {
  const { live, view, market, quotes, latestSession } = state;
  const priceMs = priceMsOf(state, nowMs);
  const { kind, text } = liveBadge({ view, live, market, quote: quotes[view.symbol], priceMs, latestSession, nowMs });
  return html`<span class="live" data-state=${kind} data-stream=${live} role="status"><i></i>${text}</span>` as VNode;
}

/** A figure of the strip: its name, its value, and its explanation. */
interface Figure {
  name: string;
  value: string;
  what: string;
  /** Reason for which it is unknown, if it is. */
  why: string;
  /** Its age or its day; null = current, or of the session shown. */
  age: string | null;
  colour?: string | undefined;
}

/** Reasons for which a figure of a stored chain is unknown. */
const gammaReasons: Readonly<Record<string, string>> = {
  Flip: 'The cumulative net curve does not cross zero.',
  'Zero gamma': 'Net gamma, re-priced at other spots, does not change sign, or the chain could not be priced.',
  'Call wall': 'No strike has positive net gamma.',
  'Put wall': 'No strike has negative net gamma.',
  'ATM IV': 'No volatility at the money could be solved from the quotes of the chain.',
  'Expected move': 'A call or a put at the money has no price.',
  'Max pain': 'No contract of the expiry is open.',
};

/** Figures of dealer gamma, and of the first expiry after the session. */
function gammaFigures({ capture, quotes, view }: DashboardState, age: string | null): Figure[] {
  const expiry = capture?.expiries.find(({ expiry }) => expiry > capture.sessionDate) ?? capture?.expiries[0];
  const spot = (view.session === null ? quotes[view.symbol]?.spot : null) ?? capture?.spot ?? null;
  const move = expiry?.expectedMoveStraddle ?? null;
  const of = (what: string) => (expiry ? `${what}, ${date(expiry.expiry)}` : what);
  const noChain = `No option chain of ${view.symbol} is stored${view.session === null ? '' : ' of the session'}.`;
  const figure = (name: string, value: string, what: string, colour?: string): Figure => ({
    name,
    value,
    what,
    why: (capture && gammaReasons[name]) ?? noChain,
    age: value === unknown ? null : age,
    colour,
  });
  return [
    figure(
      'Net GEX',
      gex(capture?.netGex),
      'Dollars dealers trade to stay hedged when the price moves $1',
      capture ? (capture.netGex >= 0 ? 'call' : 'put') : undefined,
    ),
    ...crossingsOf(capture).map(({ name, at, what }) => figure(name, price(at), what)),
    figure('Call wall', strike(capture?.callWall), 'Strike of the largest positive net gamma', 'call'),
    figure('Put wall', strike(capture?.putWall), 'Strike of the most negative net gamma', 'put'),
    figure('ATM IV', fraction(expiry?.atmIv), of('Implied volatility at the money')),
    figure(
      'Expected move',
      move === null ? price(null) : `±${price(move)}${spot ? ` (${fraction(move / spot)})` : ''}`,
      of('Price of the straddle at the money'),
    ),
    figure('Max pain', strike(expiry?.maxPain), of('Strike at which option holders receive the least')),
  ];
}

/** The time of figures, in words: their age if they are live, else their time within the past session. */
function madeAt({ view }: DashboardState, atMs: number | null | undefined, nowMs: number): string | null {
  if (view.session === null) return ageText(atMs, nowMs);
  if (atMs == null) return null;
  // A capture of a weekend counts for the session before it.
  return dateOf(atMs) === view.session ? clockTime(atMs) : dayAndTime(atMs, view.session);
}

/** The reason of the tier for which a part is not served; null if it is. */
const lockedWhy = ({ locked }: DashboardState, part: LockedPart) =>
  locked.find(({ path }) => path[1] === part)?.message ?? null;

function whyNoFlow(state: DashboardState): string {
  const { crossSection, view } = state;
  const none = `No option trades of ${view.symbol} are stored of the session.`;
  return lockedWhy(state, 'flow') ?? (crossSection?.snapshot ? 'No call was traded.' : none);
}

function whyNotOffExchange(state: DashboardState): string {
  const none = 'No off-exchange trading is published. That of a session is published on the next morning.';
  return lockedWhy(state, 'offExchange') ?? none;
}

/** The figures. Each can be unknown. */
function figuresOf(state: DashboardState, nowMs: number): Figure[] {
  const { capture, crossSection, answer } = state;
  const snapshot = crossSection?.snapshot;
  const flow = snapshot ? flowTotals(snapshot.update.byExpiration, 'premium') : null;
  const off = answer?.symbol?.offExchange.activity?.rows.at(-1);
  return [
    ...gammaFigures(state, madeAt(state, capture?.capturedAt, nowMs)),
    {
      name: 'Put/call',
      value: flow ? ratio(flow.puts, flow.calls) : unknown,
      what: 'Premium of puts to premium of calls in the session',
      why: whyNoFlow(state),
      age: snapshot ? madeAt(state, snapshot.coverage.observedThroughMs, nowMs) : null,
    },
    {
      name: 'Off exchange',
      value: fraction(off?.offExchPct),
      what: off ? `Share of volume off exchange, ${date(off.date)}` : 'Share of volume off exchange',
      why: whyNotOffExchange(state),
      age: off && off.date !== shownSession(state) ? shortDate(off.date, shownSession(state)) : null,
    },
  ];
}

/** A cell of the strip. */
function figureCell({ name, value, what, why, age, colour }: Figure, loading: boolean): VNode {
  const shown = figureOrWhy(value, `why-${name.replace(/\W/g, '')}`, why);
  return html`<div title=${what}><dt>${name}</dt>
    <dd class=${value === unknown ? '' : (colour ?? '')}>${loading ? html`<i class="bone"></i>` : shown}</dd>
    ${age === null ? null : html`<dd class="age">${age}</dd>`}</div>` as VNode;
}

interface Headline {
  spot: number | null;
  changePct: number | null;
  previousClose: number | null;
  volume: number | null;
}

/** A price with its change; `when` gives its time. */
function headline({ spot, changePct, previousClose, volume }: Headline, when: ComponentChildren): VNode {
  const amount = spot !== null && previousClose !== null ? spot - previousClose : null;
  const way = changePct === null || changePct === 0 ? '' : changePct > 0 ? 'up' : 'down';
  return html`<div class="quote" role="group" aria-label="Quote">
    <b class="spot" id="spot">${price(spot)}</b>
    <span class=${`change ${way}`} id="change">${amount === null ? '' : `${amount > 0 ? '+' : ''}${price(amount)} `}${changePct === null ? '' : change(changePct)}</span>
    <span class="small">${volume ? html`Vol <b>${compact(volume)}</b> · ` : null}Prev close <b>${figureOrWhy(price(previousClose), 'why-close', 'No close of the session before is stored.')}</b>${when}</span>
  </div>` as VNode;
}

/** A placeholder as large as a price with its change. */
const headlineToCome = html`<div class="quote" aria-hidden="true">
  <b class="spot"><i class="bone"></i></b><span class="change"><i class="bone"></i></span><span class="small"><i class="bone"></i></span>
</div>` as VNode;

/** The current price, with its time, and its age if it is not current. */
function liveHeadline(state: DashboardState, nowMs: number): VNode | null {
  const { quotes, view, market } = state;
  const quote = quotes[view.symbol];
  if (quote?.spot == null) return null;
  const { sessionDate, officialClose: previousClose } = quote;
  const priceMs = priceMsOf(state, nowMs);
  const age = ageText(priceMs, nowMs);
  const isOver = market === null || !isMarketOpen(market, nowMs) || sessionDate !== dateOf(nowMs);
  const untimed = isOver ? `close of ${date(sessionDate)}` : date(sessionDate);
  const of = priceMs === null ? untimed : clockTimeSeconds(priceMs);
  return headline(
    { ...quote, previousClose },
    html` · <b id="quote-time">${of}</b>${age === null ? null : html` <span id="quote-age">(${age})</span>`}`,
  );
}

/** The session's own price: its close, compared with the close before. */
function pastHeadline(state: DashboardState, nowMs: number): VNode | null {
  const session = shownSession(state);
  const past = sessionQuote(state.daily, session);
  if (past === null) return null;
  return headline(
    { ...past, spot: past.close },
    html` · <b id="quote-time">close of ${dateBeside(session, dateOf(nowMs))}</b>`,
  );
}

/** The current price, or that of the session shown, if there is no current one. */
const headlineOf = (state: DashboardState, nowMs: number) =>
  (state.view.session === null ? liveHeadline(state, nowMs) : null) ?? pastHeadline(state, nowMs);

// Ages grow without any event.
const ageEveryMs = 5000;

/** The server's clock, epoch ms; the component is drawn again every few seconds. */
function useServerClock(now: () => number, { clockAheadMs }: DashboardState): number {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), ageEveryMs);
    return () => clearInterval(timer);
  }, []);
  return now() + clockAheadMs;
}

/** The head. */
export function Summary({ controller, now }: { controller: DashboardController; now: () => number }): VNode {
  const state = useStore(controller.store, (all) => all);
  const nowMs = useServerClock(now, state);
  const { view, answer } = state;
  const name = answer?.symbol?.name;
  // A skeleton signals that content is loading.
  const loading = state.phase === 'loading' && answer === null;
  return html`<div class="summary">
    <div class="title">
      <h1>${view.symbol}</h1>
      <span class="name">${name ?? (loading ? html`<i class="bone"></i>` : '')}</span>
    </div>
    ${headlineOf(state, nowMs) ?? (loading ? headlineToCome : null)}
    <div class="tools">${badge(state, nowMs)}<${SessionField} controller=${controller} /><${SymbolField} controller=${controller} />
      <button type="button" class="help-button" aria-label="Help: keys and terms" aria-keyshortcuts="?" onClick=${() => controller.showHelp(true)}>?</button></div>
    <dl class="strip">${figuresOf(state, nowMs).map((figure) => figureCell(figure, loading))}</dl>
    <${SpotNote} capture=${state.capture} />
  </div>` as VNode;
}

// The line below the figures of a capture whose price and quotes are not of one instant, or whose expected moves
// contradict each other.

type Checked = Pick<GexCapture, 'spot' | 'impliedSpot' | 'spotStale' | 'inconsistentExpiries'>;

/** Warning about the prices of a capture's figures; null if there is none. */
export function spotNote({ spot, impliedSpot, spotStale, inconsistentExpiries }: Checked): string | null {
  const notes: string[] = [];
  if (spotStale)
    notes.push(
      `The spot price ${price(spot)} and the option quotes are of different times. Options are priced at ${price(impliedSpot)}, the spot that the quotes imply.`,
    );
  if (inconsistentExpiries)
    notes.push(
      `In ${inconsistentExpiries} ${inconsistentExpiries === 1 ? 'expiry' : 'expiries'}, straddle and implied volatility disagree on the expected move.`,
    );
  return notes.length === 0 ? null : notes.join(' ');
}

/** The line; empty if spot and quotes agree. It is present before the capture, so that nothing moves. */
function SpotNote({ capture }: { capture: Checked | null }): VNode {
  return html`<p class="small" id="spot-note">${capture && spotNote(capture)}</p>` as VNode;
}

// The choice of the session.

const entries = ['view', 'latestSession', 'answer', 'capture', 'sessions'] as const;

/** The list of sessions. A year of them is long, so it is drawn only when it changes, not with every price. */
function SessionField({ controller }: { controller: DashboardController }): VNode {
  const state = useEntries(controller.store, entries);
  const { view, latestSession, sessions: contents } = state;
  const shown = shownSession(state);
  const sessions = sessionsOf(state);
  // Until the sessions are loaded, the list contains the one in the address.
  const all = sessions.includes(shown) ? sessions : [...sessions, shown];
  const rows = contents.symbol === view.symbol ? contents.rows : [];
  const options = useMemo(() => {
    const stored = new Map(rows.map((row) => [row.sessionDate, ` · ${contentsText(row)}`]));
    const text = (one: string) => fullDate(one) + (stored.get(one) ?? '');
    return all.map((one) => html`<option key=${one} value=${one} selected=${one === shown}>${text(one)}</option>`);
  }, [all.join(), shown, rows]);
  const see = () => controller.seeSessions();
  const choose = (event: Event) => {
    const { value } = event.target as HTMLSelectElement;
    controller.show({ session: value === latestSession ? null : value });
  };
  return html`<span class="session">
    <label><span class="visually-hidden">Session</span><select id="session" value=${shown} onChange=${choose} onFocus=${see} onPointerEnter=${see}>
      ${options}
    </select></label>
    ${view.session === null ? null : html`<button type="button" onClick=${() => controller.show({ session: null })}>Back to live</button>`}
  </span>` as VNode;
}
