import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lightMessages } from '../../src/mcp/message.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const accept = 'application/json, text/event-stream';
const send = (body: unknown) => app.send('POST', '/mcp', { body: JSON.stringify(body), headers: { accept } });
const message = (method: string, params: unknown, id = 1) => ({ jsonrpc: '2.0', id, method, params });
const many = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`k${i}`, i]));
const call = (args: object, id = 1) => message('tools/call', { name: 'put_watchlist', arguments: args }, id);
const client = { protocolVersion: '2025-06-18', clientInfo: { name: 'a', version: '1' } };

describe('what the protocol’s library validates of a message', () => {
  test.each([
    ['params that nobody reads', message('tools/list', { cursor: 'a', ...many })],
    ['arguments', call(many)],
    ['arguments that are a list', message('tools/call', { name: 'symbols', arguments: Object.values(many) })],
    ['members of the message', { ...message('ping', {}), ...many }],
    ['an answer of the client', { jsonrpc: '2.0', id: 1, result: many }],
    ['an error of the client', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'a', data: many } }],
  ])('is small, whatever the size of %s', (_name, sent) => {
    expect(JSON.stringify(lightMessages(sent).message).length).toBeLessThan(200);
  });

  test('is rejected where it needs more than any client has to say', async () => {
    const { status, body } = await send(message('initialize', { ...client, capabilities: { experimental: many } }));
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: -32_600, message: expect.stringContaining('more than 200 values') });
    expect((await send(message('tools/list', { _meta: many }))).status).toBe(400);
    expect((await send(message('initialize', { ...client, capabilities: {} }))).status).toBe(200);
  });
});

describe('a message with more than is read', () => {
  test('is answered as it would be without', async () => {
    const [few, all] = [await send(message('tools/list', {})), await send(message('tools/list', many))];
    expect(all.status).toBe(200);
    expect(all.body).toEqual(few.body);
  });

  test('has its arguments whole, each call of a batch its own, and none takes another’s', async () => {
    const lookup = (args: object, id: number) => message('tools/call', { name: 'symbol_lookup', arguments: args }, id);
    const { body } = await send([lookup({ q: 'spy' }, 0), lookup({ q: 'qqq' }, 1), lookup({ kept: 0 }, 2)]);
    const [one, other, none] = (body as Json[])
      .toSorted((a, b) => a.id - b.id)
      .map(({ result }) => JSON.parse(result.content[0].text));
    expect([one.data.symbol, other.data.symbol]).toEqual(['SPY', 'QQQ']);
    expect(none.error.details.parameter).toBe('kept');
  });
});
