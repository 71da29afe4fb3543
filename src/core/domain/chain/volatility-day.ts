import type { SessionDate } from '../market-time.ts';

/** Implied volatility of a symbol at the close of a session. */
export interface VolatilityDay {
  symbol: string;
  date: SessionDate;
  /** At the money, at 30 days; an annualized fraction. */
  iv30: number;
}
