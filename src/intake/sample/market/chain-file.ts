import { sessionMinutes } from '../../../core/domain/calendar.ts';
import { osiSymbol } from '../../../core/domain/chain/option-contract.ts';
import { exchangeInstant, exchangeOffsetMs, type SessionDate } from '../../../core/domain/market-time.ts';
import { hourMs } from '../../../platform/runtime/clock.ts';
import { type ListedExpiry, listedExpiries } from './listing.ts';
import { quoteAround, quoteTick, sessionVolatility, smile, strikeValue } from './options/option-value.ts';
import type { SamplePrices } from './prices.ts';
import { randomFrom, seedOf } from './random.ts';
import type { SampleSymbol } from './universe.ts';

const side = 'Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest';
const header = `Expiration Date,Calls,${side},Strike,Puts,${side}\n`;
const yearMs = 365 * 24 * hourMs;

const round = (value: number, scale: number) => Math.round(value * scale) / scale;

/** `Fri Nov 20 2026` */
function expiryText(expiry: SessionDate): string {
  return new Date(`${expiry}T12:00:00Z`).toUTCString().replace(/^(\w+), (\d+) (\w+) (\d+).*/, '$1 $3 $2 $4');
}

const longDate = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

/** `November 19, 2026 at 3:45 PM EST` */
function dateText(session: SessionDate, minute: number): string {
  const day = longDate.format(new Date(`${session}T12:00:00Z`));
  const hour = Math.floor(minute / 60);
  const zone = exchangeOffsetMs(exchangeInstant(session, minute)) === -5 * hourMs ? 'EST' : 'EDT';
  return `${day} at ${((hour + 11) % 12) + 1}:${String(minute % 60).padStart(2, '0')} ${hour < 12 ? 'AM' : 'PM'} ${zone}`;
}

/** The price at a minute of the session: the close of the minute before it. */
export function spotAt(prices: SamplePrices, entry: SampleSymbol, session: SessionDate, minute: number): number {
  const bars = prices.minutes(entry, session);
  const index = Math.min(minute - sessionMinutes.open, bars.tsMs.length) - 1;
  return index < 0 ? bars.open[0]! : bars.close[index]!;
}

/** Everything of a session's chain that its captures share: built once for the session's 78. */
export interface SessionChain {
  entry: SampleSymbol;
  session: SessionDate;
  expiries: (ListedExpiry & { text: string; calls: string[]; puts: string[] })[];
}

/** The contracts listed on a ticker for a session, with their names written out. */
export function sessionChain(prices: SamplePrices, entry: SampleSymbol, session: SessionDate): SessionChain {
  const expiries = listedExpiries(prices, entry, session).map((listed) => {
    const { root, expiry, strikes } = listed;
    const names = (right: 'call' | 'put') =>
      strikes.map((strike) => osiSymbol({ root, expiry, right, strike: strike * 1000 }));
    return { ...listed, text: expiryText(expiry), calls: names('call'), puts: names('put') };
  });
  return { entry, session, expiries };
}

interface Moment {
  spot: number;
  years: number;
  /** Dollars between quotable prices. */
  tick: number;
  /** Share of the session's volume traded so far. */
  traded: number;
}

function sideText(
  price: number,
  delta: number,
  iv: number,
  gamma: number,
  openInterest: number,
  volume: number,
  { tick }: Moment,
  noise: number,
): string {
  const { bid, ask } = quoteAround(price, tick);
  const last = volume > 0 ? Math.max(tick, round(price * (1 + 0.03 * noise), 100)) : 0;
  const change = volume > 0 ? round(price * 0.05 * noise, 100) : 0;
  const greeks = `${iv},${round(delta, 1e4)},${round(gamma, 1e4)}`;
  return `${last},${change},${bid},${ask},${volume},${greeks},${openInterest}`;
}

function expiryLines(
  { entry, session }: SessionChain,
  listed: SessionChain['expiries'][number],
  moment: Moment,
  seed: number,
): string {
  const random = randomFrom(seed);
  const atm = sessionVolatility(entry, session);
  let text = '';
  for (let i = 0; i < listed.strikes.length; i++) {
    const strike = listed.strikes[i]!;
    const iv = round(smile(atm, moment.spot, strike, moment.years), 1e4);
    const { call, put, callDelta, gamma } = strikeValue(moment.spot, strike, moment.years, iv);
    const noise = random.next() - 0.5;
    const volume = (right: number) => Math.round(listed.volume[2 * i + right]! * moment.traded);
    const interest = (right: number) => listed.openInterest[2 * i + right]!;
    const calls = sideText(call, callDelta, iv, gamma, interest(0), volume(0), moment, noise);
    const puts = sideText(put, callDelta - 1, iv, gamma, interest(1), volume(1), moment, -noise);
    text += `${listed.text},${listed.calls[i]},${calls},${strike.toFixed(2)},${listed.puts[i]},${puts}\n`;
  }
  return text;
}

/**
 * A capture as the delayed-quote table's CSV, at a minute of the session (9:30 = 570). Gammas have four decimals, as in
 * the real table.
 */
export function chainFile(prices: SamplePrices, chain: SessionChain, minute: number): string {
  const { entry, session } = chain;
  const spot = spotAt(prices, entry, session, minute);
  const change = round(spot - prices.of(entry, session).priorClose, 100);
  const atMs = exchangeInstant(session, minute);
  const t = (minute - sessionMinutes.open) / (sessionMinutes.close - sessionMinutes.open);
  const common = { spot, tick: quoteTick(entry), traded: 0.15 * Math.sqrt(t) + 0.85 * t };
  const lines = chain.expiries.map((listed) => {
    const years = Math.max(60_000, listed.expiryMs - atMs) / yearMs;
    return expiryLines(
      chain,
      listed,
      { ...common, years },
      seedOf('quotes', listed.root, listed.expiry, session, minute),
    );
  });
  const title = `\n${entry.name},Last: ${spot},Change: ${change}\n`;
  const date = `"Date: ${dateText(session, minute)}",Bid: ${spot},Ask: ${spot},Size: 1*1,Volume: 0\n`;
  return title + date + header + lines.join('');
}
