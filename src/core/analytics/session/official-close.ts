import { type BarColumns, unknownBars } from '../../domain/market/bar.ts';
import { barColumnNames } from '../../domain/market/bar-columns.ts';
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

/** The official closes of a session as they followed each other: each with its instant, epoch ms, and dollars. */
export function closingsOf(
  candidates: Iterable<CloseCandidate>,
  listingExchange: number | null,
): { tsMs: number; close: number }[] {
  const known: CloseCandidate[] = [];
  const closings: { tsMs: number; close: number }[] = [];
  for (const candidate of [...candidates].sort((a, b) => (isBefore(a, b) ? -1 : 1))) {
    known.push(candidate);
    const close = officialCloseOf(known, listingExchange);
    if (close !== null && close !== closings.at(-1)?.close) closings.push({ tsMs: candidate.at[0]!, close });
  }
  return closings;
}

const secondOf = (tsMs: number) => tsMs - (tsMs % 1000);

/** Unpriced seconds from `fromMs` on with the official closes of theirs, of which the last of a second counts. */
export function withClosings(
  unpriced: BarColumns,
  closings: readonly { tsMs: number; close: number }[],
  fromMs: number,
): BarColumns {
  const bySecond = new Map(closings.map(({ tsMs, close }) => [secondOf(tsMs), close]));
  const starts = new Set([...unpriced.tsMs, ...[...bySecond.keys()].filter((tsMs) => tsMs >= fromMs)]);
  const all = { ...unknownBars(starts.size), pricedVolume: new Float64Array(starts.size) };
  const rows = new Map(Array.from(unpriced.tsMs, (tsMs, i) => [tsMs, i]));
  for (const [i, tsMs] of [...starts].sort((a, b) => a - b).entries()) {
    const row = rows.get(tsMs);
    for (const name of barColumnNames) all[name][i] = row === undefined ? Number.NaN : unpriced[name][row]!;
    if (row === undefined) all.volume[i] = all.tradeCount[i] = 0;
    else all.pricedVolume[i] = unpriced.pricedVolume![row]!;
    all.tsMs[i] = tsMs;
    all.close[i] = bySecond.get(tsMs) ?? Number.NaN;
  }
  return all;
}
