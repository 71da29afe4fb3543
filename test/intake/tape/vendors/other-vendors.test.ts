import { describe, expect, test } from 'vitest';
import { readChain } from '../../../support/tapes/chain-reading.ts';
import { vendorReading } from '../../../support/tapes/vendor-reading.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

// Keys and headers are the vendors', values are invented.
const read = vendorReading(temporaryFolder());
const chain = async (name: string, text: string) => {
  const bad: string[] = [];
  const { capture } = await readChain(read.write(name, text), ({ line, reason }) => bad.push(`${line}: ${reason}`));
  return { capture, bad };
};

describe('Tradier', () => {
  const [bid, ask] = [Date.parse('2024-03-15T14:00:00Z'), Date.parse('2024-03-15T14:00:02Z')];
  const option = (symbol: string, more: object = {}) => ({
    symbol,
    description: 'x',
    exch: 'Z',
    type: 'option',
    last: 3.91,
    volume: 4021,
    bid: 3.9,
    ask: 3.92,
    underlying: 'SPY',
    strike: 520,
    trade_date: 0,
    bid_date: bid,
    ask_date: ask,
    open_interest: 18250,
    contract_size: 100,
    expiration_date: '2024-04-19',
    option_type: 'call',
    root_symbol: 'SPY',
    greeks: { delta: 0.33, gamma: 0.0213, theta: -0.11, vega: 0.52, mid_iv: 0.118, updated_at: '2024-03-15 13:59:08' },
    ...more,
  });
  const answer = (options: unknown) => JSON.stringify({ options });

  test('chains are of the newest quote in them; answers of several expiries are one chain', async () => {
    const stale = { greeks: { ...option('').greeks, updated_at: '2024-03-14 20:00:00' }, contract_size: 10 };
    const first = answer({ option: [option('SPY240419C00520000')] });
    const { capture, bad } = await chain(
      'chains.json',
      first + answer({ option: option('SPY240517P00520000', stale) }) + answer(null),
    );
    expect(bad).toEqual([]);
    expect(capture).toMatchObject({ underlying: 'SPY', capturedAt: ask, spot: null, partial: false });
    const [call, put] = capture.rows;
    expect(call).toMatchObject({
      bid: 3.9,
      ask: 3.92,
      last: 3.91,
      volume: 4021,
      openInterest: 18250,
      iv: 0.118,
      delta: 0.33,
    });
    // Greeks of the day before are not of these quotes.
    expect(put).toMatchObject({ expiry: '2024-05-17', right: 'put', iv: null, delta: null, sharesPerContract: 10 });
  });

  test('chains without options or times are rejected', async () => {
    const none = { option: [option('SPY240419C00520000', { bid_date: 0, ask_date: 0 })] };
    await expect(chain('none.json', answer(none))).rejects.toThrow(/bid_date: expected a time/);
    const bad = JSON.stringify(option('SPY240419C00520000'));
    await expect(chain('bad.json', `{"options":{"option":[${bad},7]}}`)).rejects.toThrow(
      /options.option: expected objects/,
    );
  });

  const bar = (minute: number, more: object = {}) => ({
    time: `2024-03-15T09:${minute}:00`,
    timestamp: Date.parse(`2024-03-15T13:${minute}Z`) / 1000,
    price: 9,
    open: 9,
    high: 9.2,
    low: 8.9,
    close: 9.1,
    volume: 1200,
    vwap: 9.05,
    ...more,
  });
  const series = (data: unknown) => JSON.stringify({ series: { data } });

  test('time and sales are minutes of the ticker that begins the name of the file', async () => {
    const { records } = await read.minuteBars(read.write('KO.json', series([bar(30), bar(31)]) + series(bar(32))));
    const expected = { open: 9, high: 9.2, low: 8.9, close: 9.1, volume: 1200, vwap: null, tradeCount: null };
    expect(records[0]).toEqual({ symbol: 'KO', bar: { tsMs: Date.parse('2024-03-15T13:30Z'), ...expected } });
    expect(records).toHaveLength(3);
  });

  test('time and sales whose two times disagree are rejected', async () => {
    const milliseconds = bar(30, { timestamp: Date.parse('2024-03-15T13:30Z') });
    for (const wrong of [milliseconds, bar(30, { time: '2024-03-15T13:30:00' })])
      await expect(read.minuteBars(read.write('KO.json', series([wrong])))).rejects.toThrow(
        /timestamp: expected seconds/,
      );
  });
});

describe('ORATS', () => {
  const row = {
    ticker: 'SPX',
    tradeDate: '2024-03-15',
    expirDate: '2024-04-19',
    dte: 35,
    strike: 5100,
    stockPrice: 5131.5,
    callVolume: 150,
    callOpenInterest: 28206,
    putVolume: 7,
    putOpenInterest: 18438,
    callBidPrice: 88.1,
    callValue: 88.3,
    callAskPrice: 88.6,
    putBidPrice: 61.2,
    putValue: 61.4,
    putAskPrice: 61.8,
    callMidIv: 0.121,
    putMidIv: 0.122,
    smvVol: 0.1215,
    delta: 0.6,
    gamma: 0.0012,
    theta: -0.9,
    vega: 5.4,
    spotPrice: 5123.41,
    quoteDate: '2024-03-15T14:00:00Z',
    updatedAt: '2024-03-15T14:00:30Z',
    expiryTod: 'pm',
  };
  const csv = (...rows: readonly object[]) =>
    [Object.keys(row), ...rows.map((each) => Object.values({ ...row, ...each }))]
      .map((cells) => cells.join())
      .join('\n');

  test.each([
    ['CSV', csv({}, { expiryTod: 'am' })],
    ['JSON', JSON.stringify({ data: [row, { ...row, expiryTod: 'am' }] })],
  ])('strikes as %s are a call and a put each; the delta of a put is that of the call less 1', async (_, text) => {
    const { capture, bad } = await chain('strikes', text);
    expect(bad).toEqual([]);
    expect(capture).toMatchObject({ underlying: 'SPX', capturedAt: Date.parse('2024-03-15T14:00Z'), spot: 5123.41 });
    expect(capture.rows.map(({ root, right }) => `${root} ${right}`)).toEqual([
      'SPX call',
      'SPXW call',
      'SPX put',
      'SPXW put',
    ]);
    const [call, , put] = capture.rows;
    const call5100 = {
      bid: 88.1,
      ask: 88.6,
      fmv: 88.3,
      iv: 0.121,
      delta: 0.6,
      theta: -0.9,
      vega: 5.4,
      openInterest: 28206,
    };
    expect(call).toMatchObject({ ...call5100, volume: 150, gamma: 0.0012, strike: 5_100_000 });
    expect(put).toMatchObject({ bid: 61.2, iv: 0.122, delta: -0.4, gamma: 0.0012, vega: 5.4, theta: null, volume: 7 });
  });

  test('strikes of a stock have its root; without the settlement those of an index are bad lines', async () => {
    const { capture, bad } = await chain('a.csv', csv({ ticker: 'BRK.B', expiryTod: '' }));
    expect(capture.rows[0]!.root).toBe('BRKB');
    expect(bad).toEqual([]);
    const index = await chain('b.csv', csv({}, { expiryTod: '' }));
    expect(index.bad).toEqual(['3: expiryTod: expected am or pm of a root of SPX']);
    expect(index.capture.partial).toBe(true);
  });

  test('summaries are volatilities of sessions as fractions, cores as percentages', async () => {
    const summary = { ticker: 'KO', tradeDate: '2024-03-15', stockPrice: 60, iv30d: 0.1858, rVol30: 0.2 };
    const core = { ticker: 'KO', tradeDate: '2024-03-15', pxCls: 60, iv30d: 18.58 };
    const expected = [expect.objectContaining({ symbol: 'KO', date: '2024-03-15', iv30: 0.1858 })];
    for (const item of [summary, core]) {
      const text = [Object.keys(item).join(), Object.values(item).join()].join('\n');
      expect((await read.volatilityDays(read.write('v.csv', text))).records).toEqual(expected);
      expect((await read.volatilityDays(read.write('v.json', JSON.stringify({ data: [item] })))).records).toEqual(
        expected,
      );
    }
    const live = (quoteDate: string) => JSON.stringify({ data: [{ ...summary, quoteDate }] });
    const noon = await read.volatilityDays(read.write('live.json', live('2024-03-15T16:00:00Z')));
    expect(noon.bad).toEqual(['2: date: expected a date YYYY-MM-DD, got "2024-03-15T16:00:00Z"']);
    const close = await read.volatilityDays(read.write('live.json', live('2024-03-15T19:46:00Z')));
    expect(close.records).toEqual(expected);
  });

  test('strikes of several times are no chain', async () => {
    await expect(chain('c.csv', csv({}, { quoteDate: '2024-03-15T14:01:00Z' }))).rejects.toThrow(/twice/);
  });
});

describe('yfinance', () => {
  const header = 'Date,Open,High,Low,Close,Adj Close,Volume,Dividends,Stock Splits';
  const day = (date: string, split = 0) =>
    `${date} 00:00:00-04:00,301.1000061035156,302.5,300,301.25,299.9,494966,0.0,${split}.0`;

  test('history is days of a stock, with prices as printed', async () => {
    const { records, bad } = await read.dayBars(
      read.write('KO.csv', [header, day('2024-06-07', 2), day('2024-06-10')].join('\n')),
    );
    expect(bad).toEqual([]);
    const expected = {
      open: 301.1,
      high: 302.5,
      low: 300,
      close: 301.25,
      volume: 494966,
      vwap: null,
      tradeCount: null,
    };
    expect(records[0]).toEqual({ symbol: 'KO', bar: { tsMs: Date.parse('2024-06-07T04:00Z'), ...expected } });
    expect(records).toHaveLength(2);
  });

  test('a download of one ticker names it', async () => {
    const lines = [
      'Price,Adj Close,Close,High,Low,Open,Volume,Stock Splits',
      'Ticker,KO,KO,KO,KO,KO,KO,KO',
      'Date,,,,,,,',
    ];
    const text = [...lines, '2024-06-07,1,9.1,9.2,8.9,9,1200,0.0'].join('\n');
    expect((await read.dayBars(read.write('x.csv', text))).records).toEqual([
      { symbol: 'KO', bar: expect.objectContaining({ open: 9, high: 9.2, low: 8.9, close: 9.1 }) },
    ]);
    const two = text.replace('Close,High', 'Close,Close');
    await expect(read.dayBars(read.write('y.csv', two))).rejects.toThrow(/twice|no column/);
  });

  test('history that is adjusted for dividends, or of before a split, is rejected', async () => {
    const file = (...lines: string[]) => read.dayBars(read.write('KO.csv', lines.join('\n')));
    await expect(file(header.replace('Adj Close,', ''), day('2024-06-07'))).rejects.toThrow(
      /Adj Close of the format yfinance-history/,
    );
    await expect(file(header, day('2024-06-07'), day('2024-06-10', 2))).rejects.toThrow(
      /Stock Splits: expected 0 below/,
    );
    const { bad } = await file(
      header,
      day('2024-06-08'),
      day('2024-06-07').replace('-04:00', '-05:00').replace('00:00:00', '09:30:00'),
    );
    expect(bad.map((reason) => reason.split(': expected')[0])).toEqual(['2: window_start', '3: window_start']);
  });

  test('an option chain is of the newest trade in it; its placeholder of a volatility is none', async () => {
    const columns =
      'contractSymbol,lastTradeDate,strike,lastPrice,bid,ask,change,percentChange,volume,openInterest,impliedVolatility,inTheMoney,contractSize,currency';
    const text = [
      `,${columns}`,
      '0,AAPL240419C00200000,2024-03-15 14:00:57+00:00,200.0,5.7,5.6,5.8,0.1,1.2,2.0,11,0.27,True,REGULAR,USD',
      '1,AAPL240419C00205000,2024-03-14 14:00:57+00:00,205.0,4.7,0.0,0.0,0.1,1.2,,12,1.0000000000000003e-05,False,REGULAR,USD',
    ].join('\n');
    const { capture } = await chain('calls.csv', text);
    expect(capture).toMatchObject({ underlying: 'AAPL', capturedAt: Date.parse('2024-03-15T14:00:57Z'), spot: null });
    expect(capture.rows[0]).toMatchObject({ bid: 5.6, ask: 5.8, last: 5.7, volume: 2, openInterest: 11, iv: 0.27 });
    expect(capture.rows[1]).toMatchObject({ bid: null, ask: null, volume: null, openInterest: 12, iv: null });
  });
});
