import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSiteSession } from '../../src/access/identity/site-session.ts';
import { type TestApp, testApp } from '../support/app.ts';

const secret = 'a secret for tests, long enough for HS256';
let app: TestApp;
let key: string;
let account: string;
beforeAll(async () => {
  app = await testApp({
    env: { SESSION_ISSUER: 'https://id.example', SESSION_AUDIENCE: 'tapegraph', SESSION_SECRET: secret },
  });
  account = await app.account();
  key = (await app.access.keys.create({ accountId: account, name: null, expiresAt: null })).key;
});
afterAll(() => app.close());

interface Endpoint {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

const json = { 'content-type': 'application/json' };
const events = { accept: 'text/event-stream' };
const quotes = 'subscription { quotes(symbols: ["SPY"]) { symbol } }';
const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

/** Every way in. */
const endpoints: Record<string, Endpoint> = {
  'a route': { method: 'GET', path: '/v2/symbols' },
  'a route that lists token_expired': { method: 'GET', path: '/v2/stocks/SPY/bars?from=2026-11-19&to=2026-11-20' },
  'a write': { method: 'PUT', path: '/v2/watchlists/x', headers: json, body: '{"name":"x","symbols":[]}' },
  'a query by GET': { method: 'GET', path: '/graphql?query=%7Bme%7Btier%7D%7D' },
  'a query by POST': { method: 'POST', path: '/graphql', headers: json, body: '{"query":"{ me { tier } }"}' },
  'a subscription': { method: 'GET', path: `/graphql?query=${encodeURIComponent(quotes)}`, headers: events },
  'a stream': { method: 'GET', path: '/v2/stream?topics=quotes:SPY', headers: events },
  'an AI client': {
    method: 'POST',
    path: '/mcp',
    headers: { ...json, accept: 'application/json, text/event-stream' },
    body: JSON.stringify(message),
  },
};

/**
 * Status and body of an answer; of an unending stream of events, the first 2,000 characters or all within 300 ms.
 */
async function ask(name: string, credentials: [string, string][]): Promise<{ status: number; body: string }> {
  const { method, path, headers = {}, body } = endpoints[name]!;
  const request = http.request(app.url + path, { method, agent: false });
  for (const [header, value] of Object.entries(headers)) request.setHeader(header, value);
  // Several lines of one name, as they are.
  for (const [header] of credentials)
    request.setHeader(
      header,
      credentials.filter(([one]) => one === header).map(([, value]) => value),
    );
  request.on('error', () => {});
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const status = answer.statusCode!;
  if (status === 200 && answer.headers['content-type']?.startsWith('text/event-stream')) {
    const said = await new Promise<string>((resolve) => {
      let all = '';
      const end = () => resolve(all);
      answer.setEncoding('utf8').on('data', (part: string) => {
        all += part;
        if (all.length > 2000) end();
      });
      answer.on('end', end);
      setTimeout(end, 300);
    });
    request.destroy();
    return { status, body: said };
  }
  return { status, body: await text(answer) };
}

const names = Object.keys(endpoints);
const bearer = (credential: string): [string, string] => ['authorization', `Bearer ${credential}`];
const foreign = (claims: { issuer: string | null; audience: string | null }) =>
  createSiteSession(secret, account, 3_600_000, () => app.clock.nowMs, claims);

describe('at every endpoint', () => {
  test.each(names)('%s takes a key in either header, and a session of this server', async (name) => {
    const session = await app.access.sessions.create(account, 3_600_000);
    for (const good of [bearer(key), bearer(session), ['x-api-key', key] as [string, string]]) {
      const { status, body } = await ask(name, [good]);
      expect([status, body]).toEqual([200, expect.not.stringContaining('unauthenticated')]);
    }
  });

  test.each(names)('%s: a session token in X-API-Key is none', async (name) => {
    const session = await app.access.sessions.create(account, 3_600_000);
    const { body } = await ask(name, [['x-api-key', session]]);
    expect(body).toContain('"unauthenticated"');
  });

  test.each(names)(
    '%s: a token of another issuer, for another audience, or for nobody in particular is none',
    async (name) => {
      const issuer = 'https://id.example';
      const audience = 'tapegraph';
      for (const claims of [
        { issuer, audience: 'billing' },
        { issuer, audience: null },
        { issuer: 'https://other.example', audience },
        { issuer: null, audience },
      ]) {
        const { body } = await ask(name, [bearer(await foreign(claims))]);
        expect(body).toContain('"unauthenticated"');
      }
    },
  );

  test.each(names)('%s: of two credentials in one header none is picked', async (name) => {
    const other = await app.key();
    for (const two of [
      [bearer(key), bearer(other)],
      [bearer(key), bearer(key)],
      [
        ['x-api-key', key],
        ['x-api-key', other],
      ] as [string, string][],
    ]) {
      const { status, body } = await ask(name, two);
      expect(body).toContain('"invalid_params"');
      expect(body).toMatch(/(Authorization|X-API-Key): expected one such header, got 2\./);
      if (status !== 200) expect(status).toBe(400);
    }
  });
});

test('the status is 401 or 400 wherever the endpoint answers with one', async () => {
  const session = await app.access.sessions.create(account, 3_600_000);
  for (const name of ['a route', 'a write', 'a query by POST', 'a stream', 'an AI client']) {
    expect([name, (await ask(name, [['x-api-key', session]])).status]).toEqual([name, 401]);
    expect([name, (await ask(name, [bearer(key), bearer(key)])).status]).toEqual([name, 400]);
  }
});
