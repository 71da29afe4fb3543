// A store is of the sample market or of its operator: nothing that is served mixes the two.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Dataset } from '../../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../../src/intake/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../src/intake/ingest/options/reconcile.ts';
import { reconcileStocks } from '../../../src/intake/ingest/reconcile-stocks.ts';
import { runSampleMarket } from '../../../src/intake/ingest/sample/live.ts';
import { ensureSampleMarket } from '../../../src/intake/ingest/sample/sample-market.ts';
import { missingSample, sampleMetadata, writeSampleMetadata } from '../../../src/intake/ingest/sample-metadata.ts';
import { follow } from '../../../src/intake/ingest/tail/follow.ts';
import { sampleShape } from '../../../src/intake/sample/market/plan.ts';
import { originsOf, storeOrigin } from '../../../src/store/market/session-origins.ts';
import { marketModels } from '../../../src/store/market-models.ts';
import { removeSample, sampleReplaced } from '../../../src/store/origin.ts';
import type { Store } from '../../../src/store/rows/connection.ts';
import { allModels } from '../../../src/store/rows/models/model-tables.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { fileSessions, type VendorFiles, writeVendorFiles } from '../../citus/vendor-files.ts';
import { tapegraph } from '../../cli/command-line.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { chainServer, tagged } from '../../support/chain-server.ts';
import { readEvents } from '../../support/event-reader.ts';
import { filledStores, storeForThisTest, type TestStore } from '../../support/store.ts';
import { contentsOf, type Omitted } from '../../support/store-contents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { talk } from '../../support/web-socket.ts';

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

/** True if an endpoint has data of a symbol. */
type Endpoint = (app: TestApp, symbol: string) => Promise<boolean>;

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
    return status === 200 && isFull(of(body, symbol));
  };
const ofRows = (body: Json, symbol: string) =>
  body.data.filter((row: Json) => row.symbol === symbol && row.spot !== null);
const tabular =
  (accept: string): Endpoint =>
  async (app, symbol) => {
    const path = `/v2/stocks/${symbol}/bars?from=${session}&to=2026-11-25&timeframe=1m`;
    return (await app.get(path, { headers: { accept } })).bytes.length > 120;
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
    const { data } = await app.graphql(
      `{ symbol(symbol: "${symbol}") { quote { spot } gex { latest { netGex } } sessions { sessionDate origin } } }`,
    );
    const { quote, gex, sessions } = data.symbol;
    return isFull([quote?.spot, gex.latest?.netGex, sessions]);
  },
  async subscription(app, symbol) {
    const reader = await readEvents(`${app.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await app.key(pro)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: `subscription { quotes(symbols: ["${symbol}"]) { symbol spot } }` }),
    });
    const { data } = (await reader.next())!;
    reader.leave();
    return data.data.quotes.spot !== null;
  },
  async stream(app, symbol) {
    const reader = await readEvents(`${app.url}/v2/stream?topics=quotes:${symbol}`, {
      headers: { authorization: `Bearer ${await app.key(pro)}` },
    });
    await reader.next();
    const quote = (await reader.next())!;
    reader.leave();
    return quote.data.spot !== null;
  },
  async channel(app, symbol) {
    const { body } = await app.send('POST', '/v2/stream/ticket', { credential: await app.key(pro) });
    const talking = talk(`${app.url}/v2/ws`);
    await talking.open;
    talking.send({ op: 'auth', ticket: body.data.ticket, proto: 3, encoding: 'protobuf' });
    talking.send({ op: 'sub', id: 1, topic: 'gex', symbol });
    await expect.poll(() => talking.said.at(-1)?.op).toBe('ack');
    talking.send({ op: 'ping', t: 1 });
    await expect.poll(() => talking.said.at(-1)?.op).toBe('pong');
    const hasData = talking.bytes.length > 0;
    talking.socket.terminate();
    return hasData;
  },
  async tools(app, symbol) {
    const { body } = await mcp(app, 'quotes', { symbols: symbol });
    return isFull(ofRows(body, symbol));
  },
  async 'graph as a tool'(app, symbol) {
    const { body } = await mcp(app, 'graphql', { query: `{ symbol(symbol: "${symbol}") { quote { spot } } }` });
    return isFull(body.data.symbol.quote.spot);
  },
  async export({ store }, symbol) {
    const args = ['export', 'stock-bars', '--symbol', symbol, '--timeframe', '1d'];
    const { stdout } = await tapegraph(args, { DATABASE_URL: store.databaseUrl });
    return stdout.trim().split('\n').length > 1;
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

/** The endpoints that have data of a symbol. */
async function given(app: TestApp, symbol: string): Promise<string[]> {
  const found: string[] = [];
  for (const [name, ask] of Object.entries(endpoints)) if (await ask(app, symbol)) found.push(name);
  return found;
}

// Tickers of files enter the registry's directory, those of the sample market too.
const ofAccounts = ['accounts', 'api_keys', 'usage_counts', 'stream_tickets'];
const market: Omitted = {
  tables: [...ofAccounts, 'symbols', 'ingested_files'],
  columns: { flow_coverage: ['registry_version'] },
};

/** Contents of a store, and the other tables of the market, which `contentsOf` leaves out. */
async function everything(store: TestStore): Promise<Record<string, string[]>> {
  const { rows } = await store.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_name ~ '^superseded_'`,
  );
  const superseded = rows.map(({ name }) => name).filter((name) => name !== 'superseded_symbols');
  const contents = await contentsOf(store, market);
  const hash = (bytes: string) => createHash('sha256').update(bytes).digest('hex').slice(0, 8);
  for (const [name, found] of Object.entries(contents))
    contents[name] = found.map((row) => row.replace(/\\\\x[0-9a-f]{16,}/g, hash));
  for (const name of [...superseded, 'generations', 'generation_runs']) {
    const { rows: counted } = await store.pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${name}`);
    contents[name] = [String(counted[0]!.count)];
  }
  const { rows: files } = await store.pool.query<{ name: string }>('SELECT name FROM ingested_files ORDER BY name');
  return { ...contents, ingested_files: files.map(({ name }) => name) };
}

describe('a sample market', () => {
  let store: TestStore;
  let app: TestApp;
  beforeAll(async () => {
    store = await sampleStore();
    app = await testApp({ store, nowMs, symbols: [] });
  }, 240_000);
  afterAll(() => app.close());

  test('is served at every endpoint, and all its sessions are of the sample', async () => {
    expect(await given(app, 'SPY')).toEqual(Object.keys(endpoints));
    const { data } = await app.graphql('{ symbol(symbol: "SPY") { sessions(last: 3) { sessionDate origin } } }');
    expect(data.symbol.sessions.slice(0, 2)).toEqual([
      { sessionDate: session, origin: 'sample' },
      { sessionDate: before, origin: 'sample' },
    ]);
  });

  test('is served nowhere from the moment other data is stored, which is as if it had never been there', async () => {
    // In the caches.
    await given(app, 'SPY');
    expect(await ingestBars(store, 'IBM')).toContain(sampleReplaced);
    expect(await given(app, 'SPY')).toEqual([]);
    expect(await banner(app)).toBeNull();
    expect(await endpoints.bars!(app, 'IBM')).toBe(true);
    expect(await bring(store)).toBe('absent');
    const other = await storeForThisTest();
    await ensureStarterRegistry(other, now);
    await ingestBars(other, 'IBM');
    expect(await everything(store)).toEqual(await everything(other));
  });

  test('is not in the way of other data of its symbols', async () => {
    expect(await ingestBars(store, 'SPY')).toEqual([]);
    const { body } = await app.get(`/v2/stocks/SPY/bars?from=${before}&to=2026-11-25&timeframe=1m`);
    expect(body.data.map(({ close }: Json) => close)).toEqual([250, 250]);
    expect(await endpoints['gex history']!(app, 'SPY')).toBe(false);
  });

  test('is gone for every server once it is removed by another process', async () => {
    const sampled = await sampledStore();
    const server = await testApp({ store: sampled, nowMs, symbols: [] });
    onTestFinished(() => server.close());
    await given(server, 'QQQ');
    const env = { DATABASE_URL: sampled.databaseUrl };
    const { stdout } = await tapegraph(['sample', 'remove', '--yes'], env);
    expect(stdout).toMatch(/bar_blocks +\d+/);
    await expect.poll(() => given(server, 'QQQ'), { timeout: 20_000 }).toEqual([]);
    expect(await tapegraph(['sample', 'remove'], env)).toMatchObject({
      code: 0,
      stdout: 'Nothing of the sample market is stored.\n',
    });
    const rows = Object.entries(await contentsOf(sampled, market)).filter(([, some]) => some.length > 0);
    expect(rows).toEqual([]);
  });
});

const line = (symbol: string, atMs: number) =>
  `{"type":"stock_print","symbol":"${symbol}","exchange":4,"id":"7","price":14.05,"size":100,"sip_timestamp":"${atMs}000000","sequence_number":8801}\n`;

async function followed(store: TestStore, text: string, notes: string[] = []): Promise<void> {
  async function* lines() {
    yield Buffer.from(text);
  }
  await follow(store, lines(), {
    source: 'own',
    fromStart: true,
    everyMs: 100,
    now,
    stop: new AbortController().signal,
    gammaSource: 'solve',
    rate: 0.04,
    onBadLine: () => {},
    onNote: (note) => notes.push(note),
  });
}

describe('the first of other data takes the place of the sample market', () => {
  let files: VendorFiles;
  beforeAll(() => {
    files = writeVendorFiles(folder());
  });
  const [, first] = fileSessions;
  const ingested =
    (dataset: Dataset, name: string): Way =>
    async (store) => {
      const { files: reports } = await ingestFiles(store, dataset, [files.path(name)], { now, sessionDate: first });
      expect(reports[0]).toMatchObject({ status: 'stored' });
    };
  type Way = (store: TestStore) => Promise<void>;
  const ways: Record<string, Way> = {
    splits: ingested('splits', 'splits.csv'),
    dividends: ingested('dividends', 'dividends.csv'),
    rates: ingested('rates', 'rates.csv'),
    roots: ingested('roots', 'roots.csv'),
    symbols: ingested('symbols', 'symbols.csv'),
    'volatility of days': ingested('volatility-days', 'volatility-days.csv'),
    'day bars': ingested('stock-day-bars', `days-${first}.csv`),
    'minute bars': ingested('stock-minute-bars', `minutes-${first}.csv`),
    'bars of contracts': ingested('option-minute-bars', `option-minutes-${first}.csv`),
    'a chain': ingested('chain', `chain-SPY-${first}.csv`),
    'open interest': ingested('open-interest', `interest-${first}.csv`),
    'quotes of contracts': ingested('option-quotes', `option-quotes-${first}.csv`),
    'an option tape': ingested('option-trades', `option-trades-${first}.csv`),
    'a stock tape': ingested('stock-trades', `stock-trades-${first}.csv`),
    async 'a reconciled option tape'(store) {
      const paths = { trades: [files.path(`option-trades-${first}.csv`)], quotes: [], dayAggregates: [] };
      expect(await reconcile(store, paths, { session: first, maxErrors: 0, now })).toMatchObject({
        status: 'reconciled',
      });
    },
    async 'a reconciled stock tape'(store) {
      const paths = [files.path(`stock-trades-${first}.csv`)];
      expect(await reconcileStocks(store, paths, { session: first, maxErrors: 0, now })).toMatchObject({
        status: 'reconciled',
      });
    },
    'a live tape': (store) => followed(store, files.liveTape),
    async 'a captured chain'(store) {
      const server = await chainServer();
      server.serve('NVDA', tagged(files.chainJson, '"1"'));
      const args = ['capture', 'chains', '--once', '--url', `${server.url('')}{symbol}`, '--symbols', 'NVDA'];
      expect((await tapegraph(args, { DATABASE_URL: store.databaseUrl })).code).toBe(0);
    },
  };

  test.for(Object.entries(ways))('%s', async ([, store]) => {
    const [sampled, other] = [await sampledStore(), await storeForThisTest()];
    await ensureStarterRegistry(other, now);
    for (const each of [sampled, other]) await store(each);
    expect(await everything(sampled)).toEqual(await everything(other));
    expect(await storeOrigin(sampled)).toBe('own');
  });
});

describe('beginning to store other data', () => {
  /** Makes the last write of a transaction fail. */
  const failing = (store: TestStore, table: string) =>
    store.pool.query(
      `CREATE FUNCTION failing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'stopped'; END $$;
       CREATE TRIGGER failing BEFORE INSERT ON ${table} EXECUTE FUNCTION failing()`,
    );

  test('leaves accounts, keys, lists, journals, usage and the registry as they are', async () => {
    const store = await sampledStore();
    const app = await testApp({ store, nowMs, symbols: [] });
    onTestFinished(() => app.close());
    const credential = await app.key(pro);
    const put = (path: string, body: object) => app.send('PUT', path, { credential, body: JSON.stringify(body) });
    const trade = { account_id: 'a', symbol: 'SPY', side: 'buy', qty: 1, price: 2, ts: nowMs };
    expect(await put('/v2/journal/accounts/a', { name: 'A' })).toMatchObject({ status: 200 });
    expect((await put('/v2/journal/trades/t', trade)).status).toBe(200);
    expect((await put('/v2/watchlists/w', { name: 'mine', symbols: ['SPY'] })).status).toBe(200);
    const paths = ['/v2/journal/accounts', '/v2/journal/trades', '/v2/watchlists', '/v2/symbols'];
    const answers = async () => {
      const found: Json[] = [];
      for (const path of paths) found.push((await app.get(path, { credential })).body.data);
      return found;
    };
    const expected = await answers();
    const registry = expected.pop();
    expect(expected.map(({ length }) => length)).toEqual([1, 1, 1]);
    await ingestBars(store, 'IBM');
    expect(await answers()).toEqual([...expected, registry]);
    expect((await app.get('/v2/account/usage', { credential })).status).toBe(200);
  });

  test('by a live tape makes its sessions live', async () => {
    const store = await sampledStore();
    const notes: string[] = [];
    await followed(store, line('BAC', exchangeInstant(session, 15 * 60)), notes);
    expect(notes).toEqual([sampleReplaced]);
    const sessions = [session, before].map((sessionDate) => ({ symbol: 'BAC', sessionDate }));
    expect(await originsOf(store, sessions)).toEqual(['live', 'file']);
    await ingestBars(store, 'BAC');
    expect(await originsOf(store, sessions)).toEqual(['file', 'file']);
  });

  test('by a file that is stopped at its last write leaves the sample market whole', async () => {
    const store = await sampledStore();
    const expected = await everything(store);
    await failing(store, 'ingested_files');
    await expect(ingestFiles(store, 'stock-minute-bars', [barsOf('IBM')], { now })).rejects.toThrow('stopped');
    expect(await everything(store)).toEqual(expected);
    expect(await storeOrigin(store)).toBe('sample');
  });

  test('by a live tape whose first commit is stopped leaves the sample market whole', async () => {
    const store = await sampledStore();
    const expected = await everything(store);
    await failing(store, 'generations');
    const text = line('BAC', exchangeInstant(session, 15 * 60));
    await expect(followed(store, text)).rejects.toThrow('stopped');
    expect(await everything(store)).toEqual(expected);
    await store.pool.query('DROP FUNCTION failing CASCADE');
    await followed(store, text);
    expect(await storeOrigin(store)).toBe('own');
  });

  test('is refused, naming a session, if the store holds one that is not simulated', async () => {
    const store = await sampledStore();
    await store.pool.query(`INSERT INTO session_origins VALUES ('BAC', '${session}', 'live')`);
    const expected = await everything(store);
    const { files } = await ingestFiles(store, 'stock-minute-bars', [barsOf('IBM')], { now });
    expect(files[0]).toMatchObject({ status: 'refused', reason: expect.stringContaining(`BAC of ${session} is not`) });
    await expect(inTransaction(store, removeSample)).rejects.toThrow(`BAC of ${session} is not simulated`);
    expect(await everything(store)).toEqual(expected);
  });

  test('does not happen when the file is refused', async () => {
    const store = await sampledStore();
    const path = join(folder(), 'bad.csv');
    writeFileSync(path, 'ticker,volume,open,close,high,low,window_start,transactions\nIBM,x,1,1,1,1,1,1\n');
    const { files } = await ingestFiles(store, 'stock-minute-bars', [path], { now });
    expect(files[0]).toMatchObject({ status: 'refused' });
    expect(await storeOrigin(store)).toBe('sample');
    expect(await store.prisma.gexCapture.count()).toBeGreaterThan(0);
  });

  test('while the sample market is loaded ends its loading: nothing of it is stored any more', async () => {
    const store = await storeForThisTest();
    await ensureStarterRegistry(store, now);
    let isBegun = false;
    const result = await ensureSampleMarket(store, {
      dataDir: folder(),
      now,
      shape,
      isShown: true,
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
    expect(await sampleMetadata(store)).toBeNull();
  });

  const ends: Record<string, (store: TestStore) => Promise<unknown>> = {
    'other data': (store) => ingestBars(store, 'IBM'),
    'its removal': (store) => inTransaction(store, removeSample),
  };
  test.for(Object.entries(ends))('while the sample market trades: %s ends its trading', async ([, end]) => {
    const store = await storeForThisTest();
    const openMs = exchangeInstant(session, 9 * 60 + 35);
    const clock = () => openMs;
    await ensureStarterRegistry(store, clock);
    await writeSampleMetadata(store, { throughMs: openMs }, { begins: true });
    const stop = new AbortController();
    const trading = runSampleMarket(store, {
      dataDir: folder(),
      now: clock,
      shape,
      stop: stop.signal,
      onEvent: () => {},
      whileOpen: true,
    });
    await expect.poll(() => store.prisma.liveQuote.count(), { timeout: 30_000 }).toBeGreaterThan(0);
    await end(store);
    expect(await store.prisma.liveQuote.count()).toBe(0);
    stop.abort();
    await trading;
    expect(await store.prisma.liveQuote.count()).toBe(0);
  });
});

test('every table is of the market, or stays', () => {
  // A new table is listed here, or in `marketModels`: rows of accounts must not be deleted, simulated ones must.
  const staying = allModels.filter((model) => !marketModels.includes(model));
  expect(staying.sort()).toEqual([
    ...['Account', 'ApiKey', 'FollowedLines', 'GenerationRun', 'IngestedFile', 'JournalAccount', 'JournalImport'],
    ...['JournalSize', 'JournalTrade', 'MetadataEntry', 'SavedScreen', 'SessionOrigin', 'StreamTicket', 'Symbol'],
    ...['SymbolCommit', 'UsageCount', 'Watchlist'],
  ]);
  expect(marketModels.length).toBe(allModels.length - staying.length);
});

test('a new store, whose registry took time to be stored, can become one of the sample market', async () => {
  const store = await storeForThisTest();
  let ms = nowMs;
  await ensureStarterRegistry(store, () => ms++);
  expect(await store.prisma.generationRun.count()).toBe(1);
  expect(await missingSample(store, nowMs, { shape: sampleShape })).not.toBeNull();
});
