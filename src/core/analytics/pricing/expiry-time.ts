import { dayMs } from '../../../platform/runtime/clock.ts';
import { lastInstant, lastSession, type OptionRoot } from '../../domain/chain/option-root.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';

/** Time left to `expiryMs` at `nowMs` in years of 365 days; 0 once it has passed. */
export function yearsUntil(expiryMs: number, nowMs: number): number {
  return Math.max(0, expiryMs - nowMs) / (365 * dayMs);
}

/**
 * Years left to contracts of `root` that are dated `expiry`; 0 if they have no exposure: expired, or settled at the
 * open of this date, when their value is almost fixed.
 */
export function yearsToExpiry(expiry: SessionDate, root: Pick<OptionRoot, 'settlement'>, nowMs: number): number {
  if (root.settlement === 'am' && lastSession(expiry) === exchangeDate(nowMs)) return 0;
  return yearsUntil(lastInstant(expiry, root.settlement), nowMs);
}
