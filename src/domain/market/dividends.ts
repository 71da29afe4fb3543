import type { SessionDate } from '../market-time.ts';

/** Regular ones come again and again; a special one can have the ex-date of a regular one. */
export const dividendKinds = ['regular', 'special'] as const;
export type DividendKind = (typeof dividendKinds)[number];

/** A dividend of a share: an amount, or a share of its price. */
export interface Dividend {
  symbol: string;
  /** The first session without it. */
  exDate: SessionDate;
  kind: DividendKind;
  /** Dollars a share; null when it is stated as a ratio. */
  amount: number | null;
  /** Fraction of the price; null when it is stated as an amount. */
  ratio: number | null;
  /** When it was declared; null = unknown. */
  declared: SessionDate | null;
}
