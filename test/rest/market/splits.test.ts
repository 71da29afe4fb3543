// Splits are applied when prices are read: whatever compares two sessions compares the same shares.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dataset } from '../../../src/core/domain/dataset.ts';
import { toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type FileReport, ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { saveGexCapture } from '../../../src/store/gex/captures.ts';
import { writeBars } from '../../../src/store/market/bar-blocks.ts';
import { saveLiveQuotes } from '../../../src/store/market/live-quotes.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { tapegraph } from '../../cli/command-line.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { type EventReader, readEvents } from '../../support/event-reader.ts';
import { flatBar, storeDays, storeMinutes } from '../../support/market.ts';
import { gexCapture } from '../../support/option-market.ts';
import type { TestStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// NVDA's 10:1: 1,208.88 on Friday, 121.79 on Monday, its ex-date.
const [thursday, friday, monday] = ['2024-06-06', '2024-06-07', '2024-06-10'];
const nowMs = exchangeInstant(monday, 20 * 60 + 30);
const now = () => nowMs;
const folder = temporaryFolder();

async function ingest(store: TestStore, dataset: Dataset, ...lines: string[]): Promise<FileReport> {
  const path = join(folder(), `${dataset}.csv`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  const { files } = await ingestFiles(store, dataset, [path], { now });
  return files[0]!;
}
const split = (store: TestStore, ...lines: string[]) =>
  ingest(store, 'splits', 'symbol,ex_date,ratio,declared', ...lines);

let app: TestApp;
async function market(): Promise<TestApp> {
  const made = await testApp({ nowMs });
  await storeDays(made.store, 'NVDA', { [thursday]: 1210, [friday]: [1208.88, 4123], [monday]: [121.79, 30_001] });
  await storeDays(made.store, 'AAPL', { [friday]: 196.89, [monday]: 193.12 });
  await storeDays(made.store, 'XOM', { [friday]: 100, [monday]: 100 });
  const at = exchangeInstant(monday, 600);
  const rows = [{ strike: 120_000, expiry: '2024-06-21', gex: 5 }];
  // A source that gives the close as it was printed, and one that has divided it.
  await inTransaction(made.store, async (tx) => {
    await saveGexCapture(tx, gexCapture('NVDA', at, rows, { spot: 121, priorCloseSpot: 1208.88 }));
    await saveGexCapture(tx, gexCapture('NVDA', at + 300_000, rows, { spot: 121, priorCloseSpot: 120.888 }));
  });
  return made;
}

async function nextQuote(stream: EventReader): Promise<Json> {
  let said = await stream.next();
  while (said?.event !== 'quotes') said = await stream.next();
  return said.data;
}

/** Change of NVDA against its prior close, by endpoint. */
const endpoints: Record<string, () => Promise<{ change: number; close: number }>> = {
  'GET /v2/quotes': async () => {
    const row = (await app.get('/v2/quotes?symbols=NVDA')).body.data[0];
    return { change: row.change_pct, close: row.official_close };
  },
  'GET /v2/quotes as CSV': async () => {
    const { bytes } = await app.get('/v2/quotes?symbols=NVDA', { headers: { accept: 'text/csv' } });
    const [header, row] = bytes
      .toString()
      .trim()
      .split('\r\n')
      .map((line) => line.split(',')) as [string[], string[]];
    const value = (name: string) => Number(row[header.indexOf(name)]);
    return { change: value('change_pct'), close: value('official_close') };
  },
  'GET /v2/screener/movers': async () => {
    const row = (await app.get('/v2/screener/movers')).body.data.find(({ symbol }: Json) => symbol === 'NVDA');
    return { change: row.change_pct, close: row.official_close };
  },
  'the graph': async () => {
    const { data } = await app.graphql('{ symbol(symbol: "NVDA") { quote { changePct officialClose } } }');
    return { change: data.symbol.quote.changePct, close: data.symbol.quote.officialClose };
  },
  'an MCP tool': async () => {
    const params = { name: 'quotes', arguments: { symbols: 'NVDA' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const headers = { accept: 'application/json, text/event-stream' };
    const { result } = (await app.send('POST', '/mcp', { body, headers })).body;
    const row = result.structuredContent.data[0];
    return { change: row.change_pct, close: row.official_close };
  },
  'an event stream': async () => {
    const stream = await readEvents(`${app.url}/v2/stream?topics=quotes:NVDA`, {
      headers: { authorization: `Bearer ${await app.key()}` },
    });
    const { change_pct: change, official_close: close } = await nextQuote(stream);
    stream.leave();
    return { change, close };
  },
};

describe('without the dataset', () => {
  beforeAll(async () => {
    app = await market();
  });
  afterAll(() => app?.close());

  test.each(Object.keys(endpoints))('%s compares old shares with new ones', async (name) => {
    expect(await endpoints[name]!()).toEqual({ change: -89.9254, close: 1208.88 });
  });

  test('an open within 1 % of a whole fraction of the close is noted, at the quote and in meta', async () => {
    const note =
      'NVDA: the open of 2024-06-10, 121.79, after the close of 2024-06-07, 1208.88, looks like a split of 10:1; none is stored.';
    const quotes = await app.get('/v2/quotes?symbols=AAPL,NVDA');
    expect(quotes.body.meta.note).toBe(note);
    expect(Object.keys(quotes.body.data[0])).not.toContain('note');
    expect((await app.get('/v2/quotes?symbols=AAPL')).body.meta).not.toHaveProperty('note');
    expect((await app.get('/v2/screener/movers')).body.meta.note).toBe(note);
    const { data } = await app.graphql('{ quotes(symbols: ["AAPL", "NVDA"]) { rows { note } meta { note } } }');
    expect(data.quotes).toEqual({ rows: [{ note: null }, { note }], meta: { note } });
  });

  test('consolidations are noted too, other changes are not', async () => {
    const other = await testApp({ nowMs });
    await storeDays(other.store, 'AAPL', { [friday]: 2, [monday]: 16.1 });
    await storeDays(other.store, 'XOM', { [friday]: 100, [monday]: 98 });
    await storeDays(other.store, 'MSFT', { [friday]: 100, [monday]: 49.4 });
    const { body } = await other.get('/v2/quotes?symbols=AAPL,XOM,MSFT');
    await other.close();
    expect(body.meta.note).toContain('AAPL: the open of 2024-06-10, 16.1,');
    expect(body.meta.note).toContain('looks like a split of 1:8');
    expect(body.meta.note).not.toContain('XOM');
    expect(body.meta.note).not.toContain('MSFT');
  });
});

describe('with it', () => {
  beforeAll(async () => {
    app = await market();
  });
  afterAll(() => app?.close());

  test('it changes what was read before: answers, rankings, streams and tags', async () => {
    const tagOf = async () => (await app.get(`/v2/gex/NVDA/history?date=${monday}`)).body.data.captures;
    expect((await tagOf()).map((capture: Json) => capture.prior_close_spot)).toEqual([1208.88, 120.888]);
    expect(await endpoints['GET /v2/quotes']!()).toMatchObject({ change: -89.9254 });
    expect((await app.get('/v2/screener/movers')).body.data[0].symbol).toBe('NVDA');
    const stream = await readEvents(`${app.url}/v2/stream?topics=quotes:NVDA`, {
      headers: { authorization: `Bearer ${await app.key()}` },
    });
    expect((await nextQuote(stream)).change_pct).toBe(-89.9254);
    expect(await split(app.store, 'NVDA,2024-06-10,10:1,2024-05-22')).toMatchObject({ status: 'stored', changed: 1 });
    expect((await nextQuote(stream)).change_pct).toBe(0.7461);
    stream.leave();
    const movers = (await app.get('/v2/screener/movers')).body.data.map(({ symbol }: Json) => symbol);
    expect(movers.indexOf('NVDA')).toBeGreaterThan(movers.indexOf('AAPL'));
    expect((await tagOf()).map((capture: Json) => capture.prior_close_spot)).toEqual([120.888, 120.888]);
  });

  test.each(Object.keys(endpoints))('%s says +0.75 percent, not −89.93', async (name) => {
    const { change, close } = await endpoints[name]!();
    expect(change).toBe(0.7461);
    expect(close).toBeCloseTo(120.888, 9);
  });

  test('sector averages take it, and there is no note', async () => {
    const { body } = await app.get('/v2/screener/sectors');
    const technology = body.data.find(({ sector }: Json) => sector === 'Technology');
    expect(technology.avg_change_pct).toBeCloseTo((0.7461 + 100 * (193.12 / 196.89 - 1)) / 2, 3);
    expect((await app.get('/v2/quotes?symbols=NVDA')).body.meta).not.toHaveProperty('note');
  });

  test('the prior close of a live price is divided as well', async () => {
    const eventTsMs = nowMs - 1000;
    const quote = { symbol: 'NVDA', sessionDate: monday, spot: 122, eventTsMs, volume: 31_000, officialClose: null };
    await inTransaction(app.store, (tx) => saveLiveQuotes(tx, [quote]));
    const row = (await app.get('/v2/quotes?symbols=NVDA')).body.data[0];
    expect([row.spot, row.change_pct]).toEqual([122, Number((100 * (122 / 120.888 - 1)).toFixed(4))]);
    await app.store.pool.query('DELETE FROM live_quotes');
  });

  test('a grid shows its prior close in shares of its session', async () => {
    const at = `${exchangeInstant(monday, 601)}`;
    const { body } = await app.get(`/v2/gex/NVDA/grid?at=${at}`);
    expect(body.data.prior_close_spot).toBeCloseTo(120.888, 9);
  });

  const bars = (query: string, accept = 'application/json') =>
    app.get(`/v2/stocks/NVDA/bars?from=${thursday}&to=2024-06-11&timeframe=1d${query}`, { headers: { accept } });

  test('bars are as printed, and say which split lies in their range', async () => {
    for (const query of ['', '&adjusted=false', '&adjusted=0']) {
      const { body } = await bars(query);
      expect(body.data.map((bar: Json) => [bar.close, bar.volume])).toEqual([
        [1210, 1000],
        [1208.88, 4123],
        [121.79, 30_001],
      ]);
      expect(body.meta).toMatchObject({ adjusted: false, splits: [{ ex_date: monday, ratio: 10 }] });
    }
    const before = await app.get(`/v2/stocks/NVDA/bars?from=${thursday}&to=${monday}&timeframe=1d`);
    expect(before.body.meta).not.toHaveProperty('splits');
    expect(before.body.meta).not.toHaveProperty('adjusted');
    expect((await bars('&adjusted=yes')).body.error).toMatchObject({ code: 'invalid_params' });
  });

  test('adjusted bars are in shares of now, in every medium', async () => {
    const json = await bars('&adjusted=true');
    expect(json.body.data.map((bar: Json) => [bar.open, bar.high, bar.low, bar.close, bar.volume])).toEqual([
      [121, 121, 121, 121, 10_000],
      [120.888, 120.888, 120.888, 120.888, 41_230],
      [121.79, 121.79, 121.79, 121.79, 30_001],
    ]);
    expect(json.body.meta).toMatchObject({ adjusted: true, splits: [{ ex_date: monday, ratio: 10 }] });
    const csv = (await bars('&adjusted=true', 'text/csv')).bytes.toString();
    expect(csv).toContain('120.888');
    expect(csv).not.toContain('1208.88');
    const proto = fileURLToPath(new URL('../../../proto/rest-protocol.proto', import.meta.url));
    const { root } = protobuf.parse(readFileSync(proto, 'utf8'));
    const type = root.lookupType('BarsResponse');
    const { bytes, headers } = await bars('&adjusted=true', 'application/x-protobuf');
    const decoded = type.toObject(type.decode(bytes), { longs: Number });
    expect(decoded.bars.map((bar: Json) => bar.c / decoded.priceScale)).toEqual([121, 120.888, 121.79]);
    expect(JSON.parse(String(headers['x-itm-extra']))).toMatchObject({ adjusted: true });
    const arrow = await bars('&adjusted=true', 'application/vnd.apache.arrow.stream');
    const { tableFromIPC } = await import('apache-arrow');
    expect([...tableFromIPC(arrow.bytes).getChild('close')!]).toEqual([121, 120.888, 121.79]);
    const { data } = await app.graphql(
      `{ symbol(symbol: "NVDA") { bars(from: "${thursday}", to: "2024-06-11", timeframe: "1d", adjust: split) {
        columns { close } meta { adjusted splits { exDate ratio declared } } } } }`,
    );
    expect(data?.symbol.bars ?? data).toMatchObject({
      columns: { close: [121, 120.888, 121.79] },
      meta: { adjusted: true, splits: [{ exDate: monday, ratio: 10, declared: '2024-05-22' }] },
    });
  });

  test('pages of adjusted bars go on adjusted, and a cursor of others is refused', async () => {
    const first = (await bars('&adjusted=true&limit=1')).body;
    const second = (await bars(`&adjusted=true&limit=1&cursor=${first.meta.cursor}`)).body;
    expect([...first.data, ...second.data].map((bar: Json) => bar.close)).toEqual([121, 120.888]);
    expect((await bars(`&limit=1&cursor=${first.meta.cursor}`)).status).toBe(400);
  });

  test('minutes of the ex-date stay as they are, those before are divided', async () => {
    await storeMinutes(app.store, 'NVDA', friday, [1200, 1205]);
    await storeMinutes(app.store, 'NVDA', monday, [120, 121]);
    const { body } = await app.get(`/v2/stocks/NVDA/bars?from=${friday}&to=2024-06-11&timeframe=1m&adjusted=true`);
    expect(body.data.map((bar: Json) => [bar.close, bar.volume])).toEqual([
      [120, 1000],
      [120.5, 1000],
      [120, 100],
      [121, 100],
    ]);
  });

  test('the evening before an ex-date is of its session: in shares after the split', async () => {
    const evening = flatBar(exchangeInstant(monday, -180), 122, 100);
    await inTransaction(app.store, (tx) => writeBars(tx, '1m', [{ symbol: 'NVDA', bars: toBarColumns([evening]) }]));
    const from = exchangeInstant(monday, -240);
    const { body } = await app.get(
      `/v2/stocks/NVDA/bars?from=${from}&to=${from + 7_200_000}&timeframe=1m&adjusted=true`,
    );
    expect(body.data).toMatchObject([{ ts_ms: evening.tsMs, close: 122, volume: 100 }]);
  });

  test('the graph lists splits that are known, those to come once they are declared', async () => {
    await split(app.store, 'AAPL,2024-07-01,4:1,2024-06-03', 'AAPL,2024-08-01,2:1,2024-06-20', 'AAPL,2024-09-03,3:1,');
    const { data } = await app.graphql('{ symbol(symbol: "AAPL") { splits { exDate ratio declared } } }');
    expect(data.symbol.splits).toEqual([{ exDate: '2024-07-01', ratio: 4, declared: '2024-06-03' }]);
    const free = { credential: await app.key({ apiTier: 'free' }) };
    const { errors } = await app.graphql('{ symbol(symbol: "NVDA") { splits { exDate } } }', {}, free);
    expect(errors![0].extensions.code).toBe('not_entitled_tier');
  });

  test('bad lines are named, a repeated file is unchanged, and what is exported is ingested', async () => {
    const { status, badLines } = await split(
      app.store,
      'NV DIA1,2024-06-10,10:1,',
      'NVDA,2024-06-09,10:1,',
      'NVDA,2024-06-10,1:1,',
      'NVDA,2024-06-10,0,',
      'NVDA,2024-06-10,ten,',
      'NVDA,2024-06-10,10:1,2024-06-11',
      'NVDA,2024-06-10,10:1,',
      'NVDA,2024-06-10,5:1,',
    );
    expect(status).toBe('refused');
    expect(badLines.map(({ line, reason }) => `${line} ${reason}`)).toEqual([
      '2 symbol: expected a ticker such as SPY or BRK.B, got "NV DIA1"',
      '3 ex_date: expected a trading day, got "2024-06-09"',
      '4 ratio: expected new shares for old, such as 10:1, got "1:1"',
      '5 ratio: expected new shares for old, such as 10:1, got "0"',
      '6 ratio: expected new shares for old, such as 10:1, got "ten"',
      '7 declared: 2024-06-11 is after ex_date, 2024-06-10',
      '9 NVDA 2024-06-10: line 8 says something else',
    ]);
    const env = { DATABASE_URL: app.store.databaseUrl };
    const { stdout } = await tapegraph(['export', 'splits', '--symbol', 'NVDA'], env, { now });
    expect(stdout).toBe('symbol,ex_date,ratio,declared\nNVDA,2024-06-10,10,2024-05-22\n');
    expect((await ingest(app.store, 'splits', stdout.trim())).status).toBe('unchanged');
  });
});

test('off exchange, prices of earlier sessions enter the concentration in shares of its own', async () => {
  app = await market();
  const header =
    'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,sip_timestamp,size,tape,trf_id,trf_timestamp';
  const prints = (date: string, price: number, size: number) =>
    [1, 2, 3].map((i) => {
      const stamp = `${exchangeInstant(date, 600) + i * 1000}000000`;
      return `NVDA,,0,4,${i},${stamp},${price},${i},${stamp},${size},3,202,`;
    });
  for (const [date, price, size] of [
    [friday, 1210, 10],
    [monday, 121, 100],
  ] as const)
    expect(await ingest(app.store, 'stock-trades', header, ...prints(date, price, size))).toMatchObject({
      status: 'stored',
    });
  const concentration = async () =>
    (await app.get(`/v2/offexchange/NVDA/concentration?from=${monday}&to=${monday}`)).body.data;
  // Off exchange, a session is served from the next one on.
  app.clock.nowMs = exchangeInstant('2024-06-11', 720);
  expect(await concentration()).toEqual([]);
  await split(app.store, 'NVDA,2024-06-10,10:1,');
  expect(await concentration()).toMatchObject([
    { distinct_sessions: 2, trade_count: 6, volume: 600, notional: 3 * 1210 * 10 + 3 * 121 * 100 },
  ]);
  // A corrected ratio moves it again.
  await split(app.store, 'NVDA,2024-06-10,5:1,');
  expect(await concentration()).toEqual([]);
  await app.close();
});
