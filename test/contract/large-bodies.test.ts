import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { heavyWork } from '../../src/platform/runtime/event-loop.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { talk } from '../support/web-socket.ts';

let app: TestApp;
let session: string;
beforeAll(async () => {
  app = await testApp();
  session = await app.session();
});
afterAll(() => app.close());

const remaining = async () =>
  Number((await app.get('/v2/account/usage', { credential: session })).headers['x-ratelimit-remaining']);

/** Requests charged for `work`. */
async function charged(work: () => Promise<unknown>): Promise<number> {
  const before = await remaining();
  await work();
  return before - (await remaining()) - 1;
}

interface Spoken {
  open(): Promise<ReturnType<typeof talk>>;
  /** A ping with a text, and what answers it. */
  ping(text: string): object;
  pong(text: string): object;
}

const sockets: Record<string, Spoken> = {
  '/graphql': {
    async open() {
      const client = talk(`${app.url}/graphql`, ['graphql-transport-ws']);
      await client.open;
      client.send({ type: 'connection_init', payload: { Authorization: `Bearer ${session}` } });
      await expect.poll(() => client.said).toEqual([{ type: 'connection_ack' }]);
      return client;
    },
    ping: (text) => ({ type: 'ping', payload: { text } }),
    pong: (text) => ({ type: 'pong', payload: { text } }),
  },
  '/v2/ws': {
    async open() {
      const { body } = await app.send('POST', '/v2/stream/ticket', { credential: session });
      const client = talk(`${app.url}/v2/ws`);
      await client.open;
      client.send({ op: 'auth', ticket: body.data.ticket, proto: 3, encoding: 'protobuf' });
      await expect.poll(() => client.said).toEqual([{ op: 'authed' }]);
      return client;
    },
    ping: (text) => ({ op: 'ping', t: text }),
    pong: (text) => ({ op: 'pong', t: text }),
  },
};

const accept = 'application/json, text/event-stream';
const posted = (method: string, path: string, contentType = 'application/json') => ({
  send: (text: string) =>
    app.send(method, path, { credential: session, headers: { accept }, contentType, body: JSON.stringify({ text }) }),
});
const spoken = ({ open, ping, pong }: Spoken) => ({
  async send(text: string) {
    const client = await open();
    client.send(ping(text));
    await expect.poll(() => client.said[1]).toEqual(pong(text));
    client.socket.close();
    await client.closed;
  },
});
const ways = {
  'POST /graphql': posted('POST', '/graphql'),
  'POST /mcp': posted('POST', '/mcp'),
  'PUT /v2/watchlists/{id}': posted('PUT', '/v2/watchlists/a'),
  'POST /v2/journal/import': posted('POST', '/v2/journal/import?import_id=a', 'text/plain'),
  'WebSocket /graphql': spoken(sockets['/graphql']!),
  'WebSocket /v2/ws': spoken(sockets['/v2/ws']!),
};

test.each(Object.entries(ways))('a large body waits for its turn among heavy work, %s', async (_way, { send }) => {
  const pieces = async (text: string) => {
    const before = heavyWork().pieces;
    await send(text);
    return heavyWork().pieces - before;
  };
  // The work of other answers may be counted meanwhile.
  await expect.poll(() => pieces('x')).toBe(0);
  expect(await pieces('x'.repeat(50_000))).toBeGreaterThan(0);
});

describe.each(Object.entries(sockets))('a ping over the WebSocket %s', (_path, { open, ping, pong }) => {
  test('is free unless it is large', async () => {
    const client = await open();
    for (const [text, requests] of [
      ['x', 0],
      ['x'.repeat(4000), 0],
      ['x'.repeat(50_000), 1],
    ] as const) {
      const said = client.said.length;
      const cost = await charged(async () => {
        client.send(ping(text));
        await expect.poll(() => client.said[said]).toEqual(pong(text));
      });
      expect(cost).toBe(requests);
    }
    client.socket.close();
  });
});

test.each([
  ['a list', `[${'1,'.repeat(12_000)}1]`],
  ['levels', '['.repeat(30_000) + ']'.repeat(30_000)],
])('a message of /v2/ws with more values than are read is rejected, and charged: %s', async (_what, json) => {
  const client = await sockets['/v2/ws']!.open();
  const cost = await charged(async () => {
    client.send(`{"op":"ping","t":${json}}`);
    await expect.poll(() => client.said[1]).toMatchObject({ op: 'nack', code: 'invalid_params' });
  });
  expect([cost, client.said[1].message]).toEqual([1, 'op: has more than 10,000 values']);
  client.socket.close();
});

test.each(['1', '"x"', '{}', '[{}]', '[1]', '{"jsonrpc":"1.0","method":"ping"}', '{"jsonrpc":"2.0","method":1}'])(
  'what is no JSON-RPC message is invalid_params: %s',
  async (body) => {
    const { status, body: answer } = await app.send('POST', '/mcp', { credential: session, headers: { accept }, body });
    expect([status, answer.error.data.code]).toEqual([400, 'invalid_params']);
  },
);

test('a large body that is rejected is charged for its bytes', async () => {
  const large = JSON.stringify('x'.repeat(900_000));
  for (const body of [large, `[${large}`, `[${large}]`])
    for (const path of ['/graphql', '/mcp']) {
      const cost = await charged(async () => {
        const { status } = await app.send('POST', path, { credential: session, headers: { accept }, body });
        expect(status).toBe(400);
      });
      expect([path, cost]).toEqual([path, expect.toSatisfy((requests: number) => requests >= 6 && requests <= 7)]);
    }
});
