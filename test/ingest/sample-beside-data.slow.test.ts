// Simulated prices never stand beside real ones unmarked, at any endpoint.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../src/domain/market-time.ts';
import { ensureStarterRegistry } from '../../src/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../src/ingest/ingest.ts';
import { runSampleMarket } from '../../src/ingest/sample/live.ts';
import { ensureSampleMarket } from '../../src/ingest/sample/sample-market.ts';
import { follow } from '../../src/ingest/tail/follow.ts';
import { originsOf } from '../../src/store/market/session-origins.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { keepSample, removeSample, sampleKept, sampleSetAside, storedSample } from '../../src/store/sample-data.ts';
import { tapegraph } from '../cli/command-line.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { filledStores, storeForThisTest, type TestStore } from '../support/store.ts';
import { contentsOf, type Omitted } from '../support/store-contents.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { talk } from '../support/web-socket.ts';

const tape = { optionPrints: 800, plants: 12, stockPrints: 200, symbols: ['SPX', 'SPY', 'TSLA'] };
const shape = { barSessions: 2, chainSessions: 2, historySessions: 2, captureEveryMinutes: 130, tapeSessions: 1, tape };
const folder = temporaryFolder();
const [session, before] = ['2026-11-24', '2026-11-23'];
const nowMs = exchangeInstant('2026-11-25', 0);
const now = () => nowMs;

const bring = (store: Store) => ensureSampleMarket(store, { dataDir: folder(), now, shape });

const sampleStore = filledStores(async (store) => {
  await ensureStarterRegistry(store, now);
  expect(await bring(store)).toBe('created');
});

/** A store with the sample market, gone when the test ends. */
async function sampledStore(): Promise<TestStore> {
  const store = await sampleStore();
  onTestFinished(() => store.close());
  return store;
}

/** A file of minute bars of a symbol, in the session of which the sample market has tapes. */
function barsOf(symbol: string, close = 250): string {
  const path = join(folder(), `${symbol}-${close}.csv`);
  const lines = [600, 601].map(
    (minute) => `${symbol},100,${close},${close},${close},${close},${exchangeInstant(session, minute)}000000,3`,
  );
  writeFileSync(path, `ticker,volume,open,close,high,low,window_start,transactions\n${lines.join('\n')}\n`);
  return path;
}

async function ingestBars(store: TestStore, symbol: string, close?: number): Promise<string[]> {
  const { files } = await ingestFiles(store, 'stock-minute-bars', [barsOf(symbol, close)], { now });
  expect(files[0]).toMatchObject({ status: 'stored' });
  return files[0]!.notes;
}

/** Answer of an endpoint for a symbol: whether there is data, and the note about simulated data. */
interface Given {
  hasData: boolean;
  note: string | null;
}
type Endpoint = (app: TestApp, symbol: string) => Promise<Given>;

const isFull = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(isFull);
  if (value !== null && typeof value === 'object')
    return Object.entries(value).some(([name, inner]) => !namesOnly.has(name) && isFull(inner));
  return value !== null && value !== undefined && value !== 0 && value !== false;
};
/** Keys that answers also have for a symbol without data. */
const namesOnly = new Set(['symbol', 'underlying', 'basis', 'session_date', 'max_abs_gex', 'max_abs_gex_shares']);

const rest =
  (path: (symbol: string) => string, of: (body: Json, symbol: string) => Json = (body) => body.data): Endpoint =>
  async (app, symbol) => {
    const { status, body } = await app.get(path(symbol));
    expect([200, 404], path(symbol)).toContain(status);
    return { hasData: status === 200 && isFull(of(body, symbol)), note: body.meta?.note ?? null };
  };
const ofRows = (body: Json, symbol: string) =>
  body.data.filter((row: Json) => row.symbol === symbol && row.spot !== null);
const tabular =
  (accept: string): Endpoint =>
  async (app, symbol) => {
    const path = `/v2/stocks/${symbol}/bars?from=${session}&to=2026-11-25&timeframe=1m`;
    const { headers, bytes } = await app.get(path, { headers: { accept } });
    const extra = JSON.parse(String(headers['x-itm-extra']));
    return { hasData: bytes.length > 120, note: extra.note ?? null };
  };

const endpoints: Record<string, Endpoint> = {
  quotes: rest((symbol) => `/v2/quotes?symbols=${symbol}`, ofRows),
  spot: rest(
    (symbol) => `/v2/symbols/${symbol}/spot`,
    (body) => body.data.price,
  ),
  bars: rest((symbol) => `/v2/stocks/${symbol}/bars?from=${before}&to=2026-11-25&timeframe=1m`),
  'daily bars': rest((symbol) => `/v2/stocks/${symbol}/bars?from=2026-11-01&to=2026-11-25&timeframe=1d`),
  'gex history': rest((symbol) => `/v2/gex/${symbol}/history?date=${session}`),
  'gex grid': rest(
    (symbol) => `/v2/gex/${symbol}/grid`,
    (body) => body.data.strikes,
  ),
  chain: rest(
    (symbol) => `/v2/chain/${symbol}`,
    (body) => body.data.rows,
  ),
  'large trades': rest((symbol) => `/v2/flow/large-trades?symbol=${symbol}&session=${session}`),
  'all large trades': rest(
    () => `/v2/flow/large-trades?session=${session}&min_premium_usd=1`,
    (body, symbol) => body.data.events.filter((row: Json) => row.symbol === symbol),
  ),
  'cross-section': rest(
    (symbol) => `/v2/flow/${symbol}/cross-section?session=${session}`,
    (body) => body.data.snapshot?.update,
  ),
  'end-of-day prints': rest(
    () => `/v2/flow/eod?session=${session}&min_premium_usd=1`,
    (body, symbol) => body.data.prints.filter((row: Json) => row.underlying === symbol),
  ),
  movers: rest(() => '/v2/screener/movers?limit=180', ofRows),
  'off-exchange': rest((symbol) => `/v2/offexchange/${symbol}/activity?from=${before}&to=${session}`),
  volatility: rest(
    (symbol) => `/v2/options/${symbol}/vol/term`,
    (body) => body.data.expiries,
  ),
  CSV: tabular('text/csv'),
  protobuf: tabular('application/x-protobuf'),
  async graph(app, symbol) {
    const { data, extensions } = await app.graphql(
      `{ symbol(symbol: "${symbol}") { quote { spot } gex { latest { netGex } } sessions { sessionDate origin } } }`,
    );
    const { quote, gex, sessions } = data.symbol;
    return { hasData: isFull([quote?.spot, gex.latest?.netGex, sessions]), note: extensions.note ?? null };
  },
  async subscription(app, symbol) {
    const reader = await readEvents(`${app.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await app.key(pro)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: `subscription { quotes(symbols: ["${symbol}"]) { symbol spot } }` }),
    });
    const { data } = (await reader.next())!;
    reader.leave();
    return { hasData: data.data.quotes.spot !== null, note: data.extensions?.note ?? null };
  },
  async stream(app, symbol) {
    const reader = await readEvents(`${app.url}/v2/stream?topics=quotes:${symbol}`, {
      headers: { authorization: `Bearer ${await app.key(pro)}` },
    });
    const [ready, quote] = [(await reader.next())!, (await reader.next())!];
    reader.leave();
    return { hasData: quote.data.spot !== null, note: ready.data.note ?? null };
  },
  async channel(app, symbol) {
    const { body } = await app.send('POST', '/v2/stream/ticket', { credential: await app.key(pro) });
    const talking = talk(`${app.url}/v2/ws`);
    await talking.open;
    talking.send({ op: 'auth', ticket: body.data.ticket, proto: 3, encoding: 'protobuf' });
    talking.send({ op: 'sub', id: 1, topic: 'gex', symbol });
    await expect.poll(() => talking.said.at(-1)?.op).toBe('ack');
    const { note = null } = talking.said.at(-1).effective;
    talking.send({ op: 'ping', t: 1 });
    await expect.poll(() => talking.said.at(-1)?.op).toBe('pong');
    const hasData = talking.bytes.length > 0;
    talking.socket.terminate();
    return { hasData, note };
  },
  async tools(app, symbol) {
    const { body } = await mcp(app, 'quotes', { symbols: symbol });
    return { hasData: isFull(ofRows(body, symbol)), note: body.meta.note ?? null };
  },
  async 'graph as a tool'(app, symbol) {
    const { body } = await mcp(app, 'graphql', { query: `{ symbol(symbol: "${symbol}") { quote { spot } } }` });
    return { hasData: isFull(body.data.symbol.quote.spot), note: body.note ?? null };
  },
  async export({ store }, symbol) {
    const args = ['export', 'stock-bars', '--symbol', symbol, '--timeframe', '1d'];
    const { stdout, stderr } = await tapegraph(args, { DATABASE_URL: store.databaseUrl });
    return { hasData: stdout.trim().split('\n').length > 1, note: stderr.trim() || null };
  },
};

const pro = { apiTier: 'pro', classification: 'non_professional' } as const;

async function mcp(app: TestApp, name: string, args: object): Promise<{ body: Json }> {
  const { body } = await app.send('POST', '/mcp', {
    headers: { accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  });
  return { body: JSON.parse(body.result.content[0].text) };
}

const banner = async (app: TestApp) =>
  /<aside class="market-note"[^>]*>(.*?)<\/aside>/s.exec(
    (await app.get('/', { headers: { accept: 'text/html' }, credential: null })).bytes.toString(),
  )?.[1] ?? null;

/** Answers of all endpoints for a symbol. */
async function given(app: TestApp, symbol: string): Promise<Record<string, Given>> {
  const found: Record<string, Given> = {};
  for (const [name, ask] of Object.entries(endpoints)) {
    const { hasData, note } = await ask(app, symbol);
    // Other notes say why there is no data.
    found[name] = { hasData, note: /Simulated data of the sample market: .+/.exec(note ?? '')?.[0] ?? null };
  }
  return found;
}
const alike = (value: Given | object) => Object.fromEntries(Object.keys(endpoints).map((name) => [name, value]));

describe('a sample market', () => {
  let store: TestStore;
  let app: TestApp;
  beforeAll(async () => {
    store = await sampleStore();
    app = await testApp({ store, nowMs, symbols: [] });
  }, 240_000);
  afterAll(() => app.close());
  let sampleContents: Record<string, string[]>;

  test('that is alone is served at every endpoint, and its sessions are of the sample', async () => {
    expect(await given(app, 'SPY')).toEqual(alike({ hasData: true, note: null }));
    const { data } = await app.graphql('{ symbol(symbol: "SPY") { sessions(last: 3) { sessionDate origin } } }');
    expect(data.symbol.sessions.slice(0, 2)).toEqual([
      { sessionDate: session, origin: 'sample' },
      { sessionDate: before, origin: 'sample' },
    ]);
    sampleContents = await contentsOf(store, records);
  });

  test('is served nowhere from the moment other data is stored', async () => {
    // In the caches.
    await given(app, 'SPY');
    expect(await ingestBars(store, 'IBM')).toContain(sampleSetAside);
    expect(await given(app, 'SPY')).toEqual(alike({ hasData: false, note: null }));
    expect(await banner(app)).toBeNull();
    const ibm = await endpoints.bars!(app, 'IBM');
    expect(ibm).toEqual({ hasData: true, note: null });
    expect(await bring(store)).toBe('absent');
    expect((await storedSample(store.primary)).served).toEqual([]);
  });

  test('is served as it was, and marked at every endpoint, once it is kept', async () => {
    expect(await keepSample(store)).toContain('SPY');
    const found = await given(app, 'SPY');
    expect(found).toEqual(alike({ hasData: true, note: expect.any(String) }));
    expect(found.bars!.note).toContain('Simulated data of the sample market: SPY.');
    expect(await banner(app)).toMatch(/Simulated data.* AAPL, /s);
    expect(await endpoints.bars!(app, 'IBM')).toEqual({ hasData: true, note: null });
    const contents = await contentsOf(store, records);
    // Its rates and roots are of no symbol: other data is not priced with them.
    const kept: typeof sampleContents = { ...sampleContents, rates: [], option_roots: [] };
    for (const [table, rows] of Object.entries(kept))
      expect(
        contents[table]!.filter((row) => !row.includes('"IBM"')),
        table,
      ).toEqual(rows.filter((row) => !row.includes('"IBM"')));
  });

  test('gives way to other data of one of its symbols', async () => {
    expect((await ingestBars(store, 'SPY')).join()).toContain('data of SPY is not served any more');
    const found = await given(app, 'SPY');
    expect(found.bars).toEqual({ hasData: true, note: null });
    expect(found['gex history']).toEqual({ hasData: false, note: null });
    const { body } = await app.get(`/v2/stocks/SPY/bars?from=${before}&to=2026-11-25&timeframe=1m`);
    expect(body.data.map(({ close }: Json) => close)).toEqual([250, 250]);
    expect(await endpoints['gex history']!(app, 'QQQ')).toMatchObject({ hasData: true, note: expect.any(String) });
  });

  test('is gone after it is removed, and other data is as if it had never been there', async () => {
    const { stdout } = await tapegraph(['sample', 'remove', '--yes'], { DATABASE_URL: store.databaseUrl });
    expect(stdout).toMatch(/bar_blocks +\d+/);
    // The server is notified of what another process did.
    await expect.poll(() => given(app, 'QQQ'), { timeout: 20_000 }).toEqual(alike({ hasData: false, note: null }));
    expect(await banner(app)).toBeNull();
    const other = await storeForThisTest();
    await ensureStarterRegistry(other, now);
    await ingestBars(other, 'IBM');
    await ingestBars(other, 'SPY');
    expect(await contentsOf(store, records)).toEqual(await contentsOf(other, records));
    const again = await tapegraph(['sample', 'remove'], { DATABASE_URL: store.databaseUrl });
    expect(again).toMatchObject({ code: 0, stdout: 'Nothing of the sample market is stored.\n' });
  });
});

// The store's own records, and those of accounts.
const records: Omitted = {
  tables: ['accounts', 'api_keys', 'usage_counts', 'ingested_files', 'stream_tickets'],
  columns: { symbols: ['name'] },
};

describe('beginning to store other data', () => {
  const line = (symbol: string, atMs: number) =>
    `{"type":"stock_print","symbol":"${symbol}","exchange":4,"id":"7","price":14.05,"size":100,"sip_timestamp":"${atMs}000000","sequence_number":8801}\n`;
  const followed = (store: TestStore, symbols: readonly string[], notes: string[]) => {
    const atMs = exchangeInstant('2026-11-24', 15 * 60);
    async function* lines() {
      for (const symbol of symbols) yield Buffer.from(line(symbol, atMs));
    }
    return follow(store, lines(), {
      ...{ source: 'own', fromStart: true, everyMs: 100, now, stop: new AbortController().signal },
      ...{ gammaSource: 'solve', rate: 0.04, onBadLine: () => {}, onNote: (note) => notes.push(note) },
    });
  };

  test('by a live tape sets the sample market aside, and its sessions are live', async () => {
    const store = await sampledStore();
    const notes: string[] = [];
    await followed(store, ['BAC'], notes);
    expect(notes).toEqual([sampleSetAside]);
    expect((await storedSample(store.primary)).served).toEqual([]);
    const sessions = [
      { symbol: 'BAC', sessionDate: session },
      { symbol: 'BAC', sessionDate: before },
    ];
    expect(await originsOf(store, sessions)).toEqual(['live', 'file']);
    await ingestBars(store, 'BAC');
    expect(await originsOf(store, sessions)).toEqual(['file', 'file']);
  });

  test('by a live tape takes the place of its symbols alone if it is kept', async () => {
    const store = await sampledStore();
    await keepSample(store);
    const notes: string[] = [];
    await followed(store, ['BAC', 'IBM'], notes);
    expect(notes).toEqual([sampleKept, expect.stringContaining('data of BAC is not served')]);
    const { served } = await storedSample(store.primary);
    expect(served).toContain('SPY');
    expect(served).not.toContain('BAC');
    const bars = await store.prisma.barBlock.findMany({ where: { symbol: 'BAC', timeframe: '1d' } });
    expect(bars.map(({ count }) => count)).toEqual([1]);
  });

  test('while the sample market is loaded ends its loading: nothing of it is stored any more', async () => {
    const store = await storeForThisTest();
    await ensureStarterRegistry(store, now);
    let isBegun = false;
    const result = await ensureSampleMarket(store, {
      ...{ dataDir: folder(), now, shape, isShown: true },
      async onProgress({ fraction }) {
        if (isBegun || fraction < 0.2) return;
        isBegun = true;
        await ingestBars(store, 'IBM');
      },
    });
    expect([isBegun, result]).toEqual([true, 'absent']);
    const rows = await store.prisma.barBlock.findMany({ select: { symbol: true }, distinct: ['symbol'] });
    expect(rows).toEqual([{ symbol: 'IBM' }]);
    expect(await store.prisma.flowEvent.count()).toBe(0);
  });

  test('while the sample market trades ends its trading', async () => {
    const store = await storeForThisTest();
    const openMs = exchangeInstant('2026-11-24', 9 * 60 + 35);
    const clock = () => openMs;
    await ensureStarterRegistry(store, clock);
    const stop = new AbortController();
    const trading = runSampleMarket(store, {
      ...{ dataDir: folder(), now: clock, shape, stop: stop.signal, onEvent: () => {} },
      whileOpen: true,
    });
    await expect.poll(() => store.prisma.liveQuote.count(), { timeout: 30_000 }).toBeGreaterThan(0);
    const { files } = await ingestFiles(store, 'stock-minute-bars', [barsOf('IBM')], { now });
    expect(files[0]).toMatchObject({ status: 'stored' });
    expect(await store.prisma.liveQuote.count()).toBe(0);
    stop.abort();
    await trading;
    expect(await store.prisma.liveQuote.count()).toBe(0);
  });

  test('does not set it aside when the file is refused', async () => {
    const store = await sampledStore();
    const path = join(folder(), 'bad.csv');
    writeFileSync(path, 'ticker,volume,open,close,high,low,window_start,transactions\nIBM,x,1,1,1,1,1,1\n');
    const { files } = await ingestFiles(store, 'stock-minute-bars', [path], { now });
    expect(files[0]).toMatchObject({ status: 'refused' });
    expect((await storedSample(store.primary)).aside).toBe(0);
    expect((await storedSample(store.primary)).served).toContain('SPY');
  });

  test('leaves what is removed out of a store that holds the sample market alone', async () => {
    const store = await sampledStore();
    await inTransaction(store, removeSample);
    const contents = await contentsOf(store, { ...records, tables: [...records.tables!, 'symbols'] });
    expect(Object.entries(contents).filter(([, rows]) => rows.length > 0)).toEqual([]);
  });
});
