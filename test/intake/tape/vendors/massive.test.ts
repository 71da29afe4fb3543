import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readChain } from '../../../support/tapes/chain-reading.ts';
import { vendorReading } from '../../../support/tapes/vendor-reading.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

// Keys as in github.com/polygon-io/client-python, test_rest/mocks/v3 and v2; values are invented.
const read = vendorReading(temporaryFolder());
const more = (path: string, cursor: number) => ({ next_url: `https://api.massive.com${path}?cursor=${cursor}` });
const page = (results: readonly object[], rest: object = {}) =>
  JSON.stringify({ results, status: 'OK', request_id: 'r', ...rest });
/** JSON has no exact form of nanoseconds in JavaScript: the digits are put in afterwards. */
const nanos = (text: string) => text.replace(/"(\d{19})"/g, '$1');

const trade = (id: string, stamp: string, more: object = {}) => ({
  conditions: [12, 37],
  exchange: 4,
  id,
  participant_timestamp: stamp,
  price: 14.055,
  sequence_number: 8801,
  sip_timestamp: stamp,
  size: 0.25,
  tape: 1,
  trf_id: 202,
  ...more,
});

describe('pages of /v3/trades', () => {
  test('are the prints of the ticker in next_url, to the nanosecond, from the first page to the last', async () => {
    const first = page([trade('71675', '1710509400123456789')], more('/v3/trades/BAC', 1));
    const last = page([trade('71676', '1710509400123456790', { trf_id: undefined, conditions: undefined })], {});
    const { records, bad } = await read.stockTrades(read.write('pages.json', nanos(`${first}\n${last}`)));
    expect(bad).toEqual([]);
    expect(records).toEqual([
      {
        symbol: 'BAC',
        exchange: 4,
        trf: 202,
        id: 71675,
        price: 140_550,
        size: 0,
        sizeMicros: 250_000,
        conditions: [12, 37],
        correction: 0,
        tsMs: 1710509400123,
        tsNanos: 456789,
        sequence: 8801,
        tape: 1,
      },
      expect.objectContaining({ id: 71676, tsNanos: 456790, trf: 0, conditions: [] }),
    ]);
  });

  test('that are one have the ticker that begins the name of the file', async () => {
    const text = nanos(page([trade('1', '1710509400123456789', { size: 3 })]));
    const stock = await read.stockTrades(read.write('BRK.B_2024-03-15.json.gz', gzipSync(text) as Uint8Array as never));
    expect(stock.records[0]).toMatchObject({ symbol: 'BRK.B', size: 3 });
    for (const name of ['SPY240419C00520000.json', 'O:SPY240419C00520000_1.json']) {
      const option = await read.optionTrades(read.write(name, text));
      expect(option.records[0]!.contract.id, name).toBe('O:SPY240419C00520000');
    }
    await expect(read.stockTrades(read.write('trades.json', text))).rejects.toThrow(/does not contain its ticker/);
  });

  test('that say that there are more are rejected, and so are those of another ticker', async () => {
    const one = (rest: object) => nanos(page([trade('1', '1710509400123456789')], rest));
    const rejected = async (text: string, reason: RegExp) =>
      expect(read.stockTrades(read.write('BAC.json', text))).rejects.toThrow(reason);
    await rejected(one(more('/v3/trades/BAC', 1)), /next_url: page 1 says that there are more/);
    await rejected(one(more('/v3/trades/BAC', 1)) + one(more('/v3/trades/T', 2)) + one({}), /next_url: expected .*BAC/);
    await rejected(one({}) + one({}), /next_url: the page before was the last/);
    await rejected(one({ status: 'ERROR' }), /status: expected OK/);
    await rejected(one({ next_url: 7 }), /next_url: expected an address/);
    await rejected(one({}).slice(0, -5), /BAC.json: the JSON ends in the middle/);
    await rejected(`${one({})} and more`, /expected JSON objects/);
  });

  test('with times in another unit have bad lines, numbered like the results', async () => {
    const results = [trade('1', '1710509400123456789'), trade('2', '1710509400123')];
    const { records, bad } = await read.stockTrades(read.write('BAC.json', nanos(page(results))));
    expect(records).toHaveLength(1);
    expect(bad).toEqual([expect.stringMatching(/^3: sip_timestamp: expected nanoseconds since 1970, not milli/)]);
  });
});

test('pages of /v3/quotes are quotes of a contract; an absent side is none', async () => {
  const quote = { ask_exchange: 302, ask_price: 1.25, ask_size: 4, bid_exchange: 302, bid_price: 1.2, bid_size: 9 };
  const stamped = { ...quote, sequence_number: 907, sip_timestamp: '1710511199900000001' };
  const text = nanos(page([stamped, { ...stamped, bid_price: undefined, sequence_number: 908 }]));
  const { records } = await read.optionQuotes(read.write('SPY240419C00520000.json', text));
  expect(records.map(({ bid, ask, tsNanos, sequence }) => [bid, ask, tsNanos, sequence])).toEqual([
    [12_000, 12_500, 1, 907],
    [0, 12_500, 1, 908],
  ]);
});

describe('pages of /v2/aggs', () => {
  const bar = (t: number) => ({ v: 1200.4, vw: 9.05, o: 9, c: 9.1, h: 9.2, l: 8.9, t, n: 14 });
  const bars = (times: readonly number[], rest: object = {}) =>
    page(times.map(bar), { ticker: 'KO', queryCount: 1, resultsCount: 1, adjusted: false, ...rest });
  const noon = Date.parse('2024-03-15T16:00:00Z');

  test('are bars of the stock, or of a contract', async () => {
    const expected = { tsMs: noon, open: 9, high: 9.2, low: 8.9, close: 9.1, volume: 1200, vwap: 9.05, tradeCount: 14 };
    const stock = await read.minuteBars(read.write('a.json', bars([noon])));
    expect(stock.records).toEqual([{ symbol: 'KO', bar: expected }]);
    const option = await read.optionBars(read.write('b.json', bars([noon], { ticker: 'O:KO240419C00060000' })));
    expect(option.records).toEqual([
      { contract: expect.objectContaining({ root: 'KO', strike: 60_000 }), bar: expected },
    ]);
    const day = await read.dayBars(read.write('c.json', bars([Date.parse('2024-03-15T04:00:00Z')])));
    expect(day.records[0]!.bar.tsMs).toBe(Date.parse('2024-03-15T04:00:00Z'));
  });

  test('of several tickers can follow each other', async () => {
    const text = bars([noon], more('/v2/aggs/ticker/KO/range/1/minute/a/b', 1)) + bars([noon + 60_000]);
    const { records } = await read.minuteBars(read.write('d.json', text + bars([noon], { ticker: 'PEP' })));
    expect(records.map(({ symbol }) => symbol)).toEqual(['KO', 'KO', 'PEP']);
  });

  test('adjusted for splits, of other lengths, or of a ticker that changes within an answer are rejected', async () => {
    const every = (minutes: number) => Array.from({ length: 12 }, (_, i) => noon + i * minutes * 60_000);
    const rejected = async (text: string, reason: RegExp) =>
      expect(read.minuteBars(read.write('e.json', text))).rejects.toThrow(reason);
    await rejected(bars([noon], { adjusted: true }), /adjusted: expected false/);
    await rejected(bars(every(5)), /all 12 bars start at multiples of five minutes/);
    await rejected(bars(every(60)), /all 12 bars start at multiples of five minutes/);
    await rejected(bars([noon], more('/v2/aggs/x', 1)) + bars([noon], { ticker: 'PEP' }), /ticker: expected "KO"/);
    expect((await read.minuteBars(read.write('f.json', bars(every(1))))).records).toHaveLength(12);
    const days = every(1440).map((ms) => ms - 12 * 3_600_000);
    expect((await read.dayBars(read.write('g.json', bars(days)))).bad).not.toContain(/multiples/);
  });
});

describe('pages of /v3/snapshot/options', () => {
  const [open, at] = ['1710475200000000000', '1710511200123456789'];
  const contract = (ticker: string, more: object = {}) => ({
    break_even_price: 520.9,
    day: { close: 3.9, volume: 4021, last_updated: open },
    details: {
      contract_type: 'call',
      expiration_date: '2024-04-19',
      shares_per_contract: 100,
      strike_price: 520,
      ticker,
    },
    greeks: { delta: 0.33, gamma: 0.0213, theta: -0.11, vega: 0.52 },
    implied_volatility: 0.118,
    last_quote: { ask: 3.92, ask_size: 5, bid: 3.9, bid_size: 7, last_updated: at, timeframe: 'REAL-TIME' },
    last_trade: { price: 3.91, sip_timestamp: '1710511199000000000', size: 1 },
    open_interest: 18250,
    underlying_asset: { last_updated: at, price: 511.72, ticker: 'SPY', timeframe: 'REAL-TIME' },
    ...more,
  });
  const chain = async (text: string) => {
    const bad: string[] = [];
    const path = read.write('chain.json', nanos(text));
    return { bad, ...(await readChain(path, ({ line, reason }) => bad.push(`${line}: ${reason}`))) };
  };

  test('are a chain at the newest time in them, with the price of the underlying', async () => {
    const first = page([contract('O:SPY240419C00520000')], more('/v3/snapshot/options/SPY', 1));
    const stale = { day: { close: 2, volume: 7, last_updated: '1710388800000000000' }, last_trade: undefined };
    const last = page([contract('O:SPY240419P00520000', { ...stale, greeks: {}, implied_volatility: undefined })]);
    const { capture, bad } = await chain(first + last);
    expect(bad).toEqual([]);
    expect(capture).toMatchObject({
      underlying: 'SPY',
      capturedAt: 1710511200123,
      delayMs: 0,
      spot: 511.72,
      partial: false,
    });
    const [call, put] = capture.rows;
    expect(call).toMatchObject({
      right: 'call',
      strike: 520_000,
      bid: 3.9,
      ask: 3.92,
      last: 3.91,
      iv: 0.118,
      delta: 0.33,
      gamma: 0.0213,
      theta: -0.11,
      vega: 0.52,
      openInterest: 18250,
      volume: 4021,
      sharesPerContract: 100,
    });
    // The volume of a day before is not that of this session.
    expect(put).toMatchObject({ right: 'put', last: 2, volume: null, iv: null, delta: null });
  });

  test('that say that there are more are rejected; an invalid contract makes the chain partial', async () => {
    await expect(chain(page([contract('O:SPY240419C00520000')], more('/v3/x', 1)))).rejects.toThrow(/next_url: page 1/);
    const { capture, bad } = await chain(page([contract('SPY?'), contract('O:SPY240419C00520000')]));
    expect(capture).toMatchObject({ partial: true, rows: [{ strike: 520_000 }] });
    expect(bad).toEqual(['1: expected a contract, got "SPY?"']);
  });
});
