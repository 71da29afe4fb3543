import { createHash } from 'node:crypto';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { pageDocuments } from '../../src/pages/client/documents.ts';
import { dashboardQuery } from '../../src/pages/dashboard/client/data/operations.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { subscribe } from '../support/event-reader.ts';

const own = 'query ($symbol: Ticker!) { symbol(symbol: $symbol) { name } }';
const ofApollo = 'query Name($symbol: Ticker!) { symbol(symbol: $symbol) { name class } }';
const ofRelay = '{ me { tier } }';
const ofCodegen = 'subscription { quotes(symbols: ["SPY"]) { symbol } }';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const routes = {
  'named.graphql': own,
  'apollo.json': JSON.stringify({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: [{ id: sha256(ofApollo), name: 'Name', type: 'query', body: ofApollo }],
  }),
  'relay.json': JSON.stringify({ '0123456789abcdef': ofRelay }),
  'persisted-documents.json': JSON.stringify({ [sha256(ofCodegen)]: ofCodegen }),
};
const variables = { symbol: 'SPY' };
let app: TestApp;
let only: TestApp;

beforeAll(async () => {
  app = await testApp({ routes });
  only = await testApp({ store: app.store, routes, env: { ROUTES_DIR: 'routes', GRAPH_DOCUMENTS: 'trusted' } });
});
afterAll(async () => {
  only.live.close();
  await only.access.close();
  await app.close();
});

const post = (to: TestApp, body: object, headers: Record<string, string> = {}) =>
  to.send('POST', '/graphql', { body: JSON.stringify(body), headers });
const get = (to: TestApp, params: Record<string, string>, headers: Record<string, string> = {}) =>
  to.get(`/graphql?${new URLSearchParams(params)}`, { headers });
const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body.errors[0].extensions.code];

describe('a trusted document', () => {
  test('is named by its id, by POST and by GET, and its answers are never stored', async () => {
    const expected = { symbol: { name: 'SPY Inc.' } };
    for (const documentId of ['named', `sha256:${sha256(own)}`, sha256(own)]) {
      expect((await post(app, { documentId, variables })).body.data).toEqual(expected);
      const got = await get(app, { documentId, variables: JSON.stringify(variables) });
      expect(got.body.data).toEqual(expected);
      expect(got.headers['cache-control']).toBe('no-store');
      expect(got.headers.vary).toContain('Authorization');
    }
  });

  test('is of a manifest of Apollo, Relay or GraphQL Code Generator, as their clients send it', async () => {
    const persistedQuery = { version: 1, sha256Hash: sha256(ofApollo) };
    const byHash = await post(app, { extensions: { persistedQuery }, variables });
    expect(byHash.body.data).toEqual({ symbol: { name: 'SPY Inc.', class: 'equity' } });
    const gotten = await get(app, {
      extensions: JSON.stringify({ persistedQuery }),
      variables: JSON.stringify(variables),
    });
    expect(gotten.body.data).toEqual(byHash.body.data);
    expect((await post(app, { documentId: '0123456789abcdef' })).body.data).toEqual({ me: { tier: 'pro' } });
    expect(codeOf(await post(app, { documentId: sha256(ofCodegen) }, { accept: 'application/json' }))).toEqual([
      ...[400, 'invalid_params'],
    ]);
  });

  test('is looked for under its id alone: an unknown, empty or doubled one is an error', async () => {
    expect(codeOf(await post(app, { documentId: 'other' }))).toEqual([404, 'not_found']);
    expect(codeOf(await get(app, { documentId: 'constructor' }))).toEqual([404, 'not_found']);
    for (const documentId of ['', 5, {}])
      expect(codeOf(await post(app, { documentId }))).toEqual([400, 'invalid_params']);
    expect(codeOf(await post(app, { documentId: 'named', query: '{ __typename }' }))).toEqual([400, 'invalid_params']);
    const unknown = await post(app, { extensions: { persistedQuery: { sha256Hash: 'x' } } });
    expect(unknown.body.errors[0].message).toBe('PersistedQueryNotSupported');
  });

  test('is replaced with the routes', async () => {
    const changing = await testApp({ store: app.store, routes });
    changing.replaceRoutes({ 'relay.json': JSON.stringify({ mine: '{ __typename }' }) });
    expect((await post(changing, { documentId: 'mine' })).body.data).toEqual({ __typename: 'Query' });
    expect(codeOf(await post(changing, { documentId: 'named', variables }))).toEqual([404, 'not_found']);
    changing.live.close();
    await changing.access.close();
  });
});

describe('with GRAPH_DOCUMENTS=trusted', () => {
  const unlisted = '{ me { accountId } }';
  const refused = [403, 'untrusted_document'];

  test('a listed document is answered, by its id or its text', async () => {
    expect((await post(only, { documentId: 'named', variables })).body.data).toEqual({ symbol: { name: 'SPY Inc.' } });
    expect((await post(only, { query: own, variables })).body.data).toEqual({ symbol: { name: 'SPY Inc.' } });
    expect((await only.get('/own/named?symbol=SPY')).status).toBe(200);
    // The pages' own.
    for (const query of [dashboardQuery, ...Object.values(pageDocuments)])
      expect(codeOf(await post(only, { query }))).not.toEqual(refused);
  });

  test('another one is not, however it is sent, introspection among them', async () => {
    for (const query of [
      unlisted,
      '{ __typename }',
      '{ __schema { queryType { name } } }',
      `${own} `,
      '{',
      undefined,
    ]) {
      expect(codeOf(await post(only, { query }))).toEqual(refused);
      // Twice: the second time it could be cached.
      expect(codeOf(await post(only, { query }))).toEqual(refused);
    }
    expect(codeOf(await get(only, { query: unlisted }))).toEqual(refused);
    expect(codeOf(await get(only, {}, { accept: 'text/html' }))).toEqual(refused);
    const anonymous = await only.send('POST', '/graphql', {
      body: '{"query":"{ __schema { queryType { name } } }"}',
      credential: null,
    });
    expect(codeOf(anonymous)).toEqual(refused);
  });

  test('nor as a subscription over server-sent events', async () => {
    const stream = await subscribe(only.url, await only.key(), 'subscription { quotes(symbols: ["AAPL"]) { symbol } }');
    expect(stream.status).toBe(403);
    stream.leave();
  });

  test('nor over a WebSocket', async () => {
    const client = createClient({
      url: `${only.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { Authorization: `Bearer ${await only.key()}` },
      retryAttempts: 0,
    });
    onTestFinished(async () => void (await client.dispose()));
    const ask = async (query: string) => {
      for await (const answer of client.iterate({ query })) return answer;
    };
    expect((await ask(ofRelay))?.data).toEqual({ me: { tier: 'pro' } });
    await expect(ask(unlisted)).rejects.toMatchObject([{ extensions: { code: 'untrusted_document' } }]);
  });

  test('nor as a tool of an AI client', async () => {
    const call = async (query: string) => {
      const params = { name: 'graphql', arguments: { query } };
      const { body } = await only.send('POST', '/mcp', {
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
      });
      return body.result;
    };
    expect((await call(ofRelay)).structuredContent).toEqual({ data: { me: { tier: 'pro' } } });
    const answer = await call(unlisted);
    expect(answer.isError).toBe(true);
    expect(answer.content[0].text).toContain('untrusted_document');
  });
});
