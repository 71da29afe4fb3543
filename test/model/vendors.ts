// Vendors' files, written from the model's prints: each format with what it states, and lacks.
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { randomOf } from '../support/random.ts';
import { dbnBar, dbnFile, dbnSchemas, dbnTrade } from '../support/tapes/dbn-encoder.ts';
import { newYorkTime, plusDays } from './calendar.ts';
import type { Bar } from './figures.ts';
import { contractPath, type Print } from './world.ts';

/** A file of prints as a vendor writes it. */
export interface VendorFile {
  name: string;
  bytes: Buffer;
  /** The prints as the file states them, in its order. */
  prints: readonly Print[];
}

const dollars = (units: number) => String(units / 1e4);
const nanosOf = ({ ms, nanos }: Print) => `${ms}${String(nanos).padStart(6, '0')}`;

const columns: Record<string, (print: Print) => string> = {
  ticker: ({ symbol }) => symbol,
  conditions: ({ conditions }) => (conditions.length > 1 ? `"${conditions}"` : String(conditions)),
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

/** The flat file: every column, in an order of the seed. */
export function csvOf(prints: readonly Print[], seed: number): string {
  const random = randomOf(seed);
  const names = Object.keys(columns);
  for (let i = names.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [names[i], names[j]] = [names[j]!, names[i]!];
  }
  return [names.join(), ...prints.map((print) => names.map((name) => columns[name]!(print)).join())].join('\n');
}

/** Pages of `/v3/trades` of one ticker, whose name is that of the file. */
function massiveOf(prints: readonly Print[]): string {
  const results = prints.map(
    (print) =>
      `{"conditions":[${print.conditions}],"correction":${print.correction},"exchange":${print.exchange},` +
      `"id":"${print.id}","price":${dollars(print.price)},"sequence_number":${print.sequence},` +
      `"sip_timestamp":${nanosOf(print)},"size":${print.size},"tape":${print.tape}` +
      `${print.trf === 0 ? '' : `,"trf_id":${print.trf}`}}`,
  );
  return `{"status":"OK","request_id":"x","results":[${results.join()}]}`;
}

/** Publishers of the vendor by exchange, or facility. */
const publishers: Record<number, number> = { 10: 9, 11: 43, 12: 2, 8: 8, 19: 5, 21: 15, 201: 19, 202: 17, 203: 18 };

function dbnOf(prints: readonly Print[]): Buffer {
  const symbols = [...new Set(prints.map(({ symbol }) => symbol))];
  const dates = prints.map(({ ms }) => new Date(ms).toISOString().slice(0, 10)).sort();
  const number = (date: string) => Number(date.replaceAll('-', ''));
  return dbnFile({
    schema: dbnSchemas.trades,
    mappings: symbols.map((symbol, i) => ({
      symbol,
      spans: [{ from: number(dates[0]!), to: number(plusDays(dates.at(-1)!, 1)), instrument: i + 1 }],
    })),
    records: prints.map((print) =>
      dbnTrade({
        ...{
          publisher: publishers[print.trf || print.exchange]!,
          instrument: symbols.indexOf(print.symbol) + 1,
          at: BigInt(nanosOf(print)),
        },
        ...{ price: print.price / 1e4, size: print.size, sequence: print.sequence },
      }),
    ),
  });
}

/** A line of a live tape. */
export function liveLine(print: Print): string {
  const { symbol, exchange, trf, id, price, size, conditions, sequence, tape } = print;
  const more = { conditions, correction: 0, sip_timestamp: nanosOf(print), sequence_number: sequence, tape };
  const off = trf === 0 ? {} : { trf_id: trf };
  return `${JSON.stringify({ type: 'stock_print', symbol, exchange, id, price: price / 1e4, size, ...off, ...more })}\n`;
}

export type StockFormat = 'csv' | 'csv.gz' | 'csv.zst' | 'massive' | 'dbn';
export const stockFormats: readonly StockFormat[] = ['csv', 'csv.gz', 'csv.zst', 'massive'];

/** A print as a format states it. */
function stated(format: StockFormat, print: Print): Print {
  if (format !== 'dbn') return print;
  // No conditions, no corrections; its id is its sequence.
  return { ...print, conditions: [], correction: 0, id: String(print.sequence), tape: 0 };
}

/** Stock prints as one file, or one for each ticker where a format has no other way. */
export function stockFiles(format: StockFormat, given: readonly Print[], name: string, seed: number): VendorFile[] {
  const prints = given.map((print) => stated(format, print));
  if (format === 'dbn') return [{ name: `${name}.dbn`, bytes: dbnOf(prints), prints }];
  if (format === 'massive') {
    return [...new Set(prints.map(({ symbol }) => symbol))].map((symbol) => {
      const own = prints.filter((print) => print.symbol === symbol);
      return { name: `${symbol}_${name}.json`, bytes: Buffer.from(massiveOf(own)), prints: own };
    });
  }
  const text = Buffer.from(csvOf(prints, seed));
  const bytes = format === 'csv.gz' ? gzipSync(text) : format === 'csv.zst' ? zstdCompressSync(text) : text;
  return [{ name: `${name}.${format}`, bytes, prints }];
}

/** A bar of a file. */
export interface FileBar {
  symbol: string;
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

export type BarFormat = 'csv' | 'csv without counts' | 'massive' | 'tradier' | 'dbn' | 'dbn of venues' | 'yfinance';
export const barFormats = {
  '1m': ['csv', 'csv without counts', 'massive', 'tradier', 'dbn', 'dbn of venues'],
  '1d': ['csv', 'csv without counts', 'massive', 'yfinance'],
} as const satisfies Record<'1m' | '1d', readonly BarFormat[]>;

const unknown = { vwap: null, trade_count: null };

function barCsv(bars: readonly FileBar[], withCounts: boolean): string {
  const header = `ticker,volume,open,close,high,low,window_start${withCounts ? ',transactions,vwap' : ''}`;
  const lines = bars.map(({ symbol, bar }) => {
    const { volume, open, close, high, low, ts_ms: start, trade_count: count, vwap } = bar;
    const more = withCounts ? `,${count ?? ''},${vwap ?? ''}` : '';
    return `${symbol},${volume},${open},${close},${high},${low},${start}000000${more}`;
  });
  return [header, ...lines].join('\n');
}

function massiveBars(symbol: string, bars: readonly Bar[]): string {
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
  const head = `"ticker":"${symbol}","adjusted":false,"queryCount":${bars.length},"resultsCount":${bars.length}`;
  return `{${head},"status":"OK","results":[${results.join()}]}`;
}

const local = (start: number) => new Date(newYorkTime(start)).toISOString().slice(0, 19);

function tradierBars(bars: readonly Bar[]): string {
  const data = bars.map(({ ts_ms: start, open, high, low, close, volume }) => {
    return { time: local(start), timestamp: start / 1000, price: close, open, high, low, close, volume, vwap: close };
  });
  return JSON.stringify({ series: { data } });
}

/** Minutes as records of DBN, each from one venue. */
function dbnBars(bars: readonly (FileBar & { publisher: number })[]): Buffer {
  const symbols = [...new Set(bars.map(({ symbol }) => symbol))];
  const dates = bars.map(({ bar }) => new Date(bar.ts_ms).toISOString().slice(0, 10)).sort();
  const number = (date: string) => Number(date.replaceAll('-', ''));
  const span = { from: number(dates[0]!), to: number(plusDays(dates.at(-1)!, 1)) };
  return dbnFile({
    schema: dbnSchemas.ohlcv1m,
    mappings: symbols.map((symbol, i) => ({ symbol, spans: [{ ...span, instrument: i + 1 }] })),
    records: bars.map(({ symbol, bar: { ts_ms: start, ...bar }, publisher }) =>
      dbnBar({ ...bar, publisher, instrument: symbols.indexOf(symbol) + 1, at: BigInt(start) * 1_000_000n }),
    ),
  });
}

/** A bar of several venues as one (methodology 13). */
function ofVenues(bars: readonly Bar[]): Bar {
  const largest = bars.reduce((a, b) => (b.volume > a.volume ? b : a));
  const volume = bars.reduce((sum, bar) => sum + bar.volume, 0);
  return {
    ...{ ts_ms: bars[0]!.ts_ms, open: largest.open, close: largest.close, volume, ...unknown, weight: volume },
    ...{ high: Math.max(...bars.map(({ high }) => high)), low: Math.min(...bars.map(({ low }) => low)) },
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

const grouped = <T>(items: readonly T[], keyOf: (item: T) => string) => [...Map.groupBy(items, keyOf).values()];

/** Bars as files of a format; `venues` are the same by venue. */
export function barFiles(
  format: BarFormat,
  given: readonly FileBar[],
  venues: readonly (FileBar & { exchange: number })[],
  name: string,
): BarFile[] {
  const without = (bars: readonly FileBar[]) =>
    bars.map(({ symbol, bar }) => ({ symbol, bar: { ...bar, ...unknown, weight: bar.volume } }));
  const file = (fileName: string, text: string | Buffer, bars: readonly FileBar[], isDivided = false) => {
    return { name: fileName, bytes: Buffer.from(text), bars, isDivided };
  };
  const ofFile = (bars: readonly FileBar[]) =>
    bars.map(({ symbol, bar }) => ({ symbol, bar: { ...bar, weight: bar.volume } }));
  if (format === 'csv') return [file(`${name}.csv`, barCsv(given, true), ofFile(given))];
  if (format === 'csv without counts') return [file(`${name}.csv`, barCsv(given, false), without(given))];
  if (format === 'dbn') {
    const bytes = dbnBars(given.map((each) => ({ ...each, publisher: 2 })));
    return [file(`${name}.dbn`, bytes, without(given))];
  }
  if (format === 'dbn of venues') {
    // Files of the vendor ascend in time.
    const inTime = [...venues].sort((a, b) => a.bar.ts_ms - b.bar.ts_ms);
    const bytes = dbnBars(inTime.map((each) => ({ ...each, publisher: publishers[each.exchange]! })));
    const bars = grouped(venues, ({ symbol, bar }) => `${symbol} ${bar.ts_ms}`).map((group) => ({
      symbol: group[0]!.symbol,
      bar: ofVenues(group.map(({ bar }) => bar)),
    }));
    return [file(`${name}.dbn`, bytes, bars)];
  }
  return grouped(given, ({ symbol }) => symbol).map((own) => {
    const [symbol, bars] = [own[0]!.symbol, own.map(({ bar }) => bar)];
    if (format === 'massive') return file(`${name}-${symbol}.json`, massiveBars(symbol, bars), ofFile(own));
    if (format === 'tradier') return file(`${symbol}_${name}.json`, tradierBars(bars), without(own));
    return file(`${symbol}_${name}.csv`, yfinanceDays(bars), without(own), true);
  });
}

export type OptionFormat = 'csv' | 'csv.gz' | 'massive';
export const optionFormats: readonly OptionFormat[] = ['csv', 'csv.gz', 'massive'];

/** Option prints as files: one, or one for each contract where a format has no other way. */
export function optionFiles(format: OptionFormat, prints: readonly Print[], name: string): VendorFile[] {
  const pathOf = ({ contract }: Print) => contractPath(contract!);
  if (format === 'massive') {
    return [...Map.groupBy(prints, pathOf)].map(([path, own]) => {
      return { name: `${path.slice(2)}_${name}.json`, bytes: Buffer.from(massiveOf(own)), prints: own };
    });
  }
  const header = 'ticker,conditions,correction,exchange,price,sip_timestamp,size';
  const lines = prints.map(
    (print) =>
      `${pathOf(print)},${print.conditions},0,${print.exchange},${dollars(print.price)},${nanosOf(print)},${print.size}`,
  );
  const text = Buffer.from([header, ...lines].join('\n'));
  return [{ name: `${name}.${format}`, bytes: format === 'csv.gz' ? gzipSync(text) : text, prints }];
}
