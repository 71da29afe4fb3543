import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sending, type TestApp, testApp } from '../support/app.ts';

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
    for (const credential of [null, 'tg_live_notOurs_000000']) {
      const { status, headers, body } = await send({ credential });
      expect({ status, code: body.error.code }).toEqual({ status: 401, code: 'unauthenticated' });
      expect(headers['www-authenticate']).toBe('Bearer');
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

  test('a body that is too large, or no JSON, is told so', async () => {
    const large = await send({ body: ' '.repeat(1024 * 1024 + 1) });
    expect({ status: large.status, code: large.body.error.code }).toEqual({ status: 413, code: 'invalid_params' });
    const broken = await send({ body: '{' });
    expect({ status: broken.status, message: broken.body.error.message }).toEqual({
      status: 400,
      message: 'The body is not JSON.',
    });
  });

  test('keeps no sessions: GET and DELETE are not served, and an answer names none', async () => {
    expect((await send({ body: undefined as never }, 'GET')).status).toBe(405);
    expect((await send({ body: undefined as never }, 'DELETE')).status).toBe(405);
    const { headers, body } = await send();
    expect(headers).not.toHaveProperty('mcp-session-id');
    expect(body.result.tools.length).toBeGreaterThan(40);
  });
});
