import { priceUnits } from '../../../core/domain/market/print.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { nanosText } from './options/option-tape-file.ts';
import type { SamplePrices } from './prices.ts';
import { listingOf } from './stock-conditions.ts';
import type { StockRecord } from './stock-corrections.ts';
import { stockSession } from './stock-tape.ts';
import type { TapeShape } from './tape-shape.ts';
import { type SampleSymbol, sampleSymbols } from './universe.ts';

const header =
  'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,sip_timestamp,size,tape,trf_id,trf_timestamp\n';
// Minutes of a full session.
const fullSession = 390;

function lines(symbol: string, tape: number, records: readonly StockRecord[]): string {
  let text = '';
  for (const { print } of records) {
    const { conditions, correction, exchange, id, price, sequence, tsMs, tsNanos, size, trf } = print;
    const list = conditions.length > 1 ? `"${conditions.join(',')}"` : (conditions[0] ?? '');
    // A facility receives a trade with a delay, and reports it to the tape immediately.
    const executed = nanosText(tsMs - (trf === 0 ? 1 : 5 + (id % 900)), tsNanos);
    const facility = trf === 0 ? ',' : `${trf},${nanosText(tsMs - 1, tsNanos)}`;
    const printed = nanosText(tsMs, tsNanos);
    text += `${symbol},${list},${correction},${exchange},${id},${executed},`;
    text += `${price / priceUnits},${sequence},${printed},${size},${tape},${facility}\n`;
  }
  return text;
}

/** Tickers with a stock tape, and the approximate number of prints per minute of each. */
export function tickersOfTape({ stockPrints, symbols, busiest }: TapeShape): { entry: SampleSymbol; prints: number }[] {
  const traded = sampleSymbols.filter(({ kind }) => kind !== 'index');
  const weightOf = ({ dailyVolume, price }: SampleSymbol) => (dailyVolume * price) ** 0.2;
  const wanted = traded.filter(({ symbol }) => symbols?.includes(symbol) ?? true);
  const total = wanted.reduce((sum, entry) => sum + weightOf(entry), 0);
  const extra = (symbol: string) => (symbol === busiest?.symbol ? busiest.prints : 0);
  return wanted.map((entry) => ({
    entry,
    prints: ((stockPrints * weightOf(entry)) / total + extra(entry.symbol)) / fullSession,
  }));
}

/** Records of a ticker's tape. */
export interface TickerRecords {
  entry: SampleSymbol;
  records: StockRecord[];
}

/** Records of the stock tapes of a session up to the last complete minute, ticker by ticker. */
export function* stockRecords(
  prices: SamplePrices,
  session: SessionDate,
  nowMs: number,
  shape: TapeShape,
): Generator<TickerRecords> {
  const untilMs = Math.floor(nowMs / minuteMs) * minuteMs;
  for (const { entry, prints } of tickersOfTape(shape)) {
    yield { entry, records: stockSession(prices, entry, session, prints).filter(({ print }) => print.tsMs < untilMs) };
  }
}

/**
 * The stock trades of a session up to the last complete minute as a vendor file, by ticker, then time. They are
 * determined by the session's date and the shape: an earlier instant gives a prefix of the same tape.
 */
export function stockTapeFile(prices: SamplePrices, session: SessionDate, nowMs: number, shape: TapeShape): string {
  let trades = header;
  for (const { entry, records } of stockRecords(prices, session, nowMs, shape)) {
    trades += lines(entry.symbol, listingOf(entry).tape, records);
  }
  return trades;
}
