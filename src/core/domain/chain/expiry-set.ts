import { thirdFriday, tradingDayAtOrBefore } from '../calendar.ts';
import { addDays, epochDay, exchangeDate, type SessionDate } from '../market-time.ts';
import { type ChainCapture, sourceTime } from './chain.ts';
import { lastSession, type OptionRoot } from './option-root.ts';

export const expirySetNames = ['all', 'zero_dte', 'within_days', 'monthly', 'list'] as const;

/** A choice of a chain's expiries. `withinDays` belongs to `within_days`, `dates` to `list`; null otherwise. */
export interface ExpirySet {
  expiries: (typeof expirySetNames)[number];
  /** Calendar days to the last session of the contracts. */
  withinDays: number | null;
  dates: readonly SessionDate[] | null;
}

/** The contracts of a root and expiry. */
interface Dated {
  root: Pick<OptionRoot, 'followsSpot'>;
  expiry: SessionDate;
}

/** Days from the last session of options on a volatility index to the monthly expiry that it is measured on. */
const volatilityDays = 30;

/**
 * The last session of the monthly contracts that expire in the month of a date: its third Friday; for roots on
 * forwards (VIX) 30 days before the third Friday of the next month. The trading day before if that day does not trade.
 */
function monthlySession({ root, expiry }: Dated): SessionDate {
  const [year, month] = expiry.split('-').map(Number) as [number, number];
  if (root.followsSpot) return tradingDayAtOrBefore(thirdFriday(year, month - 1));
  return tradingDayAtOrBefore(addDays(tradingDayAtOrBefore(thirdFriday(year, month)), -volatilityDays));
}

/**
 * Makes the test of an expiry set for a chain. `zero_dte`: contracts that end in the session of the chain.
 * `within_days`: those whose `dte` is at most that, counted from the New York date of the chain's quotes.
 */
export function expiryTest(
  { expiries, withinDays, dates }: ExpirySet,
  chain: Pick<ChainCapture, 'capturedAt' | 'delayMs' | 'sessionDate'>,
): (dated: Dated) => boolean {
  if (expiries === 'zero_dte') return ({ expiry }) => lastSession(expiry) === chain.sessionDate;
  if (expiries === 'monthly') return (dated) => lastSession(dated.expiry) === monthlySession(dated);
  if (expiries === 'list') return ({ expiry }) => dates!.includes(expiry);
  if (expiries === 'all') return () => true;
  const lastDay = epochDay(exchangeDate(sourceTime(chain))) + withinDays!;
  return ({ expiry }) => epochDay(lastSession(expiry)) <= lastDay;
}
