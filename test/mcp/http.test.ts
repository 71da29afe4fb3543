import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, type Sending, type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { CORS_ORIGINS: 'https://app.example.com' } });
});
afterAll(() => app.close());

const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
const accept = 'application/json, text/event-stream';
const send = (sending: Sending = {}, method = 'POST') =>
  app.send(method, '/mcp', { body: list, ...sending, headers: { accept, ...sending.headers } });

describe('/mcp over HTTP', () => {
  test('asks for a credential in the contract’s words, whatever the message', async () => {
    for (const [credential, challenge] of [
      [null, 'Bearer'],
      ['tg_live_notOurs_000000', 'Bearer error="invalid_token"'],
    ] as const) {
      const { status, headers, body } = await send({ credential });
      expect({ status, code: body.error.code }).toEqual({ status: 401, code: 'unauthenticated' });
      expect(headers['www-authenticate']).toBe(challenge);
    }
    const accountId = await app.account();
    const { key } = await app.access.keys.create({ accountId, name: null, expiresAt: app.clock.nowMs + 1000 });
    app.clock.nowMs += 2000;
    expect((await send({ credential: key })).body.error.code).toBe('token_expired');
  });

  test('refuses pages of other origins, and takes those that were named and those of this machine', async () => {
    const from = async (origin: string) => (await send({ headers: { origin } })).status;
    expect(await from('https://evil.example')).toBe(403);
    expect(await from('null')).toBe(403);
    expect(await from('https://app.example.com')).toBe(200);
    expect(await from('http://localhost:6274')).toBe(200);
    expect((await send()).status).toBe(200);
  });

  test('a key is told its rate with every answer, and listing tools is charged as one request', async () => {
    const credential = await app.key();
    const left = async () => Number((await send({ credential })).headers['x-ratelimit-remaining']);
    const before = await left();
    expect(await left()).toBe(before - 1);
    const call = JSON.stringify({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'symbols', arguments: {} },
    });
    const { headers } = await send({ credential, body: call });
    expect(Number(headers['x-ratelimit-remaining'])).toBe(before - 2);
  });

  test.each([
    ['initialize', { protocolVersion: '2025-06-18', capabilities: {} }, 'params.clientInfo'],
    ['initialize', { capabilities: {}, clientInfo: { name: 'a', version: '1' } }, 'params.protocolVersion'],
    ['resources/read', { url: 'x' }, 'params.uri'],
    ['tools/call', { name: 7 }, 'params.name'],
  ])('%s without what the protocol asks for is invalid params, and told which', async (method, params, named) => {
    const { body } = await send({ body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
    expect(body.error.code).toBe(-32602);
    expect(body.error.message).toContain(named);
    expect(body.error.message).not.toContain('[');
  });

  test('a body that is too large, or no JSON, is told so', async () => {
    const told = async (body: string) => {
      const answer = await send({ body });
      const { jsonrpc, id, error } = answer.body;
      expect({ jsonrpc, id, data: error.data }).toEqual({ jsonrpc: '2.0', id: null, data: { code: 'invalid_params' } });
      return [answer.status, error.code, error.message];
    };
    expect(await told(' '.repeat(1024 * 1024 + 1))).toEqual([413, -32600, 'The body is too large: at most 1 MiB.']);
    expect(await told('{')).toEqual([400, -32700, 'The body is not JSON.']);
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    for (const body of [nested, list.replace('{}', `{"a":${nested}}`)])
      expect(await told(body)).toEqual([400, -32600, 'The message is nested more than 64 deep.']);
    const batch = `[${Array(21).fill(list).join()}]`;
    expect(await told(batch)).toEqual([400, -32600, 'The batch has 21 messages; at most 20 are allowed.']);
  });

  test('two messages of a batch with one id are rejected: their answers could not be told apart', async () => {
    const call = (id: unknown) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'quotes', arguments: {} },
    });
    const sent = (...ids: unknown[]) => send({ body: JSON.stringify(ids.map(call)) });
    const { status, body } = await sent(1, '1', 2);
    expect([status, body.map((answer: Json) => answer.id)]).toEqual([200, [1, '1', 2]]);
    for (const id of [1, 'x'])
      expect((await sent(id, 7, id)).body.error.message).toBe(
        `Two messages of the batch have the id ${JSON.stringify(id)}.`,
      );
  });

  test('a batch costs what its messages would one by one, calls that fail among them', async () => {
    const credential = await app.key();
    const message = (id: number, method: string, params: object) => ({ jsonrpc: '2.0', id, method, params });
    const call = (id: number, name: string, args: object) => message(id, 'tools/call', { name, arguments: args });
    const left = async (messages: object | object[]) =>
      Number((await send({ credential, body: JSON.stringify(messages) })).headers['x-ratelimit-remaining']);
    const messages = [
      message(1, 'tools/list', {}),
      message(2, 'ping', {}),
      call(3, 'symbols', {}),
      call(4, 'symbols', { nothing: 1 }),
      call(5, 'no_such_tool', {}),
      call(6, 'graphql', { query: '{ me { tier } }' }),
      call(7, 'graphql', {}),
      message(8, 'tools/call', {}),
    ];
    let before = await left(message(9, 'ping', {}));
    for (const one of messages) {
      const now = await left(one);
      expect([one, before - now]).toEqual([one, 1]);
      before = now;
    }
    await send({ credential, body: JSON.stringify(messages) });
    expect(before - (await left(message(9, 'ping', {})))).toBe(messages.length + 1);
  });

  test('keeps no sessions: GET and DELETE are not served, and an answer names none', async () => {
    expect((await send({ body: undefined as never }, 'GET')).status).toBe(405);
    expect((await send({ body: undefined as never }, 'DELETE')).status).toBe(405);
    const { headers, body } = await send();
    expect(headers).not.toHaveProperty('mcp-session-id');
    expect(body.result.tools.length).toBeGreaterThan(40);
  });
});
