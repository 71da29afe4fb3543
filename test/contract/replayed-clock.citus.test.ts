import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Bar,
  type BarColumns,
  barColumns,
  type Timeframe,
  toBarColumns,
} from '../../src/core/domain/market/bar.ts';
import { aggregateBars, oneBar } from '../../src/core/domain/market/bar-aggregation.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { saveOptionBars } from '../../src/store/chain/option-bars.ts';
import { concatBars, firstAtOrAfter, sliceBars, writeBars } from '../../src/store/market/bar-blocks.ts';
import { saveLiveQuotes } from '../../src/store/market/live-quotes.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { storeDays } from '../support/market.ts';
import { type TestStore, testStore } from '../support/store.ts';

// Friday 2026-11-20. The clock is within a minute, a bar of five, an hour and the session, all at once.
const session = '2026-11-20';
const nowMs = exchangeInstant(session, 10 * 60 + 42) + 30_500;
const minuteStart = exchangeInstant(session, 10 * 60 + 42);
const contract = 'O:SPY261218C00600000';

/** Bars at `count` steps of `lengthMs` from the open on, each with figures that no other has. */
function run(lengthMs: number, count: number): BarColumns {
  const at = (i: number): Bar => ({
    tsMs: exchangeInstant(session, 570) + i * lengthMs,
    open: 500 + i / 100,
    high: 600 + i,
    low: 400 - i / 10,
    close: 500.005 + i / 100,
    volume: 100 + i,
    vwap: 500 + i / 1000,
    tradeCount: 1 + i,
  });
  return toBarColumns(Array.from({ length: count }, (_, i) => at(i)));
}
const minutes = run(60_000, 390);
const seconds = run(1000, 80 * 60);

/** Symbols with bars by the second, and one with bars by the minute alone. */
const withSeconds = ['SPY', 'AAPL'];
const symbols = [...withSeconds, 'MSFT'];

/**
 * Stores what a tape has stored when it has reached `throughMs`: the bars in progress are made of the minutes that have
 * ended, and of the ended seconds of the minute in progress.
 */
async function fill(store: TestStore, throughMs: number): Promise<void> {
  const ended = (bars: BarColumns, lengthMs: number) =>
    sliceBars(bars, 0, firstAtOrAfter(bars, throughMs - lengthMs + 1));
  const ofMinutes = ended(minutes, 60_000);
  const ofSeconds = ended(seconds, 1000);
  const minuteMs = throughMs - (throughMs % 60_000);
  const rest = sliceBars(ofSeconds, firstAtOrAfter(ofSeconds, minuteMs), ofSeconds.tsMs.length);
  const inProgress = oneBar(rest, minuteMs);
  for (const symbol of symbols) {
    await storeDays(store, symbol, { '2026-11-18': 498, '2026-11-19': 499 });
    const has = withSeconds.includes(symbol);
    const parts = has ? concatBars([ofMinutes, rest]) : ofMinutes;
    const runs: Record<Timeframe, BarColumns> = {
      '1s': has ? ofSeconds : barColumns(0),
      '1m': has && inProgress ? concatBars([ofMinutes, toBarColumns([inProgress])]) : ofMinutes,
      '5m': aggregateBars(parts, '5m'),
      '1h': aggregateBars(parts, '1h'),
      '1d': toBarColumns([oneBar(parts, exchangeInstant(session))!]),
    };
    await inTransaction(store, async (tx) => {
      for (const timeframe of ['1s', '1m', '5m', '1h', '1d'] as const)
        await writeBars(tx, timeframe, [{ symbol, bars: runs[timeframe] }]);
    });
  }
  const run = { underlying: 'SPY', contract, sessionDate: session, bars: ofMinutes };
  await inTransaction(store, (tx) => saveOptionBars(tx, 'eod_reconciled', [run]));
}

/** A server that replays a session which its store holds whole, and one whose store ends with the last second. */
let replay: TestApp;
let cut: TestApp;

beforeAll(async () => {
  const whole = { ...(await testStore()), endedBarsOnly: true };
  await fill(whole, exchangeInstant(session, 24 * 60));
  // The quote that a tape leaves when it was read to its end.
  const live = { symbol: 'SPY', sessionDate: session, spot: 777, volume: 1_000_000, officialClose: 499 };
  await inTransaction(whole, (tx) => saveLiveQuotes(tx, [{ ...live, eventTsMs: exchangeInstant(session, 16 * 60) }]));
  replay = await testApp({ nowMs, store: whole });
  const earlier = await testStore();
  await fill(earlier, nowMs);
  cut = await testApp({ nowMs, store: earlier });
});
afterAll(async () => {
  await replay.close();
  await cut.close();
});

const lengths = ['1s', '1m', '5m', '1h', '1d'];
const stockBars = (tf: string) => `/v2/stocks/SPY/bars?from=2026-11-17&to=2026-11-21&timeframe=${tf}`;
const optionBars = (tf: string) => `/v2/options/${contract}/bars?tf=${tf}&session=${session}`;
const figures = 'tsMs open high low close volume vwap tradeCount';
const graphBars = (tf: string, i: number) =>
  `s${i}: bars(from: "2026-11-17", to: "2026-11-21", timeframe: "${tf}", limit: 500) { columns { ${figures} } }`;
const graph = (query: string) => ({ body: JSON.stringify({ query }) });
const tool = (name: string, args: object) => ({
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
});
const barsArgs = { symbol: 'SPY', from: '2026-11-20', to: '2026-11-21' };

/** Requests, by what they ask for. */
const requests: [what: string, path: string, sending?: { body?: string; headers?: Record<string, string> }][] = [
  ...lengths.map((tf): [string, string] => [`stock bars ${tf}`, stockBars(tf)]),
  ...lengths.map((tf): [string, string] => [`stock bars ${tf}, a page that ends at now`, `${stockBars(tf)}&limit=73`]),
  ...['1m', '5m'].map((tf): [string, string] => [`option bars ${tf}`, optionBars(tf)]),
  ...[
    'text/csv',
    'application/vnd.apache.arrow.stream',
    'application/vnd.apache.parquet',
    'application/x-protobuf',
  ].flatMap((accept) =>
    [stockBars('1m'), stockBars('5m'), stockBars('1d')].map((path): (typeof requests)[number] => [
      `${accept} of ${path}`,
      path,
      { headers: { accept } },
    ]),
  ),
  ['option bars as CSV', optionBars('5m'), { headers: { accept: 'text/csv' } }],
  ['quotes', '/v2/quotes?symbols=SPY,AAPL,MSFT'],
  ['the spot price', '/v2/symbols/SPY/spot'],
  ...lengths.map((tf): [string, string] => [`bars ${tf} without seconds`, stockBars(tf).replace('SPY', 'MSFT')]),
  ['movers', '/v2/screener/movers'],
  ['sectors', '/v2/screener/sectors'],
  [
    'the graph',
    '/graphql',
    graph(`{ symbol(symbol: "SPY") { quote { spot volume changePct } spot { price ts }
      ${lengths.map(graphBars).join('\n')} } }`),
  ],
  ['MCP: stock bars 1m', '/mcp', tool('stock_bars', { ...barsArgs, timeframe: '1m' })],
  ['MCP: stock bars 1h', '/mcp', tool('stock_bars', { ...barsArgs, timeframe: '1h' })],
  ['MCP: option bars 5m', '/mcp', tool('option_bars', { contract, tf: '5m', session })],
  ['MCP: quotes', '/mcp', tool('quotes', { symbols: 'SPY,AAPL' })],
];

describe('a replayed session is shown up to the last second that has ended', () => {
  test.each(requests)('%s', async (_what, path, sending) => {
    const method = sending?.body === undefined ? 'GET' : 'POST';
    const [credential, other] = [await replay.session(), await cut.session()];
    const answer = await replay.send(method, path, { ...sending, credential });
    const expected = await cut.send(method, path, { ...sending, credential: other });
    expect([answer.status, expected.status]).toEqual([200, 200]);
    expect(answer.body?.errors ?? null).toBeNull();
    expect(expected.bytes.length).toBeGreaterThan(100);
    const plain = (text: string) => text.replace(/"computed_at":\d+/g, '');
    expect(plain(answer.bytes.toString('latin1'))).toBe(plain(expected.bytes.toString('latin1')));
  });

  test.each(['quotes:SPY', ...lengths.map((tf) => `bars:SPY:${tf}`)])('the stream %s', async (topic) => {
    const first = async (app: TestApp): Promise<Json> => {
      const headers = { authorization: `Bearer ${await app.session()}` };
      const reader = await readEvents(`${app.url}/v2/stream?topics=${topic}`, { headers });
      const event = await reader.next();
      reader.leave();
      return event?.data;
    };
    const [sent, expected] = [await first(replay), await first(cut)];
    expect(expected).toBeTruthy();
    expect(sent).toEqual(expected);
  });

  const at = async <T>(atMs: number, ask: () => Promise<T>): Promise<T> => {
    replay.clock.nowMs = atMs;
    const answer = await ask();
    replay.clock.nowMs = nowMs;
    return answer;
  };
  const sinceOpen = (symbol: string, tf: string, from: string | number = session) =>
    replay.get(`/v2/stocks/${symbol}/bars?from=${from}&to=2026-11-21&timeframe=${tf}`);
  const spotOf = async (symbol: string) => (await replay.get(`/v2/symbols/${symbol}/spot`)).body.data.price;

  test('its bars begin with the first second, those of contracts and without seconds with the first minute', async () => {
    const open = exchangeInstant(session, 570);
    for (const [symbol, afterMs, price] of [
      ['SPY', 999, 499],
      ['MSFT', 30_000, 499],
    ] as const) {
      for (const tf of ['1m', '5m', '1h', '1d'])
        expect((await at(open + afterMs, () => sinceOpen(symbol, tf))).body.data, `${symbol} ${tf}`).toEqual([]);
      expect(await at(open + afterMs, () => spotOf(symbol))).toBe(price);
    }
    for (const tf of ['1m', '5m', '1h', '1d'])
      expect((await at(open + 1000, () => sinceOpen('SPY', tf))).body.data, tf).toMatchObject([
        { open: 500, close: 500.005, volume: 100 },
      ]);
    expect(await at(open + 30_000, () => spotOf('SPY'))).toBe(seconds.close[29]);
    expect((await at(open + 30_000, () => replay.get(optionBars('5m')))).body.data.bars).toEqual([]);
  });

  test('a second shows from the millisecond of its end on, and a minute is whole from that of its end on', async () => {
    const last = async (atMs: number) =>
      at(atMs, async () => {
        const bars = (await sinceOpen('SPY', '1m')).body.data;
        const options = await replay.get(optionBars('1m'));
        const slow = (await sinceOpen('MSFT', '1m')).body.data;
        return [bars.at(-1).ts_ms, bars.at(-1).close, slow.at(-1).ts_ms, options.body.data.bars.at(-1).ts_ms];
      });
    const [second, minute] = [72 * 60, 72];
    const before = minuteStart - 60_000;
    expect(await last(minuteStart + 999)).toEqual([before, minutes.close[minute - 1], before, before]);
    expect(await last(minuteStart + 1000)).toEqual([minuteStart, seconds.close[second], before, before]);
    expect(await last(minuteStart + 59_999)).toEqual([minuteStart, seconds.close[second + 58], before, before]);
    expect(await last(minuteStart + 60_000)).toEqual([minuteStart, minutes.close[minute], minuteStart, minuteStart]);
  });

  test('a live price shows once its second has ended', async () => {
    const close = exchangeInstant(session, 16 * 60);
    const price = async () => (await replay.get('/v2/quotes?symbols=SPY')).body.data[0].spot;
    expect(await at(close + 999, price)).toBe(minutes.close.at(-1));
    expect(await at(close + 1000, price)).toBe(777);
  });

  test('the price moves each second, and is the close of every bar in progress', async () => {
    for (let second = 0; second < 59; second++)
      await at(minuteStart + second * 1000 + 1500, async () => {
        const quote = (await replay.get('/v2/quotes?symbols=SPY')).body.data[0].spot;
        // A page has fewer seconds than the session so far.
        const lastOf = (tf: string) => sinceOpen('SPY', tf, tf === '1s' ? minuteStart - 1000 : session);
        const bars: number[] = [];
        for (const tf of lengths) bars.push((await lastOf(tf)).body.data.at(-1).close);
        expect([await spotOf('SPY'), ...bars]).toEqual(lengths.map(() => quote).concat(quote));
        expect(quote).toBe(seconds.close[72 * 60 + second]);
      });
  });

  test('a server by the real clock shows the minute in progress, as a live tape has it', async () => {
    const live = await testApp({ nowMs: minuteStart - 30_000, store: { ...cut.store, close: async () => {} } });
    const { body } = await live.get(`/v2/stocks/SPY/bars?from=${session}&to=2026-11-21`);
    expect(body.data.at(-1).ts_ms).toBe(minuteStart - 60_000);
    await live.close();
  });
});
