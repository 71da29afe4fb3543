// A file of any format that holds nothing, or nothing good, is refused by name and cause, and the others of the call
// are stored; what a vendor says only sometimes may be absent or null. The formats are those of the datasets.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatsOf } from '../../../scripts/generate/format-tables.ts';
import { type Dataset, datasetNames } from '../../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { dbnBar, dbnFile, dbnQuote, dbnSchemas, dbnTrade, undefinedPrice } from '../../support/tapes/dbn-encoder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const now = () => exchangeInstant('2024-06-14', 1020);
const atMs = exchangeInstant('2024-03-15', 600);
/** Digits in JSON that a number would lose. */
const digits = (value: string | number) => `#${value}#`;
const nanos = `${atMs}000000`;

type Keys = Record<string, unknown>;
type Content = string | Uint8Array;

/** A file with one row of a format. Blank or null stands for a value that the vendor does not have. */
interface Sample {
  name: string;
  row: Keys;
  /** Values that the vendor's rows lack sometimes. */
  optional: readonly string[];
  /** A change that makes the row bad. */
  bad: Keys;
  content(rows: readonly Keys[], columns: readonly string[]): Content;
}

function csv(name: string, row: Keys, optional: readonly string[], bad: Keys): Sample {
  const content = (rows: readonly Keys[], columns: readonly string[]) =>
    [columns, ...rows.map((each) => columns.map((column) => each[column] ?? ''))].map((line) => line.join()).join('\n');
  return { name, row, optional, bad, content };
}

/** A row as an object: `a.b` is a key of a key. */
function nested(row: Keys): Keys {
  const object: Keys = {};
  for (const [path, value] of Object.entries(row)) {
    const keys = path.split('.');
    let at = object;
    for (const key of keys.slice(0, -1)) {
      at[key] ??= {};
      at = at[key] as Keys;
    }
    if (!(keys.at(-1)! in at)) at[keys.at(-1)!] = value;
  }
  return object;
}

function json(
  name: string,
  row: Keys,
  optional: readonly string[],
  bad: Keys,
  page: (rows: readonly Keys[]) => unknown,
): Sample {
  const content = (rows: readonly Keys[]) =>
    JSON.stringify(page(rows.map(nested))).replace(/"#(\d+)#"/g, (_, number: string) => number);
  return { name, row, optional, bad, content };
}

function dbn(schema: number, symbol: string, record: (isBad: boolean) => Buffer): Sample {
  const mappings = [{ symbol, spans: [{ from: 20240315, to: 20240316, instrument: 7 }] }];
  const content = (rows: readonly Keys[]) =>
    dbnFile({ schema, mappings, records: rows.map(({ isBad }) => record(isBad === true)) });
  return { name: 'a.dbn', row: { isBad: false }, optional: [], bad: { isBad: true }, content };
}

const [osi, contract] = ['SPY240419C00520000', 'O:SPY240419C00520000'];
const at = BigInt(nanos);
const results = (more: Keys) => (rows: readonly Keys[]) => ({ ...more, status: 'OK', results: rows });
const prices = { open: 9, close: 9, high: 9, low: 9 };
const bar = (ticker: string) => ({ ticker, volume: 10, ...prices, window_start: nanos, transactions: 3 });
const theta = {
  symbol: 'SPY',
  expiration: '2024-04-19',
  strike: '520.000',
  right: 'CALL',
  timestamp: '2024-03-15T10:00:00.123',
};
const theta2 = {
  root: 'SPY',
  expiration: 20240419,
  strike: 520_000,
  right: 'C',
  ms_of_day: 36_000_123,
  date: 20240315,
};
const minuteOf = { timestamp: '2024-03-15T10:00:00' };
const minuteOf2 = { ms_of_day: 36_000_000 };
const ohlc = { open: 8, high: 9, low: 7, close: 8, volume: 5, count: 2 };
const quote = { bid: 8, bid_condition: 50, ask: 8.2, ask_condition: 50 };
const print = { sequence: 7, condition: 18, size: 3, exchange: 5, price: 8.1 };
const isOption = (dataset: Dataset) => dataset.startsWith('option');
const massive = (dataset: Dataset, row: Keys, optional: readonly string[], bad: Keys) =>
  json(isOption(dataset) ? `${osi}.json` : 'BAC.json', row, optional, bad, results({}));

const pageHead =
  'Expiration Date,Calls,Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest,Strike,Puts,Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest';
function page(rows: readonly Keys[]): string {
  const lines = rows.map(({ strike, last, bid, ask, volume, iv, delta, gamma, interest }) => {
    const side = [last ?? '', '0', bid, ask, volume ?? '', iv ?? '', delta ?? '', gamma ?? '', interest ?? ''].join();
    return `Fri Apr 19 2024,SPY240419C00520000,${side},${strike},SPY240419P00520000,${side}`;
  });
  const title = ['SPDR S&P 500,Last: 511.7,Change: 1', '"Date: March 15, 2024 at 10:15 AM EDT"'];
  return [...title, pageHead, ...lines].join('\n');
}

/** A file of every format, by its name. */
const samples: Record<string, (dataset: Dataset) => Sample> = {
  'symbol-list': () =>
    csv('a.csv', { symbol: 'ABCD', name: 'Company', class: 'equity', sector: 'X' }, ['class', 'sector'], {
      symbol: '?',
    }),
  'root-list': () =>
    csv(
      'a.csv',
      { root: 'ABCDW', underlying: 'ABCD', style: 'european', settlement: 'pm', multiplier: 50, from: '2024-01-02' },
      ['multiplier', 'from'],
      { style: 'x' },
    ),
  'split-list': () =>
    csv('a.csv', { symbol: 'KO', ex_date: '2024-03-15', ratio: '2:1', declared: '2024-03-01' }, ['declared'], {
      ratio: 1,
    }),
  'dividend-list': () =>
    csv(
      'a.csv',
      { symbol: 'KO', ex_date: '2024-03-15', amount: 1, declared: '2024-03-01', kind: 'regular' },
      ['declared', 'kind'],
      {
        amount: -1,
      },
    ),
  'rate-list': () => csv('a.csv', { date: '2024-03-15', days: 30, rate: 0.05 }, [], { rate: 7 }),
  'volatility-day-list': () => csv('a.csv', { symbol: 'KO', date: '2024-03-15', iv30: 0.2 }, [], { iv30: 0 }),
  'orats-summaries': () =>
    csv(
      'a.csv',
      { ticker: 'KO', tradeDate: '2024-03-15', stockPrice: 60, iv30d: 0.2, rVol30: 0.1, quoteDate: '' },
      ['quoteDate'],
      {
        iv30d: 'x',
      },
    ),
  'orats-cores': () =>
    json(
      'a.json',
      { ticker: 'KO', tradeDate: '2024-03-15', pxCls: digits(60), iv30d: digits(18), quoteDate: '' },
      ['quoteDate'],
      {
        iv30d: 'x',
      },
      (data) => ({ data }),
    ),
  'stock-aggregates': () => csv('a.csv', { ...bar('KO'), vwap: 9 }, ['transactions', 'vwap'], { open: -1 }),
  'index-aggregates': () => csv('a.csv', { ticker: 'I:SPX', ...prices, window_start: nanos }, [], { open: -1 }),
  'option-aggregates': () => csv('a.csv', { ...bar(contract), vwap: 9 }, ['transactions', 'vwap'], { open: -1 }),
  'massive-aggregates': (dataset) =>
    json(
      'a.json',
      { o: 9, h: 9, l: 9, c: 9, v: 10, t: digits(atMs), vw: 9, n: 3 },
      ['vw', 'n'],
      { o: -1 },
      results({ ticker: isOption(dataset) ? contract : 'KO', adjusted: false }),
    ),
  'tradier-timesales': () =>
    json(
      'KO.json',
      { time: '2024-03-15T10:00:00', timestamp: digits(atMs / 1000), price: 9, ...prices, volume: 1, vwap: 9 },
      ['price', 'vwap'],
      { open: -1 },
      (data) => ({ series: { data } }),
    ),
  'databento-minutes': (dataset) =>
    dbn(dbnSchemas.ohlcv1m, isOption(dataset) ? osi : 'KO', (isBad) =>
      dbnBar({ at, ...prices, open: isBad ? -1 : 9, volume: 5 }),
    ),
  'databento-days': () =>
    dbn(dbnSchemas.ohlcvEod, 'KO', (isBad) => dbnBar({ at, ...prices, open: isBad ? -1 : 9, volume: 5 }, 'ohlcvEod')),
  'yfinance-history': () =>
    csv(
      'KO.csv',
      {
        Date: '2024-03-15 00:00:00-04:00',
        Open: 9,
        High: 9,
        Low: 9,
        Close: 9,
        'Adj Close': 9,
        Volume: 5,
        Dividends: 0,
        'Stock Splits': 0,
      },
      ['Dividends'],
      { Open: -1 },
    ),
  'yfinance-download': () => ({
    name: 'a.csv',
    row: { Open: 9 },
    optional: [],
    bad: { Open: -1 },
    content: (rows) =>
      [
        'Price,Adj Close,Close,Dividends,High,Low,Open,Stock Splits,Volume',
        'Ticker,KO,KO,KO,KO,KO,KO,KO,KO',
        'Date,,,,,,,,',
        ...rows.map(({ Open }, i) => `2024-03-${15 - i},9,9,0,9,9,${Open},0,5`),
      ].join('\n'),
  }),
  'theta-bars': () => csv('a.csv', { ...theta, ...minuteOf, ...ohlc }, [], { open: -1 }),
  'theta-v2-bars': () => csv('a.csv', { ...theta2, ...minuteOf2, ...ohlc }, [], { open: -1 }),
  'open-interest-list': () =>
    csv('oi_20240315.csv', { ticker: contract, open_interest: 7, session_date: '2024-03-15' }, ['session_date'], {
      open_interest: -1,
    }),
  'theta-open-interest': () => csv('a.csv', { ...theta, open_interest: 7 }, [], { open_interest: -1 }),
  'theta-v2-open-interest': () => csv('a.csv', { ...theta2, open_interest: 7 }, [], { open_interest: -1 }),
  'exchange-page': () => ({
    name: 'a.csv',
    row: { strike: '520.00', last: 4, bid: 3.9, ask: 4.1, volume: 3, iv: 0.2, delta: 0.3, gamma: 0.01, interest: 10 },
    optional: ['last', 'volume', 'iv', 'delta', 'gamma', 'interest'],
    bad: { strike: 'x' },
    content: page,
  }),
  'exchange-json': () =>
    json(
      'a.json',
      {
        option: osi,
        bid: 3.9,
        ask: 4.1,
        last_trade_price: 4,
        volume: 3,
        iv: 0.2,
        delta: 0.3,
        gamma: 0.01,
        theta: -0.1,
        vega: 0.2,
        theo: 4,
        open_interest: 5,
        last_trade_time: '2024-03-15T09:59:00',
      },
      [
        'last_trade_price',
        'volume',
        'iv',
        'delta',
        'gamma',
        'theta',
        'vega',
        'theo',
        'open_interest',
        'last_trade_time',
      ],
      { option: 'x' },
      (options) => ({ timestamp: '2024-03-15 14:15:00', data: { options, current_price: 511.7 } }),
    ),
  'massive-chain': () =>
    json(
      'a.json',
      {
        'details.ticker': contract,
        'details.shares_per_contract': 100,
        'greeks.delta': 0.3,
        'greeks.gamma': 0.01,
        greeks: null,
        implied_volatility: 0.1,
        'last_quote.ask': 3.92,
        'last_quote.bid': 3.9,
        'last_quote.last_updated': digits(nanos),
        last_quote: null,
        open_interest: 5,
        'day.volume': 4,
        'day.last_updated': digits(nanos),
        day: null,
        'last_trade.price': 3.9,
        'last_trade.sip_timestamp': digits(nanos),
        last_trade: null,
        fmv: 3.9,
        'underlying_asset.last_updated': digits(nanos),
        'underlying_asset.price': 511.7,
      },
      [
        'details.shares_per_contract',
        'greeks.delta',
        'greeks.gamma',
        'greeks',
        'implied_volatility',
        'last_quote.ask',
        'last_quote.bid',
        'last_quote.last_updated',
        'last_quote',
        'day.volume',
        'day.last_updated',
        'day',
        'last_trade.price',
        'last_trade.sip_timestamp',
        'last_trade',
        'fmv',
        'underlying_asset.price',
      ],
      { 'details.ticker': 'x' },
      results({}),
    ),
  'tradier-chain': () =>
    json(
      'a.json',
      {
        symbol: osi,
        root_symbol: 'SPY',
        bid: 3.9,
        ask: 3.92,
        last: 3.9,
        volume: 3,
        open_interest: 5,
        contract_size: 100,
        bid_date: digits(atMs),
        ask_date: digits(atMs),
        trade_date: digits(atMs),
        'greeks.delta': 0.3,
        'greeks.updated_at': '2024-03-15 13:59:08',
        greeks: null,
      },
      ['last', 'volume', 'contract_size', 'trade_date', 'greeks.delta', 'greeks.updated_at', 'greeks'],
      { symbol: 'x' },
      (option) => ({ options: { option } }),
    ),
  'orats-strikes': () =>
    csv(
      'a.csv',
      {
        ticker: 'SPY',
        tradeDate: '2024-03-15',
        expirDate: '2024-04-19',
        strike: 520,
        stockPrice: 511.7,
        callBidPrice: 3.9,
        callAskPrice: 3.92,
        putBidPrice: 11,
        putAskPrice: 11.2,
        delta: 0.33,
        gamma: 0.01,
        theta: -0.1,
        vega: 0.2,
        callMidIv: 0.1,
        callVolume: 3,
        callOpenInterest: 7,
        spotPrice: 511.7,
        quoteDate: '2024-03-15T14:00:00Z',
      },
      ['delta', 'gamma', 'theta', 'vega', 'callMidIv', 'callVolume', 'callOpenInterest', 'spotPrice'],
      { strike: 'x' },
    ),
  'theta-chain': () =>
    csv(
      'a.csv',
      {
        ...theta,
        bid: 8,
        ask: 8.2,
        delta: 0.4,
        gamma: 0.004,
        implied_vol: 0.11,
        underlying_timestamp: '2024-03-15T10:00:00',
        underlying_price: 511,
      },
      ['delta', 'gamma'],
      { strike: 'x' },
    ),
  'yfinance-chain': () =>
    csv(
      'a.csv',
      {
        '': 0,
        contractSymbol: osi,
        lastTradeDate: '2024-03-15 14:00:57+00:00',
        strike: 520,
        lastPrice: 5.7,
        bid: 5.6,
        ask: 5.8,
        volume: 2,
        openInterest: 11,
        impliedVolatility: 0.27,
        inTheMoney: 'False',
      },
      ['inTheMoney'],
      { contractSymbol: 'x' },
    ),
  'stock-trades': () =>
    csv(
      'a.csv',
      {
        ticker: 'BAC',
        conditions: '',
        correction: 0,
        exchange: 4,
        id: 1,
        price: 14,
        sequence_number: 1,
        sip_timestamp: nanos,
        size: 3,
        tape: 1,
        trf_id: 202,
      },
      ['correction', 'tape', 'trf_id'],
      { price: -1 },
    ),
  'option-trades': () =>
    csv(
      'a.csv',
      { ticker: contract, conditions: 209, correction: 0, exchange: 302, price: 4, sip_timestamp: nanos, size: 3 },
      ['correction'],
      { price: -1 },
    ),
  'massive-trades': (dataset) =>
    massive(
      dataset,
      {
        conditions: [209],
        correction: 0,
        exchange: isOption(dataset) ? 302 : 4,
        id: '1',
        price: 14,
        sequence_number: 1,
        sip_timestamp: digits(nanos),
        size: 3,
        tape: 1,
        trf_id: 202,
      },
      ['conditions', 'correction', 'tape', 'trf_id'],
      { price: -1 },
    ),
  'theta-trades': () => csv('a.csv', { ...theta, ...print }, [], { price: -1 }),
  'theta-v2-trades': () => csv('a.csv', { ...theta2, ...print }, [], { price: -1 }),
  'databento-trades': (dataset) =>
    dbn(dbnSchemas.trades, isOption(dataset) ? osi : 'BAC', (isBad) =>
      dbnTrade({ at, price: isBad ? undefinedPrice : 14, size: 3, sequence: 1 }),
    ),
  'option-quotes': () =>
    csv(
      'a.csv',
      { ticker: contract, ask_price: 4.1, bid_price: 4, sequence_number: 1, sip_timestamp: nanos, ask_size: 3 },
      ['ask_size'],
      { bid_price: 'x' },
    ),
  'massive-quotes': (dataset) =>
    massive(
      dataset,
      { ask_price: 4.1, bid_price: 4, sequence_number: 1, sip_timestamp: digits(nanos), ask_size: 3 },
      ['ask_size'],
      { bid_price: 'x' },
    ),
  'theta-quotes': () => csv('a.csv', { ...theta, ...quote }, [], { bid: 'x' }),
  'theta-v2-quotes': () => csv('a.csv', { ...theta2, ...quote }, [], { bid: 'x' }),
  'databento-quotes': () =>
    dbn(dbnSchemas.mbp1, osi, (isBad) =>
      dbnQuote({ at: isBad ? 1n : at, price: 4, size: 1, sequence: 1, bid: 4, ask: 4.1 }),
    ),
};

const cases = datasetNames.flatMap((dataset) => formatsOf(dataset).map(({ name }) => ({ dataset, name })));

test('every format of every dataset has a sample, and no other has one', () => {
  expect(Object.keys(samples).sort()).toEqual([...new Set(cases.map(({ name }) => name))].sort());
});

describe.each(cases)('$name of $dataset', ({ dataset, name }) => {
  const sample = samples[name]!(dataset);
  const columns = Object.keys(sample.row);
  let store: TestStore;
  let files = 0;
  beforeAll(async () => {
    store = await testStore();
  });
  afterAll(() => store.close());

  function write(content: Content): string {
    const path = join(folder(), `${name}-${dataset}-${++files}`.replace(/\W/g, '_'));
    // The name can be the ticker.
    const named = `${path}_d/`;
    mkdirSync(named);
    writeFileSync(join(named, sample.name), content);
    return join(named, sample.name);
  }
  const whole = (row: Keys = sample.row) => sample.content([row], columns);
  const ingest = async (...paths: readonly string[]) =>
    (await ingestFiles(store, dataset, paths, { now, force: true, replace: true })).files;

  test('is stored', async () => {
    expect((await ingest(write(whole())))[0]).toMatchObject({ status: 'stored', badLineCount: 0, reason: null });
  });

  test('without a row, or without a good one, is refused by name, and the file after it is stored', async () => {
    const bad = { ...sample.row, ...sample.bad };
    for (const content of [sample.content([], columns), sample.content([bad], columns)]) {
      const [first, second] = await ingest(write(content), write(whole()));
      expect(first).toMatchObject({ status: 'refused', changed: 0 });
      expect(first!.reason).toMatch(/\S/);
      expect(first!.reason).not.toMatch(/undefined|is not a function|Cannot |Non-finite|Infinity/);
      expect(second).toMatchObject({ rows: expect.any(Number), reason: expect.not.stringContaining('Cannot') });
      expect(second!.status).not.toBe('refused');
    }
  });

  test.runIf(sample.optional.length > 0)('without what is optional, each and all, is stored', async () => {
    for (const absent of [...sample.optional.map((key) => [key]), sample.optional]) {
      const isAbsent = (column: string) => absent.some((key) => column === key || column.startsWith(`${key}.`));
      const kept = columns.filter((column) => !isAbsent(column));
      const without = Object.fromEntries(kept.map((column) => [column, sample.row[column]]));
      const blank = Object.fromEntries(columns.map((column) => [column, isAbsent(column) ? null : sample.row[column]]));
      const paths = [sample.content([without], kept), sample.content([withNull(blank, absent)], columns)].map(write);
      for (const { status, badLines } of await ingest(...paths)) {
        expect({ absent, badLines }).toEqual({ absent, badLines: [] });
        // An absent value may change nothing that is stored.
        expect(['stored', 'unchanged'], absent.join()).toContain(status);
      }
    }
  });
});

/** A row whose absent keys are null, and not those below them. */
const withNull = (row: Keys, absent: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([key]) => !absent.some((other) => key.startsWith(`${other}.`))));
