import { type Bar, toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';

/** A bar of one price. */
export function flatBar(tsMs: number, price: number, volume = 1000): Bar {
  return { tsMs, open: price, high: price, low: price, close: price, volume, vwap: null, tradeCount: null };
}

/** Stores daily bars of one symbol, ascending by session: `{ '2026-11-19': close }` or `[close, volume]`. */
export async function storeDays(
  store: Store,
  symbol: string,
  days: Record<string, number | readonly [number, number]>,
): Promise<void> {
  const bars = Object.entries(days).map(([date, day]) => {
    const [close, volume] = typeof day === 'number' ? [day, 1000] : day;
    return flatBar(exchangeInstant(date), close, volume);
  });
  await inTransaction(store, (tx) => writeBars(tx, '1d', [{ symbol, bars: toBarColumns(bars) }]));
}

/** Stores minute bars of one symbol and session from 09:30 on, one a price. */
export async function storeMinutes(
  store: Store,
  symbol: string,
  date: string,
  prices: readonly number[],
): Promise<void> {
  const bars = prices.map((price, i) => flatBar(exchangeInstant(date, 570 + i), price, 100));
  await inTransaction(store, (tx) => writeBars(tx, '1m', [{ symbol, bars: toBarColumns(bars) }]));
}
