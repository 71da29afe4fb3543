import { namesOf, type RowOf, rowBy } from '../columns.ts';
import { quoteColumns } from './quote-columns.ts';

/** A quote row (spec 2.4). */
export interface Quote extends RowOf<typeof quoteColumns> {
  symbol: string;
}

const unknown: RowOf<typeof quoteColumns> = rowBy(quoteColumns, () => null);

/** A quote that says nothing. */
export const emptyQuote = (symbol: string): Quote => ({ symbol, ...unknown });

const names = namesOf(quoteColumns);

/** True if two quotes of a symbol say the same. */
export const isSameQuote = (a: Quote, b: Quote): boolean => names.every((name) => a[name] === b[name]);
