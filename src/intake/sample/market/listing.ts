import {
  nextTradingDay,
  previousTradingDay,
  thirdFriday,
  tradingDayAtOrBefore,
} from '../../../core/domain/calendar.ts';
import { lastInstant, type Settlement } from '../../../core/domain/chain/option-root.ts';
import { addDays, epochDay, type SessionDate } from '../../../core/domain/market-time.ts';
import type { SamplePrices } from './prices.ts';
import { randomFrom, seedOf } from './random.ts';
import { splitFactor } from './split.ts';
import type { SampleSymbol } from './universe.ts';

/** A listed expiry of a session: contracts, and the figures that are constant within it. */
export interface ListedExpiry {
  root: string;
  expiry: SessionDate;
  expiryMs: number;
  /** Dollars, ascending. */
  strikes: number[];
  /** Contracts outstanding, and those traded by the session's end; two per strike: call, put. */
  openInterest: Float64Array;
  volume: Float64Array;
}

const strikeSteps = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250];

function weekdayOf(date: SessionDate): number {
  return (((epochDay(date) + 4) % 7) + 7) % 7;
}

function fridayOnOrAfter(date: SessionDate): SessionDate {
  return addDays(date, (5 - weekdayOf(date) + 7) % 7);
}

const isQuarterly = (date: SessionDate) => Number(date.slice(5, 7)) % 3 === 0;

/** The next two monthly expiries, and the quarterly one after them: none is listed before and not after. */
function monthlies(session: SessionDate): SessionDate[] {
  const [year, month] = session.split('-').map(Number) as [number, number];
  const dates = [0, 1, 2, 3, 4, 5].map((ahead) => tradingDayAtOrBefore(thirdFriday(year, month - 1 + ahead)));
  const coming = dates.filter((date) => date > session);
  return [...coming.slice(0, 2), coming.slice(2).find(isQuarterly)!];
}

function weeklies(session: SessionDate, daily: boolean): SessionDate[] {
  const friday = fridayOnOrAfter(session);
  const fridays = [0, 7, 14, 21].map((days) => tradingDayAtOrBefore(addDays(friday, days)));
  if (!daily) return fridays.filter((date) => date >= session);
  const next = nextTradingDay(session);
  return [session, next, nextTradingDay(next), ...fridays.slice(0, 3).filter((date) => date >= session)];
}

function expiries(
  entry: SampleSymbol,
  session: SessionDate,
): { root: string; expiry: SessionDate; settlement: Settlement }[] {
  const weeklyRoot = entry.weeklyRoot ?? entry.symbol;
  const index = entry.kind === 'index';
  const listed = [
    ...weeklies(session, entry.chains === 'every5m' && entry.kind !== 'stock').map((expiry) => ({
      root: weeklyRoot,
      expiry,
      settlement: 'pm' as const,
    })),
    ...monthlies(session).map((expiry) => ({
      root: index ? entry.symbol : weeklyRoot,
      expiry,
      settlement: index ? ('am' as const) : ('pm' as const),
    })),
  ];
  const once = new Map(listed.map((one) => [`${one.expiry} ${one.root}`, one]));
  return [...once].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Days to expiry for which strikes are listed, from an expiry's first session to its last. */
const listedDays = { weekly: 4, monthly: 60 };
/** Number of sessions for which a strike stays listed. */
const listedSessions = 10;

/** Prior closes of a session and of those before it, in the same shares. */
function recentCloses(prices: SamplePrices, entry: SampleSymbol, session: SessionDate): number[] {
  const closes: number[] = [];
  const shares = splitFactor(entry.symbol, session);
  let date = session;
  for (let i = 0; i < listedSessions && splitFactor(entry.symbol, date) === shares; i++) {
    closes.push(prices.of(entry, date).priorClose);
    date = previousTradingDay(date);
  }
  return closes;
}

/**
 * Strikes out to some three and a half standard deviations, on a step that exchanges use. An exchange delists no strike
 * before its expiry: the step depends on the ticker and the expiry alone, and those around recent closes stay.
 */
function strikesOf(entry: SampleSymbol, closes: readonly number[], level: number, expiry: SessionDate): number[] {
  const [year, month] = expiry.split('-').map(Number) as [number, number];
  const isMonthly = expiry === tradingDayAtOrBefore(thirdFriday(year, month - 1));
  const years = (isMonthly ? listedDays.monthly : listedDays.weekly) / 365;
  const reach = Math.max(0.02, 3.5 * entry.volatility * Math.sqrt(years)) * level;
  const step = strikeSteps.find((one) => one * entry.strikesBeside >= reach) ?? strikeSteps.at(-1)!;
  const middles = closes.map((close) => Math.round(close / step));
  const first = Math.max(1, Math.min(...middles) - entry.strikesBeside);
  const last = Math.max(...middles) + entry.strikesBeside;
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

function interestOf(
  entry: SampleSymbol,
  session: SessionDate,
  root: string,
  expiry: SessionDate,
  strikes: number[],
  spot: number,
  years: number,
) {
  const random = randomFrom(seedOf('interest', root, expiry, session));
  const scale = (entry.kind === 'stock' ? 900 : 4000) * Math.exp(0.4 * random.normal());
  const width = Math.max(0.01, 1.2 * entry.volatility * Math.sqrt(years));
  const openInterest = new Float64Array(2 * strikes.length);
  const volume = new Float64Array(2 * strikes.length);
  strikes.forEach((strike, i) => {
    const m = Math.log(strike / spot) / width;
    const round = strike % (10 * (strikes[1]! - strikes[0]!)) === 0 ? 2.5 : 1;
    for (const right of [0, 1]) {
      // Open interest of calls is above the money, of puts below, with more of them and further out.
      const away = right === 0 ? m - 0.5 : m + 0.8;
      const held = scale * round * (right === 1 ? 1.35 : 1) * Math.exp(-0.5 * away * away + 0.6 * random.normal());
      openInterest[2 * i + right] = Math.round(held);
      volume[2 * i + right] = Math.round(held * 0.5 * Math.exp(-0.8 * m * m + 0.7 * random.normal()));
    }
  });
  return { openInterest, volume };
}

/**
 * All listed contracts of a ticker for a session, by expiry, then root. The adjusted root, if any, lists five strikes
 * of one expiry.
 */
export function listedExpiries(prices: SamplePrices, entry: SampleSymbol, session: SessionDate): ListedExpiry[] {
  const closes = recentCloses(prices, entry, session);
  const level = entry.price * splitFactor(entry.symbol, session);
  const spot = closes[0]!;
  const listed = expiries(entry, session).map(({ root, expiry, settlement }) => {
    const expiryMs = lastInstant(expiry, settlement);
    const years = Math.max(0.5, epochDay(expiry) - epochDay(session)) / 365;
    const strikes = strikesOf(entry, closes, level, expiry);
    return { root, expiry, expiryMs, strikes, ...interestOf(entry, session, root, expiry, strikes, spot, years) };
  });
  if (entry.adjustedRoot === null) return listed;
  const monthly = listed.at(-2)!;
  const middle = Math.floor(monthly.strikes.length / 2) - 2;
  const adjusted = {
    ...monthly,
    root: entry.adjustedRoot,
    strikes: monthly.strikes.slice(middle, middle + 5),
    openInterest: monthly.openInterest.slice(2 * middle, 2 * middle + 10),
    volume: new Float64Array(10),
  };
  return [...listed, adjusted];
}
