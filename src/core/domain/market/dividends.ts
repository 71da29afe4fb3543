import type { SessionDate } from '../market-time.ts';

/** Regular ones are periodic; a special one can share the ex-date of a regular one. */
export const dividendKinds = ['regular', 'special'] as const;
export type DividendKind = (typeof dividendKinds)[number];

/** A dividend of a share: an amount, or a ratio of its price. */
export interface Dividend {
  symbol: string;
  /** The first session without it. */
  exDate: SessionDate;
  kind: DividendKind;
  /** Dollars per share; null if it is a ratio. */
  amount: number | null;
  /** Fraction of the price; null if it is an amount. */
  ratio: number | null;
  /** Declaration date; null = unknown. */
  declared: SessionDate | null;
}
