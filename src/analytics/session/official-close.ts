import { priceUnits } from '../../domain/market/print.ts';
import { closingTradeCondition, officialCloseCondition } from '../../domain/market/stock-trade-conditions.ts';
import type { StockLedger } from '../prints/stock-ledger.ts';

/** True if a print's conditions make it a candidate for the official close. */
export function mayBeClose(conditions: readonly number[]): boolean {
  return conditions.includes(officialCloseCondition) || conditions.includes(closingTradeCondition);
}

/**
 * The official close in dollars (methodology 5): the listing exchange's closing price print (condition 15), else its
 * closing auction's (19), the last of several; else the last price that sets a close. Null if there is none.
 * `candidates`: the symbol's valid prints with those conditions.
 */
export function officialCloseOf(
  ledger: StockLedger,
  candidates: readonly number[],
  listingExchange: number | null,
  lastClose: number | null,
): number | null {
  const { columns, mask } = ledger;
  for (const condition of [officialCloseCondition, closingTradeCondition]) {
    let latest = -1;
    for (const entry of candidates) {
      if (columns.exchange[entry & mask] !== listingExchange || !ledger.conditions(entry).includes(condition)) continue;
      if (latest < 0 || ledger.before(latest, entry)) latest = entry;
    }
    if (latest >= 0) return columns.price[latest & mask]! / priceUnits;
  }
  return lastClose;
}
