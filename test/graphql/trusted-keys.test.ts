import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { subscribe } from '../support/event-reader.ts';

const listed = '{ me { tier } }';
const unlisted = '{ me { accountId } }';
const listedSubscription = 'subscription { quotes(symbols: ["SPY"]) { symbol } }';
const unlistedSubscription = 'subscription { quotes(symbols: ["AAPL"]) { symbol } }';
const introspection = '{ __schema { queryType { name } } }';

let app: TestApp;
let restricted: string;
let free: string;
beforeAll(async () => {
  app = await testApp({ routes: { 'relay.json': JSON.stringify({ a: listed, b: listedSubscription }) } });
  const accountId = await app.account();
  const create = (trustedOnly: boolean) =>
    app.access.keys.create({ accountId, name: null, expiresAt: null, trustedOnly });
  restricted = (await create(true)).key;
  free = (await create(false)).key;
});
afterAll(() => app.close());

/** The code of an answer's error; null = it has data. */
const codeOf = (body: Json): string | null => body.errors?.[0].extensions.code ?? null;

async function tool(address: string, name: string, query: string, credential: string): Promise<string | null> {
  const params = { name, arguments: { query } };
  const { body } = await app.send('POST', address, {
    credential,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
  });
  const { isError, content, structuredContent } = body.result;
  if (isError) return JSON.parse(content[0].text).error.code;
  return structuredContent.refused?.[0]?.code ?? null;
}

async function overWebSocket(query: string, credential: string): Promise<string | null> {
  const client = createClient({
    url: `${app.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: `Bearer ${credential}` },
    retryAttempts: 0,
  });
  try {
    for await (const answer of client.iterate({ query })) return codeOf(answer);
    return null;
  } catch (errors) {
    return codeOf({ errors });
  } finally {
    await client.dispose();
  }
}

async function stream(query: string, credential: string): Promise<string | null> {
  const { status, leave } = await subscribe(app.url, credential, query);
  leave();
  return status === 200 ? null : status === 403 ? 'untrusted_document' : String(status);
}

type Door = (query: string, credential: string) => Promise<string | null>;
const post =
  (path: string): Door =>
  async (query, credential) =>
    codeOf((await app.send('POST', path, { credential, body: JSON.stringify({ query }) })).body);
const get =
  (path: string): Door =>
  async (query, credential) =>
    codeOf((await app.get(`${path}${new URLSearchParams({ query })}`, { credential })).body);

const doors: [string, Door, string, string][] = [
  ['POST', post('/graphql'), listed, unlisted],
  ['GET', get('/graphql?'), listed, unlisted],
  ['introspection', post('/graphql'), listed, introspection],
  ['{ __typename }', post('/graphql'), listed, '{ __typename }'],
  ['an estimate by POST', post('/graphql?cost'), listed, unlisted],
  ['an estimate by GET', get('/graphql?cost&'), listed, unlisted],
  ['server-sent events', stream, listedSubscription, unlistedSubscription],
  ['a WebSocket', overWebSocket, listed, unlisted],
  ['a subscription over a WebSocket', overWebSocket, listedSubscription, unlistedSubscription],
  ['the tool graphql', (query, key) => tool('/mcp', 'graphql', query, key), listed, unlisted],
  ['the tool estimate', (query, key) => tool('/mcp', 'estimate', query, key), listed, unlisted],
  ['graphql of the small mode', (query, key) => tool('/mcp?tools=small', 'graphql', query, key), listed, unlisted],
];

describe('a key of trusted documents only', () => {
  test.each(doors)(
    'is held at %s: another document is refused, also the second time',
    async (_door, send, may, mayNot) => {
      for (let i = 0; i < 2; i++) expect(await send(mayNot, restricted)).toBe('untrusted_document');
      if (!may.startsWith('subscription')) expect(await send(may, restricted)).toBeNull();
      // It is the key: another one of the account runs the same document.
      if (!may.startsWith('subscription')) expect(await send(mayNot, free)).toBeNull();
    },
  );

  test('opens a listed subscription, names documents by id, and reads routes', async () => {
    expect(await stream(listedSubscription, restricted)).toBeNull();
    const { body } = await app.send('POST', '/graphql', { credential: restricted, body: '{"documentId":"a"}' });
    expect(body.data).toEqual({ me: { tier: 'pro' } });
    expect((await app.get('/v2/symbols/SPY', { credential: restricted })).status).toBe(200);
  });

  test('says so where keys are listed', async () => {
    const accountId = await app.account();
    const { meta } = await app.access.keys.create({ accountId, name: 'page', expiresAt: null, trustedOnly: true });
    expect(await app.access.keys.list(accountId)).toEqual([{ ...meta, trustedOnly: true }]);
    const credential = await app.access.sessions.create(accountId, 60_000);
    const { data } = await app.graphql('{ me { keys { name trustedOnly } } }', {}, { credential });
    expect(data.me.keys).toEqual([{ name: 'page', trustedOnly: true }]);
  });
});
