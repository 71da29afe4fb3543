import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';

// What clients get wrong without meaning harm, at each endpoint that could meet it.
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await testApp({ nowMs, env: { CORS_ORIGINS: 'https://desk.example' } });
  key = await app.key();
});
afterAll(() => app.close());

const document = JSON.stringify({ query: '{ me { tier } }' });
const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const posts = [
  ['a REST route', 'POST', '/v2/journal/accounts', JSON.stringify({ name: 'n' }), 'application/json'],
  ['a REST import', 'POST', '/v2/journal/import?import_id=a', '{}', 'text/plain'],
  ['the graph', 'POST', '/graphql', document, 'application/json'],
  ['MCP', 'POST', '/mcp', message, 'application/json'],
] as const;
const text = (body: unknown) => JSON.stringify(body);

describe('a credential that is not valid', () => {
  test.each([
    ['a REST route', 'GET', '/v2/quotes?symbols=SPY', undefined],
    ['the stream', 'GET', '/v2/stream?topics=quotes&symbols=SPY', undefined],
    ['the graph', 'POST', '/graphql', document],
    ['MCP', 'POST', '/mcp', message],
  ])('is said to be not valid, none to be missing, by %s', async (_, method, path, body) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const sending = { headers, ...(body !== undefined && { body }) };
    const wrong = await app.send(method, path, { credential: `${key.slice(0, -4)}AAAA`, ...sending });
    expect([wrong.status, text(wrong.body)]).toEqual([401, expect.stringContaining('is not valid')]);
    const none = await app.send(method, path, { credential: null, ...sending });
    expect([none.status, text(none.body)]).toEqual([401, expect.stringContaining('Send an API key')]);
  });
});

describe('a body that declares another character set than UTF-8', () => {
  test.each(posts)('is 415 at %s; UTF-8 may be written in any of its ways', async (_, method, path, body, type) => {
    const sent = (charset: string) =>
      app.send(method, path, {
        credential: key,
        headers: {
          'content-type': `${type}; charset=${charset}`,
          accept: 'application/json, text/event-stream',
        },
        body,
      });
    const wrong = await sent('utf-16');
    expect([wrong.status, text(wrong.body)]).toEqual([415, expect.stringContaining('charset=utf-8')]);
    for (const charset of ['utf-8', 'UTF8', '"utf-8"']) expect((await sent(charset)).status).not.toBe(415);
  });
});

describe('a ticker with letters beyond ASCII that upper-case to ASCII ones', () => {
  test('is no ticker by REST nor by the graph', async () => {
    for (const symbol of ['\u017fPY', 'SP\u0131']) {
      expect((await app.get(`/v2/quotes?symbols=${encodeURIComponent(symbol)}`, { credential: key })).status).toBe(400);
      const { answer } = await app.graphql('query ($s: Ticker!) { symbol(symbol: $s) { symbol } }', { s: symbol });
      expect(text(answer.body)).toContain('invalid_params');
    }
  });
});

describe('the deprecated route', () => {
  test('says when it ends and what comes after it in its errors too', async () => {
    for (const [path, status] of [
      ['/gex/SPY/strikes', 400],
      ['/gex/SPY/strikes?date=tomorrow', 400],
      ['/gex/SPX/strikes?date=2026-11-18', 403],
    ] as const) {
      const credential = await app.key({ classification: null });
      const answer = await app.get(path, { credential });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.deprecation).toMatch(/^@\d+$/);
      expect(answer.headers.sunset).toContain('2026');
      expect(answer.headers.link).toContain('rel="successor-version"');
    }
    expect((await app.get('/gex/SPY/strikes', { credential: null })).headers.deprecation).toMatch(/^@/);
  });
});

describe('what is larger than a number holds', () => {
  test('is a limit that is clamped like any large one', async () => {
    const range = 'from=2026-11-18&to=2026-11-20';
    for (const limit of ['1001', '9007199254740993', '9'.repeat(40)]) {
      const { status, body } = await app.get(`/v2/stocks/SPY/bars?${range}&limit=${limit}`, { credential: key });
      expect([limit, status, body.meta.caps.applied]).toEqual([limit, 200, ['limit_clamped']]);
    }
  });
});

describe('a page of another origin', () => {
  test('may send the headers of MCP', async () => {
    const headers = { origin: 'https://desk.example', 'access-control-request-method': 'POST' };
    const preflight = await app.send('OPTIONS', '/mcp', { credential: null, headers });
    expect(preflight.headers['access-control-allow-headers']?.toLowerCase()).toMatch(
      /mcp-protocol-version.*mcp-session-id/,
    );
  });
});

describe('the default written out', () => {
  test('expiries=all is every expiry', async () => {
    const grid = async (query: string) => {
      const { status, body } = await app.get(`/v2/gex/SPY/grid?${query}`, { credential: key });
      return [status, body];
    };
    expect(await grid('expiries=all')).toEqual(await grid(''));
    expect((await grid('expiries=all&dte=0'))[0]).toBe((await grid('dte=0'))[0]);
  });
});
