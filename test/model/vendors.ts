// Vendors' files, written from the model's prints: each format with what it states, and lacks.
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { type Random, randomOf, shuffled } from '../support/random.ts';
import { dbnBar, dbnFile, dbnQuote, dbnSchemas, dbnTrade, undefinedPrice } from '../support/tapes/dbn-encoder.ts';
import { dateOf, day, newYork, newYorkTime, plusDays } from './calendar.ts';
import type { Bar } from './figures.ts';
import { type Contract, contractPath, type Instrument, isIndex, type Print, type Quote, tickerOf } from './world.ts';

/** A file of prints as a vendor writes it. */
export interface VendorFile {
  name: string;
  bytes: Buffer;
  /** The prints as the file states them, in its order. */
  prints: readonly Print[];
}

const dollars = (units: number) => String(units / 1e4);
const nanosOf = ({ ms, nanos }: Pick<Print, 'ms' | 'nanos'>) => `${ms}${String(nanos).padStart(6, '0')}`;

const grouped = <T>(items: readonly T[], keyOf: (item: T) => string) => [...Map.groupBy(items, keyOf).values()];

const columns: Record<string, (print: Print) => string> = {
  ticker: tickerOf,
  conditions: ({ conditions }) => String(conditions),
  correction: ({ correction }) => String(correction),
  exchange: ({ exchange }) => String(exchange),
  id: ({ id }) => id,
  price: ({ price }) => dollars(price),
  sequence_number: ({ sequence }) => String(sequence),
  sip_timestamp: nanosOf,
  size: ({ size }) => String(size),
  tape: ({ tape }) => String(tape),
  trf_id: ({ trf }) => (trf === 0 ? '' : String(trf)),
};

type Cells<T> = Record<string, (row: T) => string | number>;
/** Cells by column, of as many rows each. */
type Table = Record<string, readonly string[]>;

const tableOf = <T>(rows: readonly T[], of: Cells<T>): Table =>
  Object.fromEntries(Object.entries(of).map(([name, cellOf]) => [name, rows.map((row) => String(cellOf(row)))]));

function csvOf(table: Table): string {
  const [cells] = Object.values(table);
  const lines = cells!.map((_, i) => Object.values(table).map((of) => (of[i]!.includes(',') ? `"${of[i]}"` : of[i])));
  return [Object.keys(table).join(), ...lines.map((line) => line.join())].join('\n');
}

/** A table as Parquet of texts, whole numbers and fractions; blank cells are null. */
function parquetOf(table: Table, random: Random): Buffer {
  const columnData = Object.entries(table).map(([name, cells]) => {
    const isText = ['ticker', 'conditions', 'id'].includes(name);
    const type = isText ? 'STRING' : cells.every((cell) => /^\d*$/.test(cell)) ? 'INT64' : 'DOUBLE';
    const read = { STRING: String, INT64: BigInt, DOUBLE: Number }[type];
    return { name, type, data: cells.map((cell) => (cell === '' ? null : read(cell))), nullable: true } as const;
  });
  const codec = random.pick(['SNAPPY', 'ZSTD', 'UNCOMPRESSED'] as const);
  const rowGroupSize = random.pick([7, 100, 10_000]);
  return Buffer.from(parquetWriteBuffer({ columnData, codec, rowGroupSize, compressors: { ZSTD: zstdCompressSync } }));
}

/** A table as a file of a packing: a text, a packed one, or Parquet. */
function packed(table: Table, packing: 'csv' | 'gz' | 'zst' | 'parquet', name: string, random: Random) {
  const text = () => Buffer.from(csvOf(table));
  const bytes = { csv: text, gz: () => gzipSync(text()), zst: () => zstdCompressSync(text()) };
  return {
    name: `${name}.${packing === 'gz' || packing === 'zst' ? 'csv.' : ''}${packing}`,
    bytes: packing === 'parquet' ? parquetOf(table, random) : bytes[packing](),
  };
}

/** The flat file: every column, in an order of the seed. */
function flatTable(prints: readonly Print[], random: Random): Table {
  const names = shuffled(Object.keys(columns), random);
  return tableOf(prints, Object.fromEntries(names.map((name) => [name, columns[name]!])));
}

/** Pages of `/v3/trades` or `/v3/quotes` of one ticker: the address of the next page has it, else the file's name. */
function massiveOf(kind: 'trades' | 'quotes', ticker: string, results: readonly string[], random: Random): string {
  const length = random.pick([1000, 5, 50]);
  const pages = Array.from({ length: Math.ceil(results.length / length) }, (_, i) => {
    const next = `https://api.polygon.io/v3/${kind}/${encodeURIComponent(ticker)}?cursor=${i}`;
    const more = (i + 1) * length < results.length ? `"next_url":"${next}",` : '';
    return `{"status":"OK","request_id":"x",${more}"results":[${results.slice(i * length, (i + 1) * length)}]}`;
  });
  return pages.join('\n');
}

const massiveTrade = (print: Print) =>
  `{"conditions":[${print.conditions}],"correction":${print.correction},"exchange":${print.exchange},` +
  `"id":"${print.id}","price":${dollars(print.price)},"sequence_number":${print.sequence},` +
  `"sip_timestamp":${nanosOf(print)},"size":${print.size},"tape":${print.tape}` +
  `${print.trf === 0 ? '' : `,"trf_id":${print.trf}`}}`;

/** Publishers of the vendor by exchange, or facility. */
const publishers: Record<number, number> = {
  10: 9,
  11: 43,
  12: 2,
  8: 8,
  19: 5,
  21: 15,
  201: 19,
  202: 17,
  203: 18,
  302: 22,
  307: 25,
  316: 32,
};

const utcDate = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const dateNumber = (date: string) => Number(date.replaceAll('-', ''));

/** The spans of DBN in which symbols are those of instruments, whose numbers are their places. */
function dbnMappings(symbols: readonly string[], times: readonly number[]) {
  const dates = times.map(utcDate).sort();
  const span = { from: dateNumber(dates[0]!), to: dateNumber(plusDays(dates.at(-1)!, 1)) };
  return symbols.map((symbol, i) => ({ symbol, spans: [{ ...span, instrument: i + 1 }] }));
}

/** A ticker in words of DBN: of a contract, its root in six letters. */
const dbnSymbol = ({ symbol, contract }: Instrument) =>
  contract ? contract.root.padEnd(6) + contractPath(contract).slice(2 + contract.root.length) : symbol;

/** Prints as records of DBN, alone or with the quotes beside them. */
function dbnOf(prints: readonly Print[], random: Random): Buffer {
  const symbols = [...new Set(prints.map(dbnSymbol))];
  const schema = random.pick(['trades', 'tbbo', 'tcbbo'] as const);
  return dbnFile({
    version: random.pick([1, 2, 3] as const),
    schema: dbnSchemas[schema],
    mappings: dbnMappings(
      symbols,
      prints.map(({ ms }) => ms),
    ),
    records: prints.map((print) => {
      const price = print.price / 1e4;
      const trade = {
        publisher: publishers[print.trf || print.exchange]!,
        instrument: symbols.indexOf(dbnSymbol(print)) + 1,
        at: BigInt(nanosOf(print)),
        price,
        size: print.size,
        sequence: print.sequence,
      };
      if (schema === 'trades') return dbnTrade(trade);
      return dbnQuote({ ...trade, bid: price - 0.01, ask: price + 0.01 }, schema === 'tbbo' ? 'mbp1' : 'tcbbo');
    }),
  });
}

/** Codes of conditions and exchanges of ThetaData. */
const thetaConditions: Record<number, number> = {
  201: 40,
  202: 2,
  204: 13,
  208: 5,
  209: 18,
  219: 95,
  227: 125,
  229: 127,
  232: 130,
  246: 144,
  247: 147,
  248: 148,
};
const thetaExchanges: Record<number, number> = { 302: 5, 307: 31, 316: 1 };

const local = (ms: number) => new Date(newYorkTime(ms)).toISOString().slice(0, -1);

interface OfContract {
  contract: Contract;
  ms: number;
}

/** The columns of a contract and of an instant in the versions of ThetaData. */
const thetaContract: Record<2 | 3, Cells<OfContract>> = {
  2: {
    root: ({ contract }) => contract.root,
    expiration: ({ contract }) => dateNumber(contract.expiry),
    strike: ({ contract }) => contract.strike,
    right: ({ contract }) => contract.right[0]!.toUpperCase(),
  },
  3: {
    symbol: ({ contract }) => contract.root,
    expiration: ({ contract }) => contract.expiry,
    strike: ({ contract }) => (contract.strike / 1000).toFixed(3),
    right: ({ contract }) => contract.right.toUpperCase(),
  },
};
const thetaTimes: Record<2 | 3, Cells<OfContract>> = {
  2: { ms_of_day: ({ ms }) => newYorkTime(ms) % day, date: ({ ms }) => dateNumber(local(ms).slice(0, 10)) },
  3: { timestamp: ({ ms }) => local(ms) },
};

/** Rows of ThetaData: version 3, or 2 as CSV or as JSON. */
function thetaFile<T extends OfContract>(rows: readonly T[], of: Cells<T>, name: string, random: Random) {
  const version = random.pick([2, 3] as const);
  if (version === 3 || random.once(2)) {
    const table = tableOf(rows, { ...thetaContract[version], ...thetaTimes[version], ...of });
    return packed(table, random.pick(['csv', 'gz', 'zst'] as const), name, random);
  }
  const columns: Cells<T> = { ...thetaTimes[2], ...of };
  const valuesOf = (row: T, cells: Cells<T>) => Object.values(cells).map((cellOf) => cellOf(row));
  const response = grouped(rows, ({ contract }) => contractPath(contract)).map((own) => {
    const values = valuesOf(own[0]!, thetaContract[2]);
    return {
      ticks: own.map((row) => valuesOf(row, columns)),
      contract: Object.fromEntries(Object.keys(thetaContract[2]).map((key, i) => [key, values[i]])),
    };
  });
  const header = { format: Object.keys(columns), next_page: null, error_type: null };
  return { name: `${name}.json`, bytes: Buffer.from(JSON.stringify({ header, response })) };
}

const thetaPrints: Cells<Print> = {
  sequence: ({ sequence }) => sequence,
  condition: ({ conditions: [id] }) => thetaConditions[id!]!,
  size: ({ size }) => size,
  exchange: ({ exchange }) => thetaExchanges[exchange]!,
  price: ({ price }) => dollars(price),
};

/** A line of a live tape. */
export function liveLine(print: Print): string {
  const { symbol, exchange, trf, id, price, size, conditions, sequence, tape } = print;
  const more = { conditions, correction: 0, sip_timestamp: nanosOf(print), sequence_number: sequence, tape };
  const off = trf === 0 ? {} : { trf_id: trf };
  return `${JSON.stringify({ type: 'stock_print', symbol, exchange, id, price: price / 1e4, size, ...off, ...more })}\n`;
}

export type TapeFormat = 'csv' | 'packed' | 'massive' | 'dbn' | 'theta';

/** Formats by what a feed states: all, no conditions, or no time below a millisecond. */
export const tapeFormats = {
  all: ['csv', 'packed', 'packed', 'massive'],
  sequences: ['dbn'],
  milliseconds: ['theta'],
} as const satisfies Record<string, readonly TapeFormat[]>;

/** A print as a format states it. */
function stated(format: TapeFormat, print: Print): Print {
  if (format === 'theta') return { ...print, nanos: 0 };
  if (format !== 'dbn') return print;
  // No conditions, no corrections; the id of a stock's print is its sequence.
  return { ...print, conditions: [], correction: 0, id: print.contract ? '' : String(print.sequence), tape: 0 };
}

/** Prints of stocks or of options as one file, or one for each ticker where a format has no other way. */
export function tapeFiles(format: TapeFormat, given: readonly Print[], name: string, seed: number): VendorFile[] {
  const random = randomOf(seed);
  const prints = given.map((print) => stated(format, print));
  if (format === 'dbn') return [{ name: `${name}.dbn`, bytes: dbnOf(prints, random), prints }];
  if (format === 'massive')
    return grouped(prints, tickerOf).map((own) => {
      const ticker = tickerOf(own[0]!);
      const text = massiveOf('trades', ticker, own.map(massiveTrade), random);
      return { name: `${ticker.replace('O:', '')}_${name}.json`, bytes: Buffer.from(text), prints: own };
    });
  if (format === 'theta') {
    const rows = prints.map((print) => ({ ...print, contract: print.contract! }));
    return [{ ...thetaFile(rows, thetaPrints, name, random), prints }];
  }
  const packing = format === 'csv' ? 'csv' : random.pick(['gz', 'zst', 'parquet'] as const);
  return [{ ...packed(flatTable(prints, random), packing, name, random), prints }];
}

const quoteColumns: Cells<Quote> = {
  ticker: tickerOf,
  ask_price: ({ ask }) => (ask === 0 ? '' : dollars(ask)),
  bid_price: ({ bid }) => dollars(bid),
  sequence_number: ({ sequence }) => sequence,
  sip_timestamp: nanosOf,
};
const thetaQuotes: Cells<Quote> = {
  bid: ({ bid }) => dollars(bid),
  bid_condition: () => 50,
  ask: ({ ask }) => dollars(ask),
  ask_condition: () => 50,
};
const massiveQuote = (quote: Quote) =>
  `{"ask_price":${dollars(quote.ask)},"bid_price":${dollars(quote.bid)},"sequence_number":${quote.sequence},` +
  `"sip_timestamp":${nanosOf(quote)}}`;

/** Quotes as records of DBN: by their sequence, or in the order of the file. */
function dbnQuotes(quotes: readonly Quote[], type: 'mbp1' | 'cmbp1'): Buffer {
  const symbols = [...new Set(quotes.map(dbnSymbol))];
  const side = (units: number) => (units === 0 ? undefinedPrice : units / 1e4);
  return dbnFile({
    schema: dbnSchemas[type],
    mappings: dbnMappings(
      symbols,
      quotes.map(({ ms }) => ms),
    ),
    records: quotes.map((quote) => {
      const of = { publisher: 22, instrument: symbols.indexOf(dbnSymbol(quote)) + 1, at: BigInt(nanosOf(quote)) };
      const event = { ...of, price: 1, size: 1, sequence: quote.sequence, action: 'A' };
      return dbnQuote({ ...event, bid: side(quote.bid), ask: side(quote.ask) }, type);
    }),
  });
}

/** A file of quotes, with what it states. */
export interface QuoteFile {
  name: string;
  bytes: Buffer;
  quotes: readonly Quote[];
}

/** Quotes as one file of a format, or one for each contract. */
export function quoteFiles(format: TapeFormat, given: readonly Quote[], name: string, seed: number): QuoteFile[] {
  const random = randomOf(seed);
  // Without sequences, the order is that of the file.
  const inOrder = given.map((quote, i) => ({ ...quote, sequence: i + 1 }));
  if (format === 'theta') {
    const quotes = inOrder.map((quote) => ({ ...quote, nanos: 0 }));
    return [{ ...thetaFile(quotes, thetaQuotes, name, random), quotes }];
  }
  if (format === 'dbn') {
    const type = random.pick(['mbp1', 'cmbp1'] as const);
    const quotes = type === 'cmbp1' ? inOrder : given;
    return [{ name: `${name}.dbn`, bytes: dbnQuotes(quotes, type), quotes }];
  }
  if (format === 'massive')
    return grouped(given, tickerOf).map((quotes) => {
      const ticker = tickerOf(quotes[0]!);
      const text = massiveOf('quotes', ticker, quotes.map(massiveQuote), random);
      return { name: `${ticker.slice(2)}_${name}.json`, bytes: Buffer.from(text), quotes };
    });
  const packing = format === 'csv' ? 'csv' : random.pick(['gz', 'zst', 'parquet'] as const);
  return [{ ...packed(tableOf(given, quoteColumns), packing, name, random), quotes: given }];
}

/** A bar of a file. */
export interface FileBar extends Instrument {
  bar: Bar;
}

/** A file of bars, with what it states. */
export interface BarFile {
  name: string;
  bytes: Buffer;
  bars: readonly FileBar[];
  /** True if prices before a split are divided by it. */
  isDivided: boolean;
}

const stockMinutes = ['csv', 'packed', 'without counts', 'massive', 'tradier', 'dbn', 'dbn of venues'] as const;
export type BarFormat = (typeof stockMinutes)[number] | 'without volume' | 'yfinance' | 'download' | 'theta';
export const barFormats = {
  'stock-minute-bars': stockMinutes,
  'stock-day-bars': ['csv', 'packed', 'without counts', 'massive', 'dbn', 'yfinance', 'download'],
  'option-minute-bars': ['csv', 'packed', 'without counts', 'massive', 'dbn', 'dbn of venues', 'theta', 'theta'],
} as const satisfies Record<string, readonly BarFormat[]>;
export type BarDataset = keyof typeof barFormats;

const unknown = { vwap: null, trade_count: null };

/** The ticker of bars: an index has the prefix of indexes. */
const barTicker = (of: Instrument) => `${isIndex(of) ? 'I:' : ''}${tickerOf(of)}`;

const barColumns: Cells<FileBar> = {
  ticker: barTicker,
  volume: ({ bar }) => bar.volume,
  open: ({ bar }) => bar.open,
  close: ({ bar }) => bar.close,
  high: ({ bar }) => bar.high,
  low: ({ bar }) => bar.low,
  window_start: ({ bar }) => `${bar.ts_ms}000000`,
};
const countColumns: Cells<FileBar> = {
  transactions: ({ bar }) => bar.trade_count ?? '',
  vwap: ({ bar }) => bar.vwap ?? '',
};

function massiveBars(ticker: string, bars: readonly Bar[]): string {
  const results = bars.map(({ open, high, low, close, volume, vwap, trade_count: count, ts_ms: start }) =>
    JSON.stringify({
      o: open,
      h: high,
      l: low,
      c: close,
      v: volume,
      vw: vwap ?? undefined,
      n: count ?? undefined,
      t: start,
    }),
  );
  const head = `"ticker":"${ticker}","adjusted":false,"queryCount":${bars.length},"resultsCount":${bars.length}`;
  return `{${head},"status":"OK","results":[${results.join()}]}`;
}

function tradierBars(bars: readonly Bar[]): string {
  const data = bars.map(({ ts_ms: start, open, high, low, close, volume }) => {
    return {
      time: local(start).slice(0, 19),
      timestamp: start / 1000,
      price: close,
      open,
      high,
      low,
      close,
      volume,
      vwap: close,
    };
  });
  return JSON.stringify({ series: { data } });
}

/** A minute as the seconds that it is made of: with one share or contract at its close, if it has more. */
function secondsOf(bar: Bar): Bar[] {
  const { ts_ms: start, close, volume } = bar;
  if (volume < 2) return [bar];
  const last = { ...bar, ts_ms: start + 41_000, open: close, high: close, low: close, volume: 1 };
  return [{ ...bar, ts_ms: start + 3000, volume: volume - 1 }, last];
}

/** Bars as records of DBN, each from one venue. Files of the vendor ascend in time. */
function dbnBars(given: readonly (FileBar & { publisher: number })[], type: 'ohlcv1s' | 'ohlcv1m' | 'ohlcvEod') {
  const bars = [...given].sort((a, b) => a.bar.ts_ms - b.bar.ts_ms);
  const symbols = [...new Set(bars.map(dbnSymbol))];
  return dbnFile({
    schema: dbnSchemas[type],
    mappings: dbnMappings(
      symbols,
      bars.map(({ bar }) => bar.ts_ms),
    ),
    records: bars.flatMap(({ bar, publisher, ...of }) => {
      const instrument = symbols.indexOf(dbnSymbol(of)) + 1;
      return (type === 'ohlcv1s' ? secondsOf(bar) : [bar]).map((each) =>
        dbnBar({ ...each, publisher, instrument, at: BigInt(each.ts_ms) * 1_000_000n }, type),
      );
    }),
  });
}

/** A bar of several venues as one (methodology 13). */
function ofVenues(bars: readonly Bar[]): Bar {
  const largest = bars.reduce((a, b) => (b.volume > a.volume ? b : a));
  const volume = bars.reduce((sum, bar) => sum + bar.volume, 0);
  return {
    ts_ms: bars[0]!.ts_ms,
    open: largest.open,
    close: largest.close,
    volume,
    ...unknown,
    weight: volume,
    high: Math.max(...bars.map(({ high }) => high)),
    low: Math.min(...bars.map(({ low }) => low)),
  };
}

/** Days as pandas writes them. */
function yfinanceDays(bars: readonly Bar[]): string {
  const lines = bars.map(({ ts_ms: start, open, high, low, close, volume }) => {
    const stamp = `${local(start).slice(0, 10)} 00:00:00-0${(start - newYorkTime(start)) / 3_600_000}:00`;
    return `${stamp},${open},${high},${low},${close},${close},${volume},0.0,0.0`;
  });
  return ['Date,Open,High,Low,Close,Adj Close,Volume,Dividends,Stock Splits', ...lines].join('\n');
}

/** The same of a ticker as `download` has them: three lines of header. */
function yfinanceDownload(ticker: string, bars: readonly Bar[]): string {
  const names = 'Adj Close,Close,Dividends,High,Low,Open,Stock Splits,Volume';
  const tickers = names.replaceAll(/[^,]+/g, ticker);
  const lines = bars.map(({ ts_ms: start, open, high, low, close, volume }) =>
    [dateOf(start), close, close, 0, high, low, open, 0, volume].join(),
  );
  return [`Price,${names}`, `Ticker,${tickers}`, `Date${names.replaceAll(/[^,]/g, '')},`, ...lines].join('\n');
}

/** Minutes of ThetaData, with zeros for some without a trade. */
function thetaBars(given: readonly FileBar[], name: string, random: Random) {
  const zero = { open: 0, high: 0, low: 0, close: 0, volume: 0, trade_count: 0 };
  const starts = new Set(given.map((each) => `${tickerOf(each)} ${each.bar.ts_ms}`));
  const rows = given.flatMap((each) => {
    const row = { contract: each.contract!, ms: each.bar.ts_ms, ...each.bar };
    const next = row.ms + 60_000;
    const isEmpty = !starts.has(`${tickerOf(each)} ${next}`) && random.once(3);
    return isEmpty ? [row, { ...row, ms: next, ...zero }] : [row];
  });
  const of: Cells<(typeof rows)[number]> = {
    open: ({ open }) => open,
    high: ({ high }) => high,
    low: ({ low }) => low,
    close: ({ close }) => close,
    volume: ({ volume }) => volume,
    count: ({ trade_count: count }) => count!,
  };
  return thetaFile(rows, of, name, random);
}

/** Bars as they are read: an index has neither volume nor trades, whatever the file has. */
const asRead = (bars: readonly FileBar[]) =>
  bars.map((of) => (isIndex(of) ? { ...of, bar: { ...of.bar, ...unknown, volume: 0, weight: 0 } } : of));

/** Bars as files of a format; `venues` are the same by venue. */
export const barFiles = (...of: Parameters<typeof writtenBars>): BarFile[] =>
  writtenBars(...of).map((file) => ({ ...file, bars: asRead(file.bars) }));

function writtenBars(
  format: BarFormat,
  given: readonly FileBar[],
  venues: readonly (FileBar & { exchange: number })[],
  name: string,
  seed: number,
): BarFile[] {
  const random = randomOf(seed);
  const whole = given.map((each) => ({ ...each, bar: { ...each.bar, weight: each.bar.volume } }));
  const without = (bars: readonly FileBar[]) => bars.map((each) => ({ ...each, bar: { ...each.bar, ...unknown } }));
  const file = (fileName: string, text: string | Buffer, bars: readonly FileBar[], isDivided = false) => {
    return { name: fileName, bytes: Buffer.from(text), bars, isDivided };
  };
  if (format === 'without volume') {
    const { volume: _, ...others } = barColumns;
    return [file(`${name}.csv`, csvOf(tableOf(given, others)), whole)];
  }
  if (format === 'csv' || format === 'packed' || format === 'without counts') {
    const packing = format === 'packed' ? random.pick(['gz', 'zst', 'parquet'] as const) : 'csv';
    const isCounted = format !== 'without counts';
    const table = tableOf(given, { ...barColumns, ...(isCounted && countColumns) });
    return [{ ...packed(table, packing, name, random), bars: isCounted ? whole : without(whole), isDivided: false }];
  }
  if (format === 'theta') {
    const bars = whole.map((each) => ({ ...each, bar: { ...each.bar, vwap: null } }));
    return [{ ...thetaBars(given, name, random), bars, isDivided: false }];
  }
  if (format === 'dbn' || (format === 'dbn of venues' && venues.length === 0)) {
    const isDays = given.some(({ bar }) => bar.ts_ms === newYork(dateOf(bar.ts_ms)));
    const type = isDays ? 'ohlcvEod' : random.pick(['ohlcv1s', 'ohlcv1m'] as const);
    const bytes = dbnBars(
      given.map((each) => ({ ...each, publisher: each.contract ? 22 : 2 })),
      type,
    );
    return [file(`${name}.dbn`, bytes, without(whole))];
  }
  if (format === 'dbn of venues') {
    const records = venues.map((each) => ({ ...each, publisher: publishers[each.exchange]! }));
    const bars = grouped(venues, (each) => `${tickerOf(each)} ${each.bar.ts_ms}`).map((group) => ({
      ...group[0]!,
      bar: ofVenues(group.map(({ bar }) => bar)),
    }));
    return [file(`${name}.dbn`, dbnBars(records, 'ohlcv1m'), bars)];
  }
  return grouped(whole, tickerOf).map((own) => {
    const [ticker, bars] = [tickerOf(own[0]!), own.map(({ bar }) => bar)];
    if (format === 'massive')
      return file(`${name}-${ticker.replace('O:', '')}.json`, massiveBars(barTicker(own[0]!), bars), own);
    if (format === 'tradier') return file(`${ticker}_${name}.json`, tradierBars(bars), without(own));
    if (format === 'download') return file(`${name}.csv`, yfinanceDownload(ticker, bars), without(own), true);
    return file(`${ticker}_${name}.csv`, yfinanceDays(bars), without(own), true);
  });
}
