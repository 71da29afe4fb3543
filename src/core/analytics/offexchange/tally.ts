import { finraExchange } from '../../domain/market/exchanges.ts';
import { compositionCategories, isPriceForming, stockTraits } from '../../domain/market/stock-trade-conditions.ts';
import { addPrint, emptyTotal, type PrintTotal } from '../prints/exact-sum.ts';
import type { StockLedger } from '../prints/stock-ledger.ts';

/** A session's off-exchange executions of a symbol before disclosure: never served, never logged. */
export interface OffExchangeTally {
  /** By index in `compositionCategories`. */
  categories: PrintTotal[];
  /** Everything that counts in volume, on and off exchange. */
  consolidated: PrintTotal;
  /** Price-forming prints, by `levelKey`. */
  levels: Map<number, PrintTotal>;
}

/** A price in thousandths of a dollar, rounded down, and an index in `compositionCategories`. */
const levelKey = (thousandths: number, category: number) => thousandths * compositionCategories.length + category;

/** Splits a key of `levels` into its parts. */
export function levelOf(key: number): { priceThousandths: number; category: number } {
  const priceThousandths = Math.floor(key / compositionCategories.length);
  return { priceThousandths, category: key - levelKey(priceThousandths, 0) };
}

/** A tally without executions. */
export function emptyTally(): OffExchangeTally {
  return { categories: compositionCategories.map(emptyTotal), consolidated: emptyTotal(), levels: new Map() };
}

const priceForming = compositionCategories.map(isPriceForming);

/**
 * Adds a print to a tally (1) or removes it (−1). Official prices, and other prints without volume, are not executions.
 */
export function tallyPrint(tally: OffExchangeTally, { columns, mask }: StockLedger, entry: number, sign: 1 | -1): void {
  const slot = entry & mask;
  if ((columns.traits[slot]! & stockTraits.volume) === 0) return;
  const [price, size, micros] = [columns.price[slot]!, columns.size[slot]!, columns.sizeMicros[slot]!];
  addPrint(tally.consolidated, price, size, micros, sign);
  if (columns.exchange[slot] !== finraExchange) return;
  const category = columns.category[slot]!;
  addPrint(tally.categories[category]!, price, size, micros, sign);
  if (!priceForming[category]) return;
  const key = levelKey(Math.floor(price / 10), category);
  let level = tally.levels.get(key);
  if (!level) {
    level = emptyTotal();
    tally.levels.set(key, level);
  }
  addPrint(level, price, size, micros, sign);
  if (level.count === 0) tally.levels.delete(key);
}
