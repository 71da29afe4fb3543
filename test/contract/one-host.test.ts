import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
async function answerTo(line: string, headers: readonly string[]) {
  const client = await rawClient(Number(new URL(app.url).port));
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

describe.each(wrong)('a request with %s', (_, hosts) => {
  test.each([
    ['GET /v2/quotes?symbols=SPY', []],
    ['GET /graphql?query={__typename}', []],
    ['POST /graphql', ['Content-Type: application/json', 'Content-Length: 0']],
    ['GET /graphql/stream', []],
    ['GET /v2/stream?topics=spot:SPY', []],
    ['POST /mcp', ['Content-Type: application/json', 'Content-Length: 0']],
    ['GET /healthz', []],
    ['GET /v2/openapi.json', []],
    ['GET /', []],
    ['GET /nowhere', []],
    ['GET /v2/ws', handshake],
    ['GET /graphql', handshake],
    ['GET /nowhere', handshake],
  ])('to %s is 400 with the envelope and its request id', async (target, headers) => {
    const own = ['x-request-id: one-host-test', `Authorization: Bearer ${credential}`];
    const { status, head, body } = await answerTo(`${target} HTTP/1.1`, [...hosts, ...headers, ...own]);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toEqual({
      error: { code: 'invalid_params', message: 'Host: expected exactly one Host header.' },
    });
    expect(head).toMatch(/^x-request-id: one-host-test$/im);
    expect(head).toMatch(/^connection: close$/im);
  });
});

test('HTTP/1.0 may name no host', async () => {
  expect((await answerTo('GET /healthz HTTP/1.0', [])).status).toBe(200);
});
