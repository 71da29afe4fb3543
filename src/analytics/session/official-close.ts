import type { BarColumns } from '../../domain/market/bar.ts';
import { priceUnits } from '../../domain/market/print.ts';
import { closingTradeCondition, officialCloseCondition } from '../../domain/market/stock-trade-conditions.ts';
import type { StockLedger } from '../prints/stock-ledger.ts';

/** True if a print's conditions make it a candidate for the official close. */
export function mayBeClose(conditions: readonly number[]): boolean {
  return conditions.includes(officialCloseCondition) || conditions.includes(closingTradeCondition);
}

/** A valid print that may be the official close. It outlives the print's entry in the ledger. */
export interface CloseCandidate {
  exchange: number;
  conditions: readonly number[];
  /** 1e-4 dollars. */
  price: number;
  /** Position in event time: epoch ms, nanoseconds, sequence, id. */
  at: readonly number[];
}

/** A print of a ledger as a candidate. */
export function closeCandidate(ledger: StockLedger, entry: number): CloseCandidate {
  const { exchange, price, tsMs, tsNanos, sequence, id } = ledger.columns;
  const slot = entry & ledger.mask;
  const at = [tsMs[slot]!, tsNanos[slot]!, sequence[slot]!, id[slot]!];
  return { exchange: exchange[slot]!, conditions: ledger.conditions(entry), price: price[slot]!, at };
}

function isBefore(a: CloseCandidate, b: CloseCandidate): boolean {
  const differing = a.at.findIndex((value, i) => value !== b.at[i]);
  return differing >= 0 && a.at[differing]! < b.at[differing]!;
}

/**
 * The listing exchange's close in dollars (methodology 5): its closing price print (condition 15), else its closing
 * auction's (19), the last of several. Null if there is none; the last price that sets a close stands for it then.
 */
export function officialCloseOf(candidates: Iterable<CloseCandidate>, listingExchange: number | null): number | null {
  const listed = [...candidates].filter(({ exchange }) => exchange === listingExchange);
  for (const condition of [officialCloseCondition, closingTradeCondition]) {
    const of = listed.filter(({ conditions }) => conditions.includes(condition));
    if (of.length > 0) return of.reduce((latest, each) => (isBefore(latest, each) ? each : latest)).price / priceUnits;
  }
  return null;
}

/** A day's bar that closes at the official close, which an auction may set beyond the high or low so far. */
export function withOfficialClose(day: BarColumns, close: number | null): BarColumns {
  if (close === null || day.tsMs.length === 0) return day;
  day.close[0] = close;
  day.high[0] = Math.max(day.high[0]!, close);
  day.low[0] = Math.min(day.low[0]!, close);
  return day;
}
