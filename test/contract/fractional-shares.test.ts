import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stockBars } from '../../src/cli/commands/export/exporters.ts';
import { timeframes } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { follow } from '../../src/intake/ingest/tail/follow.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { vendorFile } from '../support/tapes/tape-lines.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
 * Volumes of bars and quotes are whole shares in the contract, and brokers print fractions of one. In each of two
 * minutes 100.7 shares trade: 101 in a minute, 201 in whatever is longer.
 */
const session = '2026-11-16';
const at = (minute: number) => exchangeInstant(session, minute);
const prints = [601, 602].flatMap((minute) => [
  { minute, price: 600, size: 100 },
  { minute, price: 601, size: 0.7 },
]);
const volumes = { '1s': [101, 101], '1m': [101, 101], '5m': [201], '1h': [201], '1d': [201] };
const folder = temporaryFolder();

const ways: Record<string, (app: TestApp) => Promise<void>> = {
  async 'a live tape'(app) {
    const lines = prints.map(({ minute, price, size }, i) =>
      JSON.stringify({
        type: 'stock_print',
        symbol: 'SPY',
        exchange: 11,
        id: String(i + 1),
        sequence_number: i + 1,
        price,
        size,
        sip_timestamp: `${at(minute)}000000`,
      }),
    );
    await follow(app.store, Readable.from([Buffer.from(`${lines.join('\n')}\n`)]), {
      source: 'tape',
      fromStart: false,
      everyMs: 0,
      now: () => app.clock.nowMs,
      stop: new AbortController().signal,
      gammaSource: 'solve' as const,
      rate: 0.045,
      onBadLine: ({ reason }) => expect(reason).toBe(''),
    });
  },
  async 'a tape from a file'(app) {
    const lines = prints.map(
      ({ minute, price, size }, i) => `SPY,,0,11,${i + 1},${price},${i + 1},${at(minute)}000000,${size}`,
    );
    const head = 'ticker,conditions,correction,exchange,id,price,sequence_number,sip_timestamp,size';
    const path = vendorFile(folder(), 'stock-trades.csv', [head, ...lines]);
    const { files } = await ingestFiles(app.store, 'stock-trades', [path], { now: () => app.clock.nowMs });
    expect(files[0]).toMatchObject({ status: 'stored' });
  },
};

describe.each(Object.keys(ways))('fractions of shares of %s are served as whole shares', (way) => {
  let app: TestApp;
  let key: string;
  beforeAll(async () => {
    app = await testApp({ nowMs: at(610) });
    key = await app.key();
    await ways[way]!(app);
  });
  afterAll(() => app?.close());

  const path = (timeframe: string) => `/v2/stocks/SPY/bars?from=${session}&to=2026-11-17&timeframe=${timeframe}`;

  test.each(timeframes)('in %s bars: REST, CSV, protobuf, graph, export', async (timeframe) => {
    const wanted = volumes[timeframe];
    const { body } = await app.get(path(timeframe));
    expect(body.data.map((bar: Json) => bar.volume)).toEqual(wanted);
    // Money is that of the fractions too.
    if (timeframe === '1d') expect(body.data[0].vwap).toBeCloseTo((600 * 100 + 601 * 0.7) / 100.7, 9);
    const csv = await app.get(path(timeframe), { headers: { Accept: 'text/csv' } });
    const [head, ...rows] = csv.bytes.toString().trim().split(/\r?\n/);
    const column = head!.split(',').indexOf('volume');
    expect(rows.map((row) => Number(row.split(',')[column]))).toEqual(wanted);
    expect((await app.get(path(timeframe), { headers: { Accept: 'application/x-protobuf' } })).status).toBe(200);
    const query = `query ($timeframe: Timeframe!) { symbol(symbol: "SPY") {
      bars(from: "${session}", to: "2026-11-17", timeframe: $timeframe) { rows { volume } columns { volume } } } }`;
    const { data, errors } = await app.graphql(query, { timeframe }, { credential: key });
    expect(errors).toBeUndefined();
    expect(data.symbol.bars.rows.map((bar: Json) => bar.volume)).toEqual(wanted);
    expect(data.symbol.bars.columns.volume).toEqual(wanted);
    const exported: Json[] = [];
    const range = { symbol: 'SPY', timeframe, fromMs: at(0), toMs: at(1440) };
    for await (const row of stockBars.rows(app.store, range as never)) exported.push(row);
    expect(exported.map(({ volume }) => volume)).toEqual(wanted);
  });

  test('in quotes', async () => {
    expect((await app.get('/v2/quotes?symbols=SPY')).body.data[0].volume).toBe(201);
    const { data } = await app.graphql('{ quotes(symbols: ["SPY"]) { rows { volume } } }', {}, { credential: key });
    expect(data.quotes.rows[0].volume).toBe(201);
  });

  test('in streams', async () => {
    const { events, next, leave } = await readEvents(
      `${app.url}/v2/stream?topics=${encodeURIComponent('quotes:SPY,bars:SPY:1d')}`,
      { headers: { authorization: `Bearer ${key}` } },
    );
    const volumeOf = (name: string) => events.find(({ event }) => event === name)?.data.volume;
    while (volumeOf('bars') === undefined || volumeOf('quotes') === undefined) expect(await next()).not.toBeNull();
    leave();
    expect([volumeOf('quotes'), volumeOf('bars')]).toEqual([201, 201]);
  });
});
