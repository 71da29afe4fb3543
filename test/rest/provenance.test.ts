// Figures say how they were made: which files or live lines, when, instead of what.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { methodologyVersion } from '../../src/core/analytics/methodology.ts';
import { readOptionContract } from '../../src/core/domain/chain/option-contract.ts';
import type { Dataset } from '../../src/core/domain/dataset.ts';
import { capturePart } from '../../src/core/domain/generation.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { storeChain } from '../../src/intake/ingest/chains/chain.ts';
import { noteGenerations } from '../../src/intake/ingest/files/generations.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { writeSampleMetadata } from '../../src/intake/ingest/sample-metadata.ts';
import { sealSession } from '../../src/intake/ingest/seal.ts';
import { follow } from '../../src/intake/ingest/tail/follow.ts';
import { productVersion } from '../../src/platform/runtime/product-version.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { saveSolves } from '../support/greeks.ts';
import { chainCapture, chainRow } from '../support/option-market.ts';
import { statementsOf, withoutCommits } from '../support/statements.ts';
import { delayedPage } from '../support/tapes/delayed-page.ts';
import { worth } from '../support/tapes/quoted-tape.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const [friday, monday, tuesday] = ['2026-11-13', '2026-11-16', '2026-11-17'] as const;
const call = 'O:SPY261218C00600000';
const folder = temporaryFolder();
const nowMs = exchangeInstant('2026-11-18', 720);
const now = () => nowMs;
const ns = (date: string, minute: number) => `${exchangeInstant(date, minute)}000000`;
const halfHours = Array.from({ length: 13 }, (_, i) => 570 + 30 * i).concat(959);

function file(name: string, lines: readonly string[]): string {
  const path = join(folder(), name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}
const stockTape = (name: string, minutes: readonly number[]) =>
  file(name, [
    'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id',
    ...minutes.flatMap((minute, i) =>
      [1, 2, 3].map((n) => `SPY,,4,${10 * i + n},600,${10 * i + n},${ns(monday, minute)},100,2,202`),
    ),
  ]);
const bars = (name: string, dates: readonly string[], minute: number) =>
  file(name, [
    'ticker,volume,open,close,high,low,window_start,transactions',
    ...dates.map((date) => `SPY,100,600,600,600,600,${ns(date, minute)},1`),
  ]);
const chain = (root: string) =>
  delayedPage({
    date: 'November 17, 2026 at 10:00 AM EST',
    root,
    forward: 600,
    volatility: 0.2,
    expiries: { '2026-12-18': 31 / 365 },
    strikes: Array.from({ length: 11 }, (_, i) => 590 + 2 * i),
  });

/** A file as another program measures it. */
function measured(path: string, headerLines = 1) {
  const bytes = readFileSync(path);
  const lines = bytes.toString().trimEnd().split('\n').length - headerLines;
  return { name: basename(path), sha256: createHash('sha256').update(bytes).digest('hex'), lines };
}

const paths = {} as Record<'stocks' | 'days' | 'minutes' | 'options' | 'quotes' | 'chain' | 'rates', string>;
let app: TestApp;
async function ingest(dataset: Dataset, path: string, of = app) {
  const { files } = await ingestFiles(of.store, dataset, [path], { now });
  expect(files[0]).toMatchObject({ status: 'stored' });
}

beforeAll(async () => {
  app = await testApp({ nowMs });
  paths.stocks = stockTape('stocks.csv', halfHours);
  paths.days = bars('days.csv', [friday], 0);
  paths.minutes = bars('minutes.csv', [tuesday], 600);
  paths.quotes = file('quotes.csv', [
    'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp',
    `${call},1,5.1,1,1,4.9,1,1,${ns(monday, 569)}`,
  ]);
  paths.options = file('options.csv', [
    'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    ...halfHours.map((minute) => `${call},209,0,302,5,${ns(monday, minute)},1000`),
  ]);
  paths.rates = file('rates.csv', ['date,days,rate', '2026-11-16,30,0.041']);
  paths.chain = join(folder(), 'chain.csv');
  writeFileSync(paths.chain, chain('SPY'));
  await ingest('stock-trades', paths.stocks);
  await ingest('stock-day-bars', paths.days);
  await ingest('stock-minute-bars', paths.minutes);
  await ingest('option-quotes', paths.quotes);
  await ingest('option-trades', paths.options);
  await ingest('rates', paths.rates);
  await ingest('chain', paths.chain);
});
afterAll(() => app.close());

const headerOfChain = () =>
  readFileSync(paths.chain, 'utf8')
    .split('\n')
    .findIndex((line) => line.includes('Strike')) + 1;
const ofFiles = (provenance: Json[]) =>
  provenance.flatMap(({ dataset, files }) => files.map((each: Json) => ({ dataset, ...each })));
const fields = 'provenance { dataset files { name sha256 lines } }';

describe('every computed node of the graph names the files that it is from, with their hash and lines', () => {
  const stock = () => ({ dataset: 'stock-trades', ...measured(paths.stocks) });
  const days = () => ({ dataset: 'stock-day-bars', ...measured(paths.days) });
  const minutes = () => ({ dataset: 'stock-minute-bars', ...measured(paths.minutes) });
  const tape = () => ({ dataset: 'option-trades', ...measured(paths.options) });
  const quotes = () => ({ dataset: 'option-quotes', ...measured(paths.quotes) });
  const captured = () => ({ dataset: 'chain', ...measured(paths.chain, headerOfChain()) });
  const flow = () => [tape(), quotes()];
  const gexOf = (selection: string) => `symbol(symbol: "SPY") { gex { ${selection} } }`;
  test.each<[string, string, () => object[]]>([
    [
      'bars of days',
      `symbol(symbol: "SPY") { bars(from: "${friday}", to: "${tuesday}", timeframe: "1d") { meta { ${fields} } } }`,
      () => [stock(), days()],
    ],
    [
      'bars of minutes',
      `symbol(symbol: "SPY") { bars(from: "${monday}", to: "2026-11-18", timeframe: "1m") { meta { ${fields} } } }`,
      () => [minutes(), stock()],
    ],
    ['the spot', `symbol(symbol: "SPY") { spot { meta { ${fields} } } }`, () => [stock()]],
    ['quotes', `quotes(symbols: ["SPY", "ZZZ"]) { meta { ${fields} } }`, () => [stock()]],
    [
      'activity off exchange',
      `symbol(symbol: "SPY") { offExchange { activity { meta { ${fields} } } } }`,
      () => [stock()],
    ],
    ['a chain', `symbol(symbol: "SPY") { chain { meta { ${fields} } } }`, () => [captured()]],
    ['expirations', `symbol(symbol: "SPY") { expirations { meta { ${fields} } } }`, () => [captured()]],
    ['a GEX capture', gexOf(`latest { ${fields} }`), () => [captured()]],
    ['a grid', gexOf(`grid { meta { ${fields} } }`), () => [captured()]],
    ['a history', gexOf(`history(date: "${tuesday}") { meta { ${fields} } }`), () => [captured()]],
    ['a reference', gexOf(`reference(date: "${tuesday}") { meta { ${fields} } }`), () => [captured()]],
    ['a term structure', `symbol(symbol: "SPY") { volatility { term { meta { ${fields} } } } }`, () => [captured()]],
    ['exposures', gexOf(`exposures { meta { ${fields} } }`), () => [captured()]],
    ['a change of gex', gexOf(`diff(from: "${tuesday}", to: "${tuesday}") { meta { ${fields} } }`), () => [captured()]],
    [
      'two chains',
      `symbol(symbol: "SPY") { chainDiff(from: "${tuesday}", to: "${tuesday}") { meta { ${fields} } } }`,
      () => [captured()],
    ],
    ['unusual premium', `symbol(symbol: "SPY") { flow { unusual { meta { ${fields} } } } }`, flow],
    ['a contract by session', `contract(id: "${call}") { history { meta { ${fields} } } }`, () => [captured(), tape()]],
    [
      'several contracts',
      `contracts(ids: ["${call}", "O:ZZZ261218C00600000"]) { meta { ${fields} } }`,
      () => [captured()],
    ],
    [
      'a cross-section',
      `symbol(symbol: "SPY") { flow { crossSection(session: "${monday}") { meta { ${fields} } } } }`,
      flow,
    ],
    ['large trades', `largeTrades(symbol: "SPY", session: "${monday}") { meta { ${fields} } }`, flow],
    ['end-of-day prints', `eod(symbol: "SPY", session: "${monday}") { meta { ${fields} } }`, flow],
    [
      'bars of a contract',
      `contract(id: "${call}") { bars(session: "${monday}") { meta { ${fields} } } }`,
      () => [tape()],
    ],
    ['a greeks series', `contract(id: "${call}") { greeks { meta { ${fields} } } }`, () => [captured(), ...flow()]],
  ])('%s', async (_name, selection, expected) => {
    const { data, errors } = await app.graphql(`{ ${selection} }`);
    expect(errors).toBeUndefined();
    const text = JSON.stringify(data);
    const found = JSON.parse(text.slice(text.indexOf('"provenance":') + 13).replace(/\]\}*$/, ']'));
    const byDataset = (a: Json, b: Json) => (a.dataset < b.dataset ? -1 : 1);
    expect(ofFiles(found).sort(byDataset)).toEqual(expected().sort(byDataset));
  });

  test('the inputs of a GEX capture name the rates too', async () => {
    const { data } = await app.graphql(
      '{ symbol(symbol: "SPY") { gex { latest { inputs { files { dataset name sha256 lines } } } } } }',
    );
    expect(data.symbol.gex.latest.inputs.files).toEqual([captured(), { dataset: 'rates', ...measured(paths.rates) }]);
  });
});

describe('over REST', () => {
  const routes = [
    `/v2/stocks/SPY/bars?from=${monday}&to=${tuesday}`,
    '/v2/symbols/SPY/spot',
    '/v2/quotes?symbols=SPY',
    '/v2/screener/movers',
    '/v2/screener/sectors',
    '/v2/chain/SPY',
    '/v2/chain/SPY/expirations',
    '/v2/gex/SPY/grid',
    `/v2/gex/SPY/history?date=${tuesday}`,
    `/v2/gex/SPY/reference?date=${tuesday}`,
    `/gex/SPY/strikes?date=${tuesday}`,
    `/v2/options/${call}/bars?session=${monday}`,
    `/v2/options/${call}/greeks`,
    '/v2/gex/SPY/exposures',
    `/v2/gex/SPY/change?from=${tuesday}&to=${tuesday}`,
    '/v2/flow/SPY/unusual',
    `/v2/options/${call}/history`,
    `/v2/options?contracts=${call}`,
    '/v2/options/SPY/vol/term',
    '/v2/options/SPY/vol/surface',
    `/v2/flow/large-trades?symbol=SPY&session=${monday}`,
    `/v2/flow/SPY/cross-section?session=${monday}`,
    `/v2/flow/eod?symbol=SPY&session=${monday}`,
    ...['activity', 'concentration', 'composition', 'profile'].map((table) => `/v2/offexchange/SPY/${table}`),
  ];

  test.each(routes)('%s has meta.provenance if it is asked for, and not otherwise', async (path) => {
    const credential = await app.key();
    const [without, withIt] = [
      await app.get(path, { credential }),
      await app.get(`${path}${path.includes('?') ? '&' : '?'}provenance=true`, { credential }),
    ];
    expect(withIt.status).toBe(200);
    expect(without.body.meta).not.toHaveProperty('provenance');
    const { provenance, ...meta } = withIt.body.meta;
    expect(meta).toEqual(without.body.meta);
    expect(withIt.body.data).toEqual(without.body.data);
    for (const { files, ingested_at, methodology_version, product_version, origin, made } of provenance) {
      expect(Object.values(paths).map((each) => basename(each))).toContain(files[0].name);
      expect({ ingested_at, methodology_version, product_version, origin, made }).toEqual({
        ingested_at: nowMs,
        methodology_version: methodologyVersion,
        product_version: productVersion,
        origin: 'real',
        made: 'file',
      });
    }
    // Nothing of one session is concentrated enough.
    if (!/screener|concentration/.test(path)) expect(provenance.length).toBeGreaterThan(0);
  });

  test('a list that would be a header is left out, and the note says so', async () => {
    const sending = { credential: await app.key(), headers: { accept: 'text/csv' } };
    const answer = await app.get('/v2/chain/SPY?provenance=true', sending);
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.headers)).toContain('Provenance is sent as JSON only.');
  });
});

test('a second file of a session supersedes the first, and says which; coverage and seal are told', async () => {
  const of = await testApp({ nowMs });
  onTestFinished(() => of.close());
  const first = stockTape('first.csv', halfHours);
  const second = stockTape('second.csv', [...halfHours, 700]);
  await ingest('stock-trades', first, of);
  await ingestFiles(of.store, 'stock-trades', [second], { now: () => nowMs + 5 });
  await ingest('option-trades', paths.options, of);
  const credential = await of.key();
  const path = `/v2/stocks/SPY/bars?from=${monday}&to=${tuesday}&provenance=true`;
  const ask = async () => (await of.get(path, { credential })).body.meta.provenance;
  const [bars, ...others] = await ask();
  expect(others).toEqual([]);
  expect(bars).toMatchObject({
    files: [measured(second)],
    ingested_at: nowMs + 5,
    supersedes: { ingested_at: nowMs, made: 'file', live: null, files: [measured(first)] },
    sealed_at: null,
    coverage: null,
  });
  await sealSession(of.store, { session: monday, symbols: null }, { now });
  expect((await ask())[0].sealed_at).toBe(nowMs);
  const flow = await of.get(`/v2/flow/SPY/cross-section?session=${monday}&provenance=true`, { credential });
  expect(flow.body.meta.provenance[0].coverage).toMatchObject({ status: 'eod_reconciled', complete: true });
});

test('a live session tells its range of lines, and its tape to those who may see names', async () => {
  const of = await testApp({ nowMs });
  onTestFinished(() => of.close());
  const lines = halfHours.map((minute, i) =>
    JSON.stringify({
      type: 'stock_print',
      symbol: 'SPY',
      exchange: 4,
      id: String(i),
      sequence_number: i,
      price: 600,
      size: 100,
      sip_timestamp: ns(monday, minute),
    }),
  );
  const tape = Readable.from([Buffer.from(`${lines.join('\n')}\n`)]);
  const stop = new AbortController().signal;
  const options = {
    source: 'feed.ndjson',
    fromStart: true,
    everyMs: 0,
    stop,
    gammaSource: 'solve',
    rate: 0,
    now,
  } as const;
  await follow(of.store, tape, { ...options, onBadLine() {} });
  const ask = async (credential: string) => {
    const path = `/v2/stocks/SPY/bars?from=${monday}&to=${tuesday}&provenance=true`;
    return (await of.get(path, { credential })).body.meta.provenance;
  };
  const told = { dataset: 'stock-trades', made: 'live', files: [], supersedes: null };
  expect(await ask(await of.key())).toMatchObject([
    { ...told, live: { source: 'feed.ndjson', from_line: 1, through_line: lines.length } },
  ]);
  expect(await ask(await of.key({ classification: 'professional' }))).toMatchObject([
    { ...told, live: { source: null, from_line: 1, through_line: lines.length } },
  ]);
});

test('data of the sample market is simulated', async () => {
  const of = await testApp({ nowMs });
  onTestFinished(() => of.close());
  await writeSampleMetadata(of.store, { throughMs: null }, { begins: true });
  await ingestFiles(of.store, 'stock-minute-bars', [paths.minutes], { now, bundled: 'sample' });
  const path = `/v2/stocks/SPY/bars?from=${tuesday}&to=2026-11-18&provenance=true`;
  const { body } = await of.get(path, { credential: await of.key() });
  expect(body.meta.provenance).toMatchObject([{ origin: 'simulated', files: [measured(paths.minutes)] }]);
});

test('a tool of an AI client takes the parameter, and its text is sent once', async () => {
  const ask = async (method: string, params: object) => {
    const answer = await app.send('POST', '/mcp', {
      credential: await app.key(),
      headers: { accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return answer.body.result;
  };
  const { structuredContent } = await ask('tools/call', {
    name: 'chain',
    arguments: { symbol: 'SPY', provenance: true },
  });
  expect(ofFiles(structuredContent.meta.provenance)).toEqual([
    { dataset: 'chain', ...measured(paths.chain, headerOfChain()) },
  ]);
  const { tools } = await ask('tools/list', {});
  const taking = tools.filter((tool: Json) => 'provenance' in tool.inputSchema.properties);
  expect(taking.length).toBeGreaterThanOrEqual(20);
  for (const tool of taking) expect(tool.inputSchema.properties.provenance).toEqual({ type: 'boolean' });
});

test('callers that are not attested get hashes and lines without names', async () => {
  const credential = await app.key({ classification: 'professional' });
  const { body } = await app.get('/v2/chain/SPY?provenance=true', { credential });
  expect(body.meta.provenance[0].files).toEqual([{ ...measured(paths.chain, headerOfChain()), name: null }]);
});

test('with PROVENANCE=off the field is null, and the parameter says so; with public every caller sees names', async () => {
  for (const provenance of ['off', 'public']) {
    const store = { ...app.store, close: async () => {} };
    const of = await testApp({ nowMs, store, env: { PROVENANCE: provenance } });
    onTestFinished(() => of.close());
    const credential = await of.key({ classification: 'professional' });
    const { body } = await of.get('/v2/chain/SPY?provenance=true', { credential });
    const { data } = await of.graphql(`{ symbol(symbol: "SPY") { gex { latest { ${fields} } } } }`, {}, { credential });
    if (provenance === 'off') {
      expect(body.meta).not.toHaveProperty('provenance');
      expect(body.meta.note).toBe(
        'The latest capture of SPY is of 2026-11-17. There was no earlier chain of SPY to compare that of 2026-11-17 with: it may lack contracts. Provenance is not served here.',
      );
      expect(data.symbol.gex.latest.provenance).toBeNull();
    } else expect(body.meta.provenance[0].files[0].name).toBe('chain.csv');
  }
});

test('the inputs of a capture name the tape whose solves fill its gaps', async () => {
  const of = await testApp({ nowMs });
  onTestFinished(() => of.close());
  const far = 'O:SPXW261218C06500000';
  const at = exchangeInstant(monday, 610);
  const rows = ['O:SPXW261218C06000000', 'O:SPXW261218P06000000', far].map((id) => {
    const contract = readOptionContract(id)!;
    const fair = worth(contract, 6000, at);
    const quote = id === far ? { bid: null, ask: null } : { bid: fair - 0.05, ask: fair + 0.05 };
    return chainRow({ ...contract, openInterest: 100, ...quote });
  });
  const store = (minute: number, tsMs: number) =>
    inTransaction(of.store, async (tx) => {
      const capture = chainCapture('SPX', tsMs, rows, { spot: 6000, priorCloseSpot: 6000 });
      const { changed } = await storeChain(tx, capture, { gammaSource: 'solve', rate: 0.045 });
      expect(changed).toBeGreaterThan(0);
      const files = [{ name: `${minute}.csv`, sha256: 'aa', lines: 3 }];
      await noteGenerations(tx, 'chain', [capturePart(capture)], {
        made: 'file',
        files,
        live: null,
        ingestedMs: nowMs,
      });
    });
  const tape = file('spx.csv', [
    'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    ...halfHours.map((minute) => `${far},209,0,302,3,${ns(monday, minute)},10`),
  ]);
  const inputs = async () => {
    of.clock.nowMs += 2000;
    const selection = 'inputs { files { dataset name } }';
    const { data } = await of.graphql(`{ symbol(symbol: "SPX") { gex { latest { ${selection} } } } }`);
    return data.symbol.gex.latest.inputs.files;
  };
  await ingestFiles(of.store, 'option-trades', [tape], { now, solveMost: 0 });
  const solve = { delta: 0.01, gamma: 0.001, mark: 3, markSource: 'mid', bid: 2.9, ask: 3.1, iv: 0.31 } as const;
  await inTransaction(of.store, (tx) => saveSolves(tx, 'SPX', { [far]: [{ ...solve, tsMs: at - 60_000 }] }));
  await store(610, at);
  expect(await inputs()).toEqual([
    { dataset: 'chain', name: '610.csv' },
    { dataset: 'option-trades', name: 'spx.csv' },
  ]);
});

async function sentFor(query: string): Promise<string[]> {
  return withoutCommits(await statementsOf(async () => expect((await app.graphql(query)).errors).toBeUndefined()));
}

test('many symbols cost as many statements as few', async () => {
  const sent = async (symbols: readonly string[]) => {
    const each = symbols.map((symbol, i) => `s${i}: symbol(symbol: "${symbol}") { spot { meta { ${fields} } } }`);
    app.clock.nowMs += 2000;
    return sentFor(`{ ${each.join(' ')} }`);
  };
  await sent(['SPY', 'MSFT']);
  expect((await sent(['SPY', 'MSFT'])).length).toBe((await sent(['SPY'])).length);
});

test('how many statements tell the sources of contracts does not depend on their number', async () => {
  const strikes = [600, 602, 604, 606];
  const idOf = (strike: number) => `O:SPY261218C00${strike}000`;
  const sent = async (some: readonly number[]) => {
    const ids = some.map((strike) => `"${idOf(strike)}"`).join();
    const each = some.map((strike, i) => `h${i}: contract(id: "${idOf(strike)}") { history { meta { ${fields} } } }`);
    const text = `{ contracts(ids: [${ids}]) { meta { ${fields} } } ${each.join(' ')} }`;
    app.clock.nowMs += 2000;
    // Lists of parameters differ in length.
    return (await sentFor(text)).map((statement) => statement.replaceAll(/\$\d+(,\$\d+)*/g, '$'));
  };
  await sent(strikes);
  const [many, few] = [await sent(strikes), await sent(strikes.slice(0, 1))];
  expect(new Set(many)).toEqual(new Set(few));
  // The document has two edges, whose sources are read together or one after the other: as it happens.
  const timesOf = (all: readonly string[], text: string) => all.filter((each) => each === text).length;
  for (const text of new Set(many)) expect(timesOf(many, text), text).toBeLessThanOrEqual(2 * timesOf(few, text));
});
