import { closeMinute, previousTradingDay, sessionMinutes } from '../../../core/domain/calendar.ts';
import { type BarColumns, unknownBars } from '../../../core/domain/market/bar.ts';
import { exchangeInstant, type SessionDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { randomFrom, seedOf } from './random.ts';
import { splitFactor } from './split.ts';
import { type SampleSymbol, sampleSymbolOf } from './universe.ts';

/*
 * Prices of the simulated market. All of a session follows from its date and the ticker, whenever it is made: a market
 * made today and extended tomorrow is the market made tomorrow. The daily close is the base price times e^x, x a moving
 * average of the last 700 sessions' shocks (so it wanders and comes back); a session's minutes are a bridge from its
 * open to its close.
 */
const memorySessions = 700;
const persistence = 0.994;
const sessionsPerYear = 252;

/** Approximate number of a ticker's shares traded in a session. */
export function volumeOf({ symbol, dailyVolume }: SampleSymbol, session: SessionDate): number {
  return dailyVolume / splitFactor(symbol, session);
}

/** First and last prices of a session, dollars. */
export interface SessionPrices {
  /** Close of the session before, adjusted to the shares of this one. */
  priorClose: number;
  open: number;
  close: number;
}

/** Prices by ticker and session, cached. */
export interface SamplePrices {
  of(entry: SampleSymbol, session: SessionDate): SessionPrices;
  /** Minute bars of the whole session, with vwap and trade count (NaN for an index). */
  minutes(entry: SampleSymbol, session: SessionDate): BarColumns;
}

function memo<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      made.set(key, value);
    }
    return value;
  };
}

const cents = (price: number) => Math.round(price * 100) / 100;
const before = memo(previousTradingDay);
const shock = (name: string, session: SessionDate) => randomFrom(seedOf('shock', name, session)).normal();

function sessionShocks(entry: SampleSymbol): (session: SessionDate) => number {
  const daily = entry.volatility / Math.sqrt(sessionsPerYear);
  const own = Math.sqrt(1 - entry.beta ** 2);
  return memo((session) => daily * (entry.beta * shock('market', session) + own * shock(entry.symbol, session)));
}

/** A ticker's closes without splits, dollars, not rounded. */
function valuesOf(entry: SampleSymbol): (session: SessionDate) => number {
  const shockOf = sessionShocks(entry);
  return memo((session) => {
    let sum = 0;
    let weight = 1;
    let day = session;
    for (let k = 0; k < memorySessions; k++) {
      sum += weight * shockOf(day);
      weight *= persistence;
      day = before(day);
    }
    return entry.price * Math.exp(sum);
  });
}

/** Relative volume of a minute: high at the open and the close, low at noon. */
export function minuteWeight(minute: number, minutes: number): number {
  const t = (2 * (minute + 0.5)) / minutes - 1;
  return 0.55 + 1.9 * t ** 4 + (minute === 0 ? 2.5 : minute === minutes - 1 ? 4 : 0);
}

/** Log price at the minutes' boundaries: a Brownian bridge, of the market's noise and the ticker's own. */
function bridge(
  entry: SampleSymbol,
  session: SessionDate,
  { open, close }: SessionPrices,
  minutes: number,
): Float64Array {
  const market = randomFrom(seedOf('minutes', 'market', session));
  const own = randomFrom(seedOf('minutes', entry.symbol, session));
  const share = Math.sqrt(1 - entry.beta ** 2);
  const step = (0.8 * entry.volatility) / Math.sqrt(sessionsPerYear * minutes);
  const path = new Float64Array(minutes + 1);
  for (let i = 1; i <= minutes; i++)
    path[i] = path[i - 1]! + step * (entry.beta * market.normal() + share * own.normal());
  const end = path[minutes]!;
  const [from, to] = [Math.log(open), Math.log(close)];
  for (let i = 0; i <= minutes; i++) path[i] = from + ((to - from) * i) / minutes + path[i]! - (end * i) / minutes;
  return path;
}

function minuteBars(entry: SampleSymbol, session: SessionDate, prices: SessionPrices): BarColumns {
  const minutes = closeMinute(session) - sessionMinutes.open;
  const path = bridge(entry, session, prices, minutes);
  const random = randomFrom(seedOf('bars', entry.symbol, session));
  const bars = unknownBars(minutes);
  const openMs = exchangeInstant(session, sessionMinutes.open);
  const wick = (0.35 * entry.volatility) / Math.sqrt(sessionsPerYear * 390);
  const volume = (volumeOf(entry, session) * Math.exp(0.3 * random.normal())) / minutes;
  let last = prices.open;
  for (let i = 0; i < minutes; i++) {
    const close = i === minutes - 1 ? prices.close : cents(Math.exp(path[i + 1]!));
    const high = cents(Math.max(last, close) * (1 + wick * Math.abs(random.normal())));
    const low = cents(Math.min(last, close) * (1 - wick * Math.abs(random.normal())));
    const shares = Math.round(volume * minuteWeight(i, minutes) * Math.exp(0.5 * random.normal()));
    bars.tsMs[i] = openMs + i * minuteMs;
    bars.open[i] = last;
    bars.high[i] = high;
    bars.low[i] = low;
    bars.close[i] = close;
    bars.volume[i] = shares;
    const vwap = Math.round(((last + high + low + close) / 4) * 1e4) / 1e4;
    bars.vwap[i] = entry.kind === 'index' ? Number.NaN : Math.min(high, Math.max(low, vwap));
    bars.tradeCount[i] =
      entry.kind === 'index' ? Number.NaN : Math.max(1, Math.round(shares / (60 + 80 * random.next())));
    last = close;
  }
  return bars;
}

/** A follower's bars: the leader's prices times the ratio, its own volumes. */
function scaled(own: BarColumns, leader: BarColumns, ratio: number, prices: SessionPrices): BarColumns {
  const last = own.tsMs.length - 1;
  for (let i = 0; i <= last; i++) {
    own.open[i] = i === 0 ? prices.open : own.close[i - 1]!;
    own.close[i] = i === last ? prices.close : cents(leader.close[i]! * ratio);
    own.high[i] = Math.max(own.open[i]!, own.close[i]!, cents(leader.high[i]! * ratio));
    own.low[i] = Math.min(own.open[i]!, own.close[i]!, cents(leader.low[i]! * ratio));
    const mean = (own.open[i]! + own.high[i]! + own.low[i]! + own.close[i]!) / 4;
    own.vwap[i] = Math.min(own.high[i]!, Math.max(own.low[i]!, Math.round(mean * 1e4) / 1e4));
  }
  return own;
}

/** The prices of the simulated market. */
export function samplePrices(): SamplePrices {
  const values = memo((symbol) => valuesOf(sampleSymbolOf(symbol)));
  /** The close of a session, adjusted to the shares of another. */
  const closeOf = (entry: SampleSymbol, session: SessionDate, inSharesOf = session): number => {
    const { symbol, ratio } = entry.follows ?? { symbol: entry.symbol, ratio: 1 };
    const close = cents(values(symbol)(session) * splitFactor(symbol, inSharesOf));
    return entry.follows ? cents(close * ratio) : close;
  };
  const gapOf = (entry: SampleSymbol, session: SessionDate): number => {
    const leader = entry.follows ? sampleSymbolOf(entry.follows.symbol) : entry;
    return (0.2 * leader.volatility * shock(`open ${leader.symbol}`, session)) / Math.sqrt(sessionsPerYear);
  };
  const of = (entry: SampleSymbol, session: SessionDate): SessionPrices => {
    const priorClose = closeOf(entry, before(session), session);
    const close = closeOf(entry, session);
    const open = cents(priorClose * Math.exp(0.25 * Math.log(close / priorClose) + gapOf(entry, session)));
    return { priorClose, open, close };
  };
  const minutes = memo((key): BarColumns => {
    const [symbol, session] = key.split(' ') as [string, SessionDate];
    const entry = sampleSymbolOf(symbol);
    const bars = minuteBars(entry, session, of(entry, session));
    if (!entry.follows) return bars;
    const leader = minutes(`${entry.follows.symbol} ${session}`);
    return scaled(bars, leader, entry.follows.ratio, of(entry, session));
  });
  return { of, minutes: (entry, session) => minutes(`${entry.symbol} ${session}`) };
}
