// Captures whose source is delayed, at every endpoint: their figures are as of their quotes.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChainRow } from '../../src/core/domain/chain/chain.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { storeChain } from '../../src/intake/ingest/chains/chain.ts';
import { minuteMs } from '../../src/platform/runtime/clock.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { tapegraph } from '../cli/command-line.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents, subscribe } from '../support/event-reader.ts';
import { chainCapture, chainRow } from '../support/option-market.ts';
import { blackPrice } from '../support/tapes/delayed-page.ts';

const [today, december] = ['2026-11-16', '2026-12-18'];
const strikes = Array.from({ length: 21 }, (_, i) => 5980 + 2 * i);
const at = (minute: number) => exchangeInstant(today, minute);
const delayMs = 15 * minuteMs;
const yearMs = 365 * 24 * 60 * minuteMs;

/** A chain priced at 20 % volatility at an instant. */
function rowsAt(root: string, tsMs: number): ChainRow[] {
  return [today, december].flatMap((expiry) =>
    strikes.flatMap((strike) =>
      (['call', 'put'] as const).map((right) => {
        const years = (exchangeInstant(expiry, 16 * 60) - tsMs) / yearMs;
        const worth = blackPrice(right, 6000, strike, 0.2, years);
        const quote = worth < 1e-4 ? {} : { bid: worth - 5e-5, ask: worth + 5e-5 };
        return chainRow({
          root,
          expiry,
          right,
          strike: strike * 1000,
          openInterest: right === 'call' ? 100 : 60,
          ...quote,
        });
      }),
    ),
  );
}

/** Pages of 09:40, 09:45 and 15:50; the quotes of the first are of before the open. */
const pages = [580, 585, 950];
const contract = 'O:SPXW261116C06000000';
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs: at(950) + 30_000 });
  await inTransaction(app.store, async (tx) => {
    for (const [underlying, root, ownDelayMs] of [
      ['SPX', 'SPXW', delayMs],
      ['XSP', 'XSP', null],
    ] as const)
      for (const minute of pages) {
        const rows = rowsAt(root, at(minute) - (ownDelayMs ?? 0));
        const chain = chainCapture(underlying, at(minute), rows, { spot: 6000, delayMs: ownDelayMs });
        await storeChain(tx, chain, { gammaSource: 'solve', rate: 0 });
      }
  });
});
afterAll(() => app.close());

async function rest(path: string): Promise<Json> {
  const { status, body } = await app.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

async function graph(symbol: string, selection: string): Promise<Json> {
  const { data, errors } = await app.graphql(`{ symbol(symbol: "${symbol}") { ${selection} } }`);
  expect(errors).toBeUndefined();
  return data.symbol;
}

async function firstOf(symbol: string, subscription: string): Promise<Json> {
  const query = `subscription { it: ${subscription}(symbol: "${symbol}") { capturedAt sourceTime delayMs } }`;
  const reader = await subscribe(app.url, await app.key(), query, {});
  const event = await reader.next();
  reader.leave();
  return event!.data.data.it;
}

async function tool(name: string, symbol: string): Promise<Json> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${await app.key()}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', app.url), { requestInit: { headers } }));
  const result: Json = await client.callTool({ name, arguments: { symbol } });
  await client.close();
  return result.structuredContent;
}

/** The last row that a command exports of a symbol. */
async function exported(dataset: string, symbol: string): Promise<Json> {
  const args = ['export', dataset, '--symbol', symbol, '--format', 'ndjson'];
  const { code, stdout } = await tapegraph(args, { DATABASE_URL: app.store.databaseUrl });
  expect(code).toBe(0);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

const times = '{ capturedAt sourceTime delayMs }';
/** Objects that say when a capture is of and when its quotes are. */
const inGraph: Record<string, (symbol: string) => Promise<Json>> = {
  chain: async (symbol) => (await graph(symbol, `chain ${times}`)).chain,
  'latest capture': async (symbol) => (await graph(symbol, `gex { latest ${times} }`)).gex.latest,
  grid: async (symbol) => (await graph(symbol, `gex { grid ${times} }`)).gex.grid,
  history: async (symbol) =>
    (await graph(symbol, `gex { history(date: "${today}") { captures ${times} } }`)).gex.history.captures.at(-1),
  chainCaptured: (symbol) => firstOf(symbol, 'chainCaptured'),
  gexCaptured: (symbol) => firstOf(symbol, 'gexCaptured'),
};

describe('the graph', () => {
  test.each(Object.entries(inGraph))(
    '%s: the time of the quotes beside the capture’s; unknown is taken as 0',
    async (_, read) => {
      expect(await read('SPX')).toEqual({ capturedAt: at(950), sourceTime: at(935), delayMs });
      expect(await read('XSP')).toEqual({ capturedAt: at(950), sourceTime: at(950), delayMs: null });
    },
  );

  test('the volatilities of the day’s contracts are those of their quotes', async () => {
    for (const [symbol, minutes] of [
      ['SPX', 25],
      ['XSP', 10],
    ] as const) {
      const { chain, gex } = await graph(
        symbol,
        `chain(expiry: "${today}") { rows { solved { iv gamma } contract { strike right } } }
         gex { latest { expiries { expiry atmIv expectedMoveSigma } strikes { strike gex0dte } } }`,
      );
      const atMoney = chain.rows.filter((row: Json) => row.contract.strike === 6_000_000);
      for (const { solved } of atMoney) expect(Math.abs(solved.iv / 0.2 - 1)).toBeLessThan(2e-3);
      const [first] = gex.latest.expiries;
      expect(first.expiry).toBe(today);
      const years = (minutes * minuteMs) / yearMs;
      expect(Math.abs(first.expectedMoveSigma / (6000 * 0.2 * Math.sqrt(years)) - 1)).toBeLessThan(2e-3);
    }
  });
});

/** Answers of REST, and the time of the quotes in each. */
const inRest: Record<string, { path: (symbol: string) => string; told: (body: Json) => unknown }> = {
  chain: { path: (symbol) => `/v2/chain/${symbol}`, told: ({ meta }) => meta.source_time },
  grid: { path: (symbol) => `/v2/gex/${symbol}/grid`, told: ({ meta }) => meta.source_time },
  history: {
    path: (symbol) => `/v2/gex/${symbol}/history?date=${today}`,
    told: ({ meta }) => meta.source_time?.at(-1),
  },
};

describe('REST', () => {
  test.each(Object.entries(inRest))(
    '%s: meta has the time of the quotes if the source is delayed; rows are as ever',
    async (_, { path, told }) => {
      const [delayed, own] = [await rest(path('SPX')), await rest(path('XSP'))];
      expect(told(delayed)).toBe(at(935));
      expect('source_time' in own.meta).toBe(false);
      expect(Object.keys(delayed.data)).toEqual(Object.keys(own.data));
      expect(Object.keys(delayed.meta).filter((key) => !(key in own.meta))).toEqual(['source_time']);
    },
  );

  test('history and at go by the time of the page', async () => {
    const history = async (query: string) => (await rest(`/v2/gex/SPX/history?date=${today}&${query}`)).data.captures;
    expect((await history('')).map((capture: Json) => capture.captured_at)).toEqual(pages.map(at));
    expect(await history('from=15:50&to=15:51')).toHaveLength(1);
    expect(await history('from=15:35&to=15:36')).toEqual([]);
    expect((await rest(`/v2/chain/SPX?at=${today}T15:49:59`)).data.captured_at).toBe(at(585));
    expect((await rest(`/v2/gex/SPX/grid?at=${at(950)}`)).data.captured_at).toBe(at(950));
  });

  test('the opening reference is the first capture whose quotes are of the session', async () => {
    const delayed = await rest('/v2/gex/SPX/reference');
    expect(delayed.data).toMatchObject({ captured_at: at(585), session_date: today });
    expect(delayed.meta.source_time).toBe(at(570));
    expect((await rest('/v2/gex/XSP/reference')).data.captured_at).toBe(at(580));
  });

  test('greeks have the time of the quotes they were solved from, and show no quote that is 15 minutes old', async () => {
    const delayed = (await rest(`/v2/options/${contract}/greeks`)).data;
    expect(delayed.latest).toMatchObject({ ts_ms: at(935), mark_source: 'mid', bid: null, ask: null, spread: null });
    expect(Math.abs(delayed.latest.iv / 0.2 - 1)).toBeLessThan(2e-3);
    expect(delayed.series.map((sample: Json) => sample.ts_ms)).toEqual([at(565), at(570), at(935)]);
    const own = (await rest(`/v2/options/${contract.replace('SPXW', 'XSP')}/greeks`)).data;
    expect(own.latest.ts_ms).toBe(at(950));
    expect(own.latest.ask - own.latest.bid).toBeCloseTo(1e-4, 6);
  });

  test.each(['term', 'surface'])('vol/%s is as of the quotes', async (what) => {
    const { data } = await rest(`/v2/options/SPX/vol/${what}`);
    expect(data.as_of_ms).toBe(at(935));
    expect(data.expiries[0]).toMatchObject({ expiry: today, dte: 0 });
    expect((await rest(`/v2/options/XSP/vol/${what}`)).data.as_of_ms).toBe(at(950));
  });

  test('protobuf and CSV have it in the header of meta', async () => {
    for (const headers of [{ accept: 'application/x-protobuf' }, { accept: 'text/csv' }]) {
      const answer = await app.get('/v2/gex/SPX/grid', { headers });
      expect(JSON.parse(String(answer.headers['x-itm-extra'])).source_time, headers.accept).toBe(at(935));
    }
  });

  test('a stream of captures has the keys it ever had', async () => {
    const keys = async (symbol: string) => {
      const headers = { authorization: `Bearer ${await app.key()}` };
      const reader = await readEvents(`${app.url}/v2/stream?topics=gex:${symbol}`, { headers });
      let event = await reader.next();
      while (event?.event !== 'gex') event = await reader.next();
      reader.leave();
      const { capture = event.data } = event.data;
      expect(capture.captured_at).toBe(at(950));
      return Object.keys(capture);
    };
    expect(await keys('SPX')).toEqual(await keys('XSP'));
  });
});

test.each(['chain', 'gex_grid'])('the tool %s for AI clients tells it', async (name) => {
  expect((await tool(name, 'SPX')).meta.source_time).toBe(at(935));
  expect((await tool(name, 'XSP')).meta).not.toHaveProperty('source_time');
});

test.each(['chain', 'gex'])('export %s has the delay, null where it is unknown', async (dataset) => {
  expect(await exported(dataset, 'SPX')).toMatchObject({ captured_at: at(950), delay_ms: delayMs });
  expect(await exported(dataset, 'XSP')).toMatchObject({ captured_at: at(950), delay_ms: null });
});
