import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ApiError, TapegraphError, type TypedDocument, Unreachable } from '../../../clients/typescript/src/index.ts';
import { routes } from '../../../src/rest/routes.ts';
import { answer, failure, fakeGateway, rejection, withoutWaiting } from './fake-gateway.ts';

describe('a request of the TypeScript client', () => {
  test('has a method for each route, and no other but those about itself', () => {
    const { client } = fakeGateway([]);
    const camel = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const own = ['asOf', 'constructor', 'graph', 'rate', 'request', 'stream', 'subscribe'];
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(client));
    expect(methods.sort()).toEqual([...routes.map(({ name }) => camel(name)), ...own].sort());
  });

  test('sends parameters as the contract writes them, and the key in a header', async () => {
    const { client, sent } = fakeGateway([answer([]), answer([]), answer({})]);
    const from = new Date('2026-11-20T14:30:00Z');
    await client.stockBars({ symbol: 'BRK/B', from, to: '2026-11-21', adjusted: true, limit: 5 });
    await client.screen({ where: { spot: { gte: 5 } } });
    await client.patchJournalTrade({ id: 'a b', body: { note: null } });
    expect(sent[0]!.url.pathname).toBe('/v2/stocks/BRK%2FB/bars');
    expect(Object.fromEntries(sent[0]!.url.searchParams)).toEqual({
      from: String(from.getTime()),
      to: '2026-11-21',
      adjusted: 'true',
      limit: '5',
    });
    expect(sent[0]!.headers.Authorization).toBe('Bearer key');
    expect(sent[1]!.url.searchParams.get('where')).toBe('{"spot":{"gte":5}}');
    expect(sent[2]).toMatchObject({ method: 'PATCH', body: '{"note":null}' });
    expect(sent[2]!.headers['Content-Type']).toBe('application/merge-patch+json');
  });

  test('calls a route that has no method, and in a view of the past one of the past alone', async () => {
    const { client, sent } = fakeGateway([answer([1]), answer([], { at: 5 }), answer([])]);
    const { data } = await client.request<number[]>('GET', '/v2/own/{symbol}/levels', { symbol: 'BRK/B', top: 2 });
    expect([data, sent[0]!.url.pathname + sent[0]!.url.search]).toEqual([[1], '/v2/own/BRK%2FB/levels?top=2']);
    const view = client.asOf(5);
    await view.request('GET', '/v2/own');
    expect(sent[1]!.url.search).toBe('?at=5');
    await expect(view.request('GET', '/v2/own')).rejects.toThrow('/v2/own takes no at');
  });

  test('asks for the key each time, if it is a function', async () => {
    let count = 0;
    const { client, sent } = fakeGateway([answer([]), answer([])], { key: async () => `key${++count}` });
    await client.symbols();
    await client.symbols();
    expect(sent.map(({ headers }) => headers.Authorization)).toEqual(['Bearer key1', 'Bearer key2']);
  });

  test('has no key if that of the environment is empty', async () => {
    vi.stubEnv('TAPEGRAPH_KEY', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { client, sent } = fakeGateway([failure(401, 'unauthenticated')], { key: undefined });
    await expect(client.symbols()).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(sent[0]!.headers).not.toHaveProperty('Authorization');
  });

  test('is sent again twice if it reads, after the time that the answer names', async () => {
    const { client } = fakeGateway([failure(429, 'rate_limited', { 'Retry-After': '7' }), failure(503), answer([1])]);
    const { result, waited } = await withoutWaiting(() => client.symbols());
    expect([result.data, waited]).toEqual([[1], [7, 1]]);
  });

  test('throws the third failure, with its code', async () => {
    const headers = { 'x-request-id': 'r1' };
    const { client } = fakeGateway([failure(502), failure(504), failure(503, 'provider_unavailable', headers)]);
    const { result } = await withoutWaiting(() => rejection(client.symbols()));
    expect(result).toBeInstanceOf(ApiError);
    expect(result).toMatchObject({ code: 'provider_unavailable', status: 503, requestId: 'r1' });
  });

  test('leaves a wait over 30 seconds to the caller', async () => {
    const { client, sent } = fakeGateway([failure(429, 'rate_limited', { 'Retry-After': '31' })]);
    expect(await rejection(client.symbols())).toMatchObject({ code: 'rate_limited', retryAfter: 31 });
    expect(sent).toHaveLength(1);
  });

  test('is never sent again if it writes', async () => {
    for (const refused of [failure(503), new TypeError('refused')]) {
      const { client, sent } = fakeGateway([refused]);
      expect(await rejection(client.putWatchlist({ id: 'a', body: { name: 'A', symbols: [] } }))).toBeInstanceOf(
        TapegraphError,
      );
      expect(sent).toHaveLength(1);
    }
    const { client, sent } = fakeGateway([failure(503)]);
    await rejection(client.graph('mutation { revokeApiKey(id: 1) { revoked } }'));
    expect(sent).toHaveLength(1);
  });

  test('is unreachable after lost connections, and ends at once when it is aborted', async () => {
    const { client } = fakeGateway([new TypeError('1'), new TypeError('2'), new TypeError('3')]);
    const { result, waited } = await withoutWaiting(() => rejection(client.graph('{ a }')));
    expect([result, waited]).toEqual([expect.any(Unreachable), [0.5, 1]]);
    const reason = new Error('enough');
    const { client: other, sent } = fakeGateway([new TypeError('1')]);
    expect(await rejection(other.symbols({}, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(sent).toHaveLength(1);
  });

  test('takes the page of a proxy, and a redirect, for an error with its status', async () => {
    for (const status of [404, 302]) {
      const { client, sent } = fakeGateway([new Response('<html>', { status, headers: { location: 'http://x/' } })]);
      expect(await rejection(client.symbols())).toMatchObject({ code: `http_${status}`, message: '<html>' });
      expect(sent).toHaveLength(1);
    }
  });

  test('says what is left of the minute', async () => {
    const rate = { 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '9', 'x-ratelimit-reset': '30' };
    const { client } = fakeGateway([answer([], {}, rate), answer([])]);
    expect(client.rate).toBeNull();
    const expected = { limit: 600, remaining: 9, reset: 30 };
    expect((await client.symbols()).rate).toEqual(expected);
    expect((await client.asOf(0).quotes({ symbols: ['SPY', 'QQQ'] })).rate).toBeNull();
    expect(client.rate).toEqual(expected);
  });
});

describe('a document of the TypeScript client', () => {
  test('has the types that it knows', async () => {
    const { client, sent } = fakeGateway([Response.json({ data: { a: 1 } })]);
    const document: TypedDocument<{ a: number }, { x: string }> = { toString: () => 'query($x: String!) { a(x: $x) }' };
    const { data } = await client.graph(document, { x: 'y' });
    const typed: number = data.a;
    expect(typed).toBe(1);
    // @ts-expect-error: the document has no such field
    void data.b;
    expect(JSON.parse(String(sent[0]!.body))).toEqual({ query: String(document), variables: { x: 'y' } });
  });

  test('throws the error of a field unless the rest is asked for', async () => {
    const errors = [{ message: 'SPX needs pro.', path: ['b'], extensions: { code: 'not_entitled_tier' } }];
    const answers = () => Response.json({ data: { a: 1, b: null }, errors });
    const { client } = fakeGateway(answers);
    expect(await rejection(client.graph('{ a b }'))).toMatchObject({ code: 'not_entitled_tier', data: { a: 1 } });
    expect(await client.graph('{ a b }', {}, { partial: true })).toMatchObject({ data: { a: 1 }, errors });
  });

  test('has the code of its error if it is rejected', async () => {
    const errors = [{ message: 'no such field', extensions: { code: 'invalid_params' } }];
    const { client } = fakeGateway([Response.json({ errors }, { status: 400 })]);
    expect(await rejection(client.graph('{ x }'))).toMatchObject({ code: 'invalid_params', status: 400 });
  });
});

describe('a view of the past', () => {
  test('sends its instant with routes and documents', async () => {
    const { client, sent } = fakeGateway([answer([]), Response.json({ data: {} }), answer([])]);
    const view = client.asOf(new Date(5), { tz: 'UTC' });
    await view.quotes({ symbols: 'SPY' });
    await view.graph('query($at: PointInTime, $tz: TimeZone!) { asOf(at: $at, tz: $tz) { x } }', { y: 1 });
    await view.quotes({ symbols: 'SPY', at: 7 });
    expect(sent[0]!.url.search).toBe('?at=5&tz=UTC&symbols=SPY');
    expect(JSON.parse(String(sent[1]!.body)).variables).toEqual({ at: '5', tz: 'UTC', y: 1 });
    expect(sent[2]!.url.searchParams.get('at')).toBe('7');
  });

  test('never answers with the present', async () => {
    const { client, sent } = fakeGateway([]);
    const view = client.asOf('2026-11-20');
    await expect(view.symbols()).rejects.toThrow('/v2/symbols takes no at');
    await expect(view.graph('{ symbol(symbol: "SPY") { id } }')).rejects.toThrow('declares no $at');
    expect(() => view.stream('quotes:SPY')).toThrow('of the present');
    expect(() => view.subscribe('subscription { x }')).toThrow('of the present');
    expect(() => client.asOf(undefined)).toThrow('give at or known');
    expect(sent).toEqual([]);
  });
});
