import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createMetrics } from '../../src/platform/observe/metrics.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { rejected, talk } from '../support/web-socket.ts';

const metrics = createMetrics('test');
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ metrics, limits: { connections: { max: 3, perAddress: 3, addressOf: () => null } } });
});
afterAll(() => app.close());

const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** An answer to a request with these headers, whether or not they ask for another protocol. */
function ask(path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const request = http.request(app.url + path, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end();
  });
}

describe('a WebSocket handshake', () => {
  test.each(['/', '/v2/quotes', '/v2/stream', '/graphql/', '/nowhere'])(
    'at %s is answered 404, naming the addresses that have WebSockets',
    async (path) => {
      const { status, headers, body } = await rejected(app.url + path);
      expect(status).toBe(404);
      expect(body.error.code).toBe('not_found');
      expect(body.error.message).toContain('/graphql');
      expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
      expect(headers.connection).toBe('close');
    },
  );

  test.each([
    ['another version', { ...handshake, 'sec-websocket-version': '7' }, 'GET', 'Sec-WebSocket-Version'],
    [
      'no key',
      { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      'GET',
      'Sec-WebSocket-Key',
    ],
    [
      'a list of protocols that is none',
      { ...handshake, 'sec-websocket-protocol': ',,,' },
      'GET',
      'Sec-WebSocket-Protocol',
    ],
    ['another method', handshake, 'POST', 'GET'],
  ])('with %s is answered 400, naming what was wrong', async (_name, headers, method, named) => {
    const { status, text, headers: sent } = await ask('/graphql', headers, method);
    expect(status).toBe(400);
    expect(JSON.parse(text).error.message).toContain(named);
    expect(sent['sec-websocket-version']).toBe('13');
    await expect.poll(() => app.live.counts().streams).toBe(0);
  });

  test('carries the request id that it was sent with', async () => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/graphql`, ['graphql-transport-ws'], {
      headers: { 'x-request-id': 'mine-1' },
    });
    const id = await new Promise((resolve) =>
      socket.once('upgrade', ({ headers }) => resolve(headers['x-request-id'])),
    );
    expect(id).toBe('mine-1');
    socket.terminate();
    await expect.poll(() => app.live.counts().streams).toBe(0);
  });
});

test('a request for another protocol is answered as any request', async () => {
  const { status, text } = await ask('/v2/quotes', { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' });
  expect([status, JSON.parse(text).error.code]).toEqual([401, 'unauthenticated']);
});

test('open WebSockets count as connections, as streams and as requests answered with 101', async () => {
  const talks = Array.from({ length: 3 }, () => talk(`${app.url}/graphql`, ['graphql-transport-ws']));
  for (const { open } of talks) await open;
  expect(app.live.counts().streams).toBe(3);
  // None of them is idle, so none makes room.
  const full = await ask('/healthz', {}).catch((error: Error) => error);
  expect(full).toMatchObject({ status: 503 });
  for (const { socket } of talks) socket.terminate();
  await expect.poll(() => app.live.counts().streams).toBe(0);
  await expect.poll(async () => (await ask('/healthz', {})).status).toBe(200);
  expect(await metrics.text()).toMatch(
    /tapegraph_http_requests_total\{route="\/graphql",method="GET",status="101",code=""\} \d+/,
  );
});

test.each([
  ['/v2/ws', []],
  ['/graphql', ['graphql-transport-ws']],
] as const)(
  '%s takes 64 KiB of a client that it does not know, also of a message that never ends',
  async (path, protocols) => {
    const talking = talk(app.url + path, [...protocols]);
    await talking.open;
    const half = (fin: boolean) => talking.socket.send('x'.repeat(20_000), { fin });
    half(false);
    half(false);
    await expect.poll(() => app.live.counts().streams).toBe(1);
    expect(talking.socket.readyState).toBe(WebSocket.OPEN);
    half(false);
    half(false);
    expect(await talking.closed).toMatchObject({ code: 1009 });
    await expect.poll(() => app.live.counts().streams).toBe(0);
  },
);

test('/graphql takes a document of its usual size once it knows the client', async () => {
  const talking = talk(`${app.url}/graphql`, ['graphql-transport-ws']);
  await talking.open;
  talking.send({ type: 'connection_init', payload: { 'X-API-Key': await app.key() } });
  await expect.poll(() => talking.said).toEqual([{ type: 'connection_ack' }]);
  talking.send({ type: 'ping', payload: { text: 'x'.repeat(900_000) } });
  await expect.poll(() => talking.said.at(-1)?.type).toBe('pong');
  talking.socket.terminate();
  await expect.poll(() => app.live.counts().streams).toBe(0);
});
