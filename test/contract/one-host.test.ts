import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { serveMetrics } from '../../src/cli/server/observing.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { rawClient } from '../support/raw-client.ts';

let app: TestApp;
let credential: string;
beforeAll(async () => {
  app = await testApp();
  credential = await app.key();
});
afterAll(() => app.close());

const handshake = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** The answer to a request with these header lines, on a connection of its own that the server closes. */
async function answerTo(line: string, headers: readonly string[], url = app.url) {
  const client = await rawClient(Number(new URL(url).port));
  await client.send(`${[line, ...headers].join('\r\n')}\r\n\r\n`);
  const { text } = await client.ended;
  const [head, body] = text.split('\r\n\r\n') as [string, string];
  return { status: Number(head.split(' ')[1]), head, body };
}

const wrong: [string, string[]][] = [
  ['two Host headers', ['Host: a.example', 'Host: b.example']],
  ['one Host header twice', ['Host: a.example', 'host: a.example']],
  ['no Host header', []],
];

/** Every endpoint: pages and addresses that are none, event streams and WebSockets too. */
const endpoints: [target: string, headers: string[]][] = [
  ['GET /v2/quotes?symbols=SPY', []],
  ['POST /v2/journal/import?import_id=1', ['Content-Type: text/plain', 'Content-Length: 1']],
  ['GET /graphql?query={__typename}', []],
  ['POST /graphql', ['Content-Type: application/json', 'Content-Length: 0']],
  ['GET /v2/stream?topics=spot:SPY', []],
  ['POST /mcp', ['Content-Type: application/json', 'Content-Length: 0']],
  ['GET /healthz', []],
  ['GET /v2/openapi.json', []],
  ['GET /', []],
  ['GET /nowhere', []],
  ['GET /v2/ws', handshake],
  ['GET /graphql', handshake],
  ['GET /nowhere', handshake],
];

/** The answer carries the envelope and the id of its request, and ends the connection. */
function expectEnvelope({ head, body }: { head: string; body: string }, message: string): void {
  expect(JSON.parse(body)).toEqual({ error: { code: 'invalid_params', message } });
  expect(head).toMatch(/^x-request-id: one-host-test$/im);
  expect(head).toMatch(/^connection: close$/im);
}

const own = () => ['x-request-id: one-host-test', `Authorization: Bearer ${credential}`];

describe.each(wrong)('a request with %s', (_, hosts) => {
  test.each(endpoints)('to %s is 400 with the envelope and its request id', async (target, headers) => {
    const answer = await answerTo(`${target} HTTP/1.1`, [...hosts, ...headers, ...own()]);
    expect(answer.status).toBe(400);
    expectEnvelope(answer, 'Host: expected exactly one Host header.');
  });
});

describe('a request that expects something else than 100-continue', () => {
  test.each(endpoints)('to %s is 417 with the envelope and its request id', async (target, headers) => {
    const answer = await answerTo(`${target} HTTP/1.1`, ['Host: a.example', 'Expect: a-miracle', ...headers, ...own()]);
    expect(answer.status).toBe(417);
    expectEnvelope(answer, 'Expect: expected 100-continue.');
  });
});

/** The port of METRICS_PORT, and of `follow --metrics-port`. */
async function metricsPort(token: string | null) {
  const metrics = { text: async () => 'up 1\n', contentType: 'text/plain' };
  const config = { metricsPort: 0, metricsHost: '127.0.0.1', metricsToken: token };
  const { url, closer } = (await serveMetrics(metrics, config))!;
  onTestFinished(() => closer.close());
  return url;
}

describe.each(wrong)('a reader of metrics with %s', (_, hosts) => {
  test.each([
    ['GET /metrics', null],
    ['GET /metrics', 'a token of sixteen or more'],
    ['GET /nowhere', null],
  ])('to %s is 400 (token: %s)', async (target, token) => {
    const { status, head, body } = await answerTo(`${target} HTTP/1.1`, hosts, await metricsPort(token));
    expect([status, body]).toEqual([400, 'Host: expected exactly one Host header.\n']);
    expect(head).toMatch(/^connection: close$/im);
  });
});

test('HTTP/1.0 may name no host', async () => {
  expect((await answerTo('GET /healthz HTTP/1.0', [])).status).toBe(200);
  const { status, body } = await answerTo('GET /metrics HTTP/1.0', [], await metricsPort(null));
  expect([status, body]).toEqual([200, 'up 1\n']);
});
