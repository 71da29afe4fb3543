import http from 'node:http';
import { expect, test } from 'vitest';
import { saveSymbols } from '../../src/store/market/symbols.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { testSymbols } from '../support/app.ts';
import { storeForThisTest } from '../support/store.ts';
import { talk } from '../support/web-socket.ts';
import { tapegraph } from './command-line.ts';
import { served } from './served.ts';

// One key, every endpoint, two workers without Redis: what is accepted of a minute is one count.

interface Target {
  url: string;
  key: string;
}

/** The whole answer of a request on a connection of its own, or the first text of a stream. */
function exchanged({ url, key }: Target, method: string, path: string, body?: object, accept = '*/*'): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, accept, 'content-type': 'application/json' };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const request = http.request(new URL(path, url), { method, headers, agent: false }, (response) => {
    const isStream = String(response.headers['content-type']).startsWith('text/event-stream');
    let text = `${response.statusCode} `;
    response.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      if (!isStream || !/^(data|event|id):/m.test(text)) return;
      resolve(text);
      response.destroy();
    });
    response.on('end', () => resolve(text)).on('error', () => {});
  });
  request.on('error', reject).end(body && JSON.stringify(body));
  return promise;
}

/** Requests that were accepted: 1, or 0 of what the minute had none left for. Anything else fails. */
function acceptedOf(text: string): number {
  if (/"code\\*":\\*"rate_limited|^1013 More than \d+ requests a minute/.test(text)) return 0;
  expect(text).toMatch(/^(200|next) /);
  expect(text).not.toContain('"error');
  return 1;
}

/** Sends a request that costs one. */
const once = async (...sent: Parameters<typeof exchanged>) => acceptedOf(await exchanged(...sent));

/** Sends one operation on a WebSocket of its own: the connection costs a request, and a query another. */
async function overSocket({ url, key }: Target, query: string): Promise<number> {
  const { socket, send, open } = talk(`${url}/graphql`, ['graphql-transport-ws']);
  const answered = Promise.withResolvers<string>();
  let accepted = 0;
  socket.on('close', (code, reason) => answered.resolve(`${code} ${reason}`));
  socket.on('message', (data: Buffer) => {
    const { type } = JSON.parse(String(data));
    if (type === 'connection_ack') {
      accepted += 1;
      send({ type: 'subscribe', id: '1', payload: { query } });
    } else if (type === 'next' || type === 'error') answered.resolve(`${type} ${data}`);
  });
  await open;
  send({ type: 'connection_init', payload: { Authorization: `Bearer ${key}` } });
  const operation = acceptedOf(await answered.promise);
  socket.terminate();
  return accepted + (query === quotes ? 0 : operation);
}

const query = '{ market { __typename } }';
const quotes = 'subscription { quotes(symbols: ["SPY"]) { symbol } }';
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const both = 'application/json, text/event-stream';

/** Each sends what costs one request, with a connection of its own two, and returns how many were accepted. */
const endpoints: Record<string, (target: Target) => Promise<number>> = {
  'GET /v2/symbols': (at) => once(at, 'GET', '/v2/symbols'),
  'GET /v2/stream': (at) => once(at, 'GET', '/v2/stream?topics=quotes:SPY'),
  'POST /graphql': (at) => once(at, 'POST', '/graphql', { query }),
  'GET /graphql': (at) => once(at, 'GET', `/graphql?query=${encodeURIComponent(query)}`),
  'a subscription by POST /graphql': (at) => once(at, 'POST', '/graphql', { query: quotes }, 'text/event-stream'),
  'a query over a WebSocket': (at) => overSocket(at, query),
  'a subscription over a WebSocket': (at) => overSocket(at, quotes),
  'tools/list at /mcp': (at) => once(at, 'POST', '/mcp', rpc('tools/list', {}), both),
  'a tool of /mcp': (at) => once(at, 'POST', '/mcp', rpc('tools/call', { name: 'symbols', arguments: {} }), both),
  'the graphql tool of /mcp': (at) =>
    once(at, 'POST', '/mcp', rpc('tools/call', { name: 'graphql', arguments: { query } }), both),
};

const limit = 60;
/** Number of requests to each endpoint: together more than the limit per minute. */
const times = 8;
/** Endpoints of which a connection costs a request beside its operation: the query over a WebSocket. */
const withConnection = 1;

test('two workers without Redis accept of one key what its minute has, whichever endpoints it uses', async () => {
  const store = await storeForThisTest();
  await inTransaction(store, (tx) => saveSymbols(tx, testSymbols));
  const env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn', RATE_PRO: String(limit), MAX_STREAMS: '100' };
  const { ready } = await served(['--workers', '2'], env);
  await tapegraph(['account', 'set', 'acme', '--api-tier', 'pro', '--classification', 'non_professional'], env);
  const { key } = JSON.parse((await tapegraph(['key', 'create', '--account', 'acme', '--json'], env)).stdout);
  const target = { url: ready.url, key };
  const names = Object.keys(endpoints);
  const accepted = async (count: number) => {
    const all = names.flatMap((name) => Array.from({ length: count }, () => endpoints[name]!(target)));
    return (await Promise.all(all)).reduce((sum, each) => sum + each, 0);
  };
  const left = async () => {
    const { headers } = await fetch(`${target.url}/v2/symbols`, { headers: { authorization: `Bearer ${key}` } });
    return Number(headers.get('x-ratelimit-remaining'));
  };
  // Twice, since a connection goes to either worker.
  const two = (await accepted(1)) + (await accepted(1));
  expect(two).toBe(2 * (names.length + withConnection));
  expect(await left()).toBe(limit - two - 1);
  // The highest possible cost of an operation is reserved until it is known: some are rejected, and requests are left.
  let all = two + 1 + (await accepted(times));
  const simple = endpoints['GET /v2/symbols']!;
  for (let more = await simple(target); more > 0; more = await simple(target)) all += more;
  expect(all).toBe(limit);
  expect(await accepted(1)).toBe(0);
});
