import http from 'node:http';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { heavyWork } from '../../src/platform/runtime/event-loop.ts';
import { RequestScope } from '../../src/platform/runtime/request-scope.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { gexCapture, newYork, saveCaptures } from '../support/option-market.ts';
import { statementsOf } from '../support/statements.ts';

const endOf = RequestScope.prototype.end;
const session = '2026-11-18';
const logLines: string[] = [];
let app: TestApp;
let token: string;

beforeAll(async () => {
  app = await testApp({ nowMs: Date.parse('2026-11-20T17:00Z'), env: { LOG_LEVEL: 'info' }, logLines });
  token = await app.session();
  for (let i = 0; i < 40; i++) {
    const rows = Array.from({ length: 800 }, (_, k) => ({
      strike: 100_000 + 500 * k,
      expiry: session,
      gex: (Math.sin(k * 31 + i) * 1e8) / 3,
    }));
    await saveCaptures(app.store, { gex: [gexCapture('SPY', newYork(session, '09:30') + i * 300_000, rows)] });
  }
  const bars = Array.from({ length: 50_000 }, (_, i) => ({
    tsMs: newYork('2026-10-01', '00:00') + i * 60_000,
    open: 600,
    high: 601.5,
    low: 599,
    close: 600.25,
    volume: 1000 + i,
    vwap: 600 + (i % 100) / 7,
    tradeCount: i,
  }));
  await inTransaction(app.store, (tx) => writeBars(tx, '1m', [{ symbol: 'SPY', bars: toBarColumns(bars) }]));
}, 120_000);
afterAll(() => app.close());

interface Asked {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

const bars = '/v2/stocks/SPY/bars?from=2026-10-01&to=2026-11-10&limit=50000';
const history = `/v2/gex/SPY/history?date=${session}`;
const query = `{ symbol(symbol: "SPY") { gex { history(date: "${session}") { captures { capturedAt strikes { strike gex callOi putOi deltaAdj gexShares } } } } } }`;
const tool = (name: string, args: object) => ({
  method: 'POST' as const,
  path: '/mcp',
  headers: { accept: 'application/json, text/event-stream' },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
});

const heavy: Record<string, Asked> = {
  'a session by REST': { method: 'GET', path: history },
  'a session by REST, as CSV': { method: 'GET', path: `${history}&table=strikes`, headers: { accept: 'text/csv' } },
  'a session by the graph': { method: 'POST', path: '/graphql', body: { query } },
  'a session as a tool of MCP': tool('gex_history', { symbol: 'SPY', date: session }),
  'a session by the graph as a tool of MCP': tool('graphql', { query }),
  '50,000 bars by REST': { method: 'GET', path: bars },
  '50,000 bars by REST, as CSV': { method: 'GET', path: bars, headers: { accept: 'text/csv' } },
  '50,000 bars by REST, as Arrow': {
    method: 'GET',
    path: bars,
    headers: { accept: 'application/vnd.apache.arrow.stream' },
  },
  '50,000 bars by REST, as Parquet': {
    method: 'GET',
    path: bars,
    headers: { accept: 'application/vnd.apache.parquet' },
  },
  '50,000 bars by REST, as protobuf': { method: 'GET', path: bars, headers: { accept: 'application/x-protobuf' } },
};

let asked = 0;

/** Called when the server has seen the end of a request. */
const ended: ((value?: unknown) => void)[] = [];
vi.spyOn(RequestScope.prototype, 'end').mockImplementation(function (this: RequestScope) {
  endOf.call(this);
  for (const call of ended.splice(0)) call();
});

/** Sends a request, each time another, since answers are kept. */
function send({ method, path, headers, body }: Asked): http.ClientRequest {
  const url = new URL(app.url + path);
  url.searchParams.set('asked', String(++asked));
  const request = http.request(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });
  request.on('error', () => {});
  request.end(body === undefined ? undefined : JSON.stringify(body));
  return request;
}

/** Bytes of the whole answer. */
async function answerTo(sent: Asked): Promise<number> {
  const request = send(sent);
  const response = await new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve));
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  expect(response.statusCode).toBe(200);
  return bytes;
}

/** Resolves once `count` pieces of heavy work have run. */
async function untilPieces(count: number): Promise<void> {
  while (heavyWork().pieces < count) await nextLoop();
}

/** Resolves once no statement is in progress and none was sent in twenty iterations of the event loop. */
async function untilIdle(): Promise<void> {
  const { pool } = app.store;
  for (let turns = 0; turns < 20; turns++) {
    await nextLoop();
    if (pool.idleCount < pool.totalCount || pool.waitingCount > 0) turns = 0;
  }
}

/** Work still done for a request whose client hangs up at its piece number `at`. */
async function doneAfterHangUp(sent: Asked, at: number): Promise<{ pieces: number; statements: string[] }> {
  const before = heavyWork().pieces;
  const request = send(sent);
  await untilPieces(before + at);
  const seen = new Promise((resolve) => ended.push(resolve));
  request.destroy();
  await seen;
  const left = heavyWork().pieces;
  const statements = await statementsOf(untilIdle);
  return { pieces: heavyWork().pieces - left, statements };
}

describe('nothing is done for a client that has hung up', () => {
  test.each(Object.entries(heavy))('%s', async (_name, sent) => {
    // Once, so that what comes next is not the reading.
    await answerTo(sent);
    const before = heavyWork().pieces;
    await answerTo(sent);
    const whole = heavyWork().pieces - before;
    expect(whole).toBeGreaterThan(5);
    for (const at of [1, 2, Math.floor(whole / 3)]) {
      const { pieces, statements } = await doneAfterHangUp(sent, at);
      expect({ at, pieces, statements }).toEqual({ at, pieces: 0, statements: [] });
      expect(heavyWork().waiting).toBe(0);
    }
  });

  test('and nobody is told that something went wrong', () => {
    const told = logLines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40 || level === 'error');
    expect(told).toEqual([]);
  });

  test('but what changes something is done to its end', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) =>
      JSON.stringify({
        id: `t${i}`,
        account_id: 'a',
        symbol: 'SPY',
        side: 'buy',
        qty: 1,
        price: 2,
        ts: 1_790_000_000_000,
      }),
    );
    const before = heavyWork().pieces;
    const request = http.request(`${app.url}/v2/journal/import?import_id=one`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
    });
    request.on('error', () => {});
    request.end(lines.join('\n'));
    await untilPieces(before + 1);
    request.destroy();
    const imported = async () => (await app.get('/v2/journal/trades?limit=1', { credential: token })).body.data;
    await expect.poll(imported, { timeout: 10_000 }).toHaveLength(1);
  });
});
