import { createContractBook } from '../../../src/core/domain/chain/contract-book.ts';
import {
  type OptionPrint,
  type OptionQuote,
  type StockPrint,
  splitNanos,
  splitSize,
  toPriceUnits,
} from '../../../src/core/domain/market/print.ts';
import type { SessionDate } from '../../../src/core/domain/market-time.ts';
import { optionTapeFile } from '../../../src/intake/sample/market/options/option-tape-file.ts';
import type { SamplePrices } from '../../../src/intake/sample/market/prices.ts';
import {
  stockRecords as sampleStockRecords,
  stockTapeFile,
} from '../../../src/intake/sample/market/stock-tape-file.ts';
import { type TapeShape, tapeShape } from '../../../src/intake/sample/market/tape-shape.ts';
import { splitCsvLine } from '../../../src/intake/tape/text/csv-rows.ts';
import { optionLedger } from './planted-options.ts';
import { stockLedger } from './planted-stocks.ts';

/** The records of a vendor file, by column name; read in the plainest way, so that a test does not lean on a reader. */
export function* recordsOf(text: string): Generator<Record<string, string>> {
  const [header, ...lines] = text.trimEnd().split('\n');
  const names = header!.split(',');
  for (const line of lines) {
    const fields = splitCsvLine(line)!;
    yield Object.fromEntries(names.map((name, i) => [name, fields[i]!]));
  }
}

const byTime = (a: { tsMs: number; tsNanos: number }, b: { tsMs: number; tsNanos: number }) =>
  a.tsMs - b.tsMs || a.tsNanos - b.tsNanos;
const idsOf = (conditions: string) => (conditions === '' ? [] : conditions.split(',').map(Number));

/**
 * The prints and quotes of an option tape's files in order of time, quotes first; a print's number is its line's place
 * among its contract's.
 */
export function optionRecords(trades: string, quotes: string): (OptionPrint | OptionQuote)[] {
  const book = createContractBook();
  const numbers: number[] = [];
  const of = ({ ticker, sip_timestamp }: Record<string, string>) => ({
    contract: book.find(ticker!)!,
    ...splitNanos(sip_timestamp!),
  });
  const prints = [...recordsOf(trades)].map((record): OptionPrint => {
    const { contract, ...stamp } = of(record);
    numbers[contract.index] = (numbers[contract.index] ?? 0) + 1;
    const [price, size] = [toPriceUnits(Number(record.price)), Number(record.size)];
    const [exchange, correction] = [Number(record.exchange), Number(record.correction)];
    const sequence = numbers[contract.index]!;
    return { contract, ...stamp, price, size, exchange, correction, conditions: idsOf(record.conditions!), sequence };
  });
  const quoted = [...recordsOf(quotes)].map((record): OptionQuote => {
    const [bid, ask] = [toPriceUnits(Number(record.bid_price)), toPriceUnits(Number(record.ask_price))];
    return { ...of(record), bid, ask, sequence: Number(record.sequence_number) };
  });
  return [...quoted, ...prints].sort(byTime);
}

/** The prints of a stock tape's file in the order of its lines. */
export function stockRecords(trades: string): StockPrint[] {
  return [...recordsOf(trades)].map((record) => ({
    symbol: record.ticker!,
    exchange: Number(record.exchange),
    trf: Number(record.trf_id || 0),
    id: Number(record.id),
    price: toPriceUnits(Number(record.price)),
    ...splitSize(Number(record.size)),
    conditions: idsOf(record.conditions!),
    correction: Number(record.correction),
    ...splitNanos(record.sip_timestamp!),
    sequence: Number(record.sequence_number),
    tape: Number(record.tape),
  }));
}

/** A session's tapes as vendor files, of what is over at `nowMs`, and what is on them. */
export function sampleTapes(prices: SamplePrices, session: SessionDate, nowMs: number, shape: TapeShape = tapeShape) {
  const options = optionTapeFile(prices, session, nowMs, shape);
  return {
    session,
    optionTrades: options.trades,
    optionQuotes: options.quotes,
    stockTrades: stockTapeFile(prices, session, nowMs, shape),
    ledger: {
      options: optionLedger(options.tape),
      stocks: stockLedger(sampleStockRecords(prices, session, nowMs, shape)),
    },
  };
}

export type SampleTapes = ReturnType<typeof sampleTapes>;
