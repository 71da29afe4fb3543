import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { StockTape, type StockTapeOptions } from '../../../src/core/analytics/session/stock-tape.ts';
import { type Bar, barAt, type Timeframe } from '../../../src/core/domain/market/bar.ts';
import { type StockPrint, splitNanos, splitSize, toPriceUnits } from '../../../src/core/domain/market/print.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { splitCsvLine } from '../../../src/intake/tape/text/csv-rows.ts';
import { sharedData } from '../shared-data.ts';

export const stockSession = '2024-03-15';
/** 10:00 New York of the session. */
export const stockStart = exchangeInstant(stockSession, 10 * 60);

let id = 0;

/** A print of XYZ on exchange 11 at `ms` after 10:00; what is not given is ordinary. Dollars, shares. */
export function stockPrint(
  ms: number,
  dollars: number,
  shares: number,
  conditions: number[] = [],
  given: Partial<StockPrint> = {},
): StockPrint {
  id++;
  return {
    symbol: 'XYZ',
    exchange: 11,
    trf: 0,
    id,
    price: toPriceUnits(dollars),
    ...splitSize(shares),
    conditions,
    correction: 0,
    tsMs: stockStart + ms,
    tsNanos: 0,
    sequence: id,
    tape: 1,
    ...given,
  };
}

/** A print reported to a FINRA facility. */
export function offExchangePrint(ms: number, dollars: number, shares: number, conditions: number[] = []): StockPrint {
  return stockPrint(ms, dollars, shares, conditions, { exchange: 4, trf: 202 });
}

/** A tape that has taken the prints in the order given. */
export function runStockTape(prints: Iterable<StockPrint>, options: Partial<StockTapeOptions> = {}): StockTape {
  const tape = new StockTape({ session: stockSession, ...options });
  for (const print of prints) tape.print(print);
  return tape;
}

/** The bars of XYZ. */
export function stockBars(tape: StockTape, timeframe: Timeframe, symbol = 'XYZ'): Bar[] {
  const columns = tape.bars(symbol, timeframe);
  return Array.from(columns.tsMs, (_, i) => barAt(columns, i));
}

/** The prints of a real trade file, by column name. */
export function* sharedStockPrints(path: string): Generator<StockPrint> {
  const [header, ...lines] = gunzipSync(readFileSync(sharedData(path)))
    .toString()
    .trim()
    .split('\n');
  const at = Object.fromEntries(header!.split(',').map((name, i) => [name, i]));
  for (const line of lines) {
    const fields = splitCsvLine(line)!;
    const text = (name: string) => fields[at[name]!]!;
    const conditions = text('conditions');
    yield {
      symbol: text('ticker'),
      exchange: Number(text('exchange')),
      trf: Number(text('trf_id') || 0),
      id: Number(text('id')),
      price: toPriceUnits(Number(text('price'))),
      ...splitSize(Number(text('size'))),
      conditions: conditions === '' ? [] : conditions.split(',').map(Number),
      correction: Number(text('correction')),
      ...splitNanos(text('sip_timestamp')),
      sequence: Number(text('sequence_number')),
      tape: Number(text('tape')),
    };
  }
}
