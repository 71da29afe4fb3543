import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, TestApp } from '../support/app.ts';
import { filledApp } from '../support/filled-market.ts';
import { about, type KnownRoute, knownRoutes } from './known-routes.ts';

let app: TestApp;
let owner: string;
let ownerKey: string;
beforeAll(async () => {
  app = await filledApp();
  owner = await app.account();
  ownerKey = (await app.access.keys.create({ accountId: owner, name: null, expiresAt: null })).key;
});
afterAll(() => app.close());

const withIds = knownRoutes().filter(({ route, known }) => known.prepare && route.path.includes(':id'));

/** Content of an answer, without what differs from request to request. */
const said = ({ status, body }: Answer, id: string) => [status, JSON.stringify(body).replaceAll(id, '{id}')];

describe('what belongs to another account', () => {
  test('there are routes with ids', () => {
    expect(withIds.length).toBeGreaterThan(5);
  });

  test.each(withIds)('$name answers as for an id that nobody has', async ({ route, known }: KnownRoute) => {
    const ask = async (id: string) => {
      const body = known.body === undefined ? {} : { body: about(known.body, 'SPY', id) };
      const type = known.contentType === undefined ? {} : { contentType: known.contentType };
      return app.send(route.method, about(known.path, 'SPY', id), { credential: stranger, ...body, ...type });
    };
    // A new one each time: a PUT may have created what others then find.
    const stranger = await app.session();
    const theirs = await known.prepare!(app, owner);
    const [foreign, unknown] = [await ask(theirs), await ask('nobody-has-this')];
    expect(said(foreign, theirs)).toEqual(said(unknown, 'nobody-has-this'));
  });
});

const sealed = '/v2/gex/NVDA/history?date=2026-11-30&top=3';
const page = '/v2/stocks/NVDA/bars?tf=1d&limit=1&from=2026-11-25&to=2026-12-01';

describe('what another caller was given', () => {
  test('a tag opens nothing: who may not read it is refused before tags are compared', async () => {
    const { headers } = await app.get(sealed, { credential: ownerKey });
    const free = await app.key({ apiTier: 'free' });
    for (const tag of [headers.etag!, '*']) {
      const conditional = { 'if-none-match': tag };
      expect((await app.get(sealed, { credential: ownerKey, headers: conditional })).status).toBe(304);
      expect((await app.get(sealed, { credential: free, headers: conditional })).status).toBe(403);
      expect((await app.get(sealed, { credential: null, headers: conditional })).status).toBe(401);
    }
  });

  test('a cursor opens nothing', async () => {
    const { body } = await app.get(page, { credential: ownerKey });
    const next = `${page}&cursor=${encodeURIComponent(body.meta.cursor)}`;
    expect((await app.get(next, { credential: ownerKey })).status).toBe(200);
    expect((await app.get(next, { credential: await app.key({ apiTier: 'free' }) })).status).toBe(403);
    expect((await app.get(next, { credential: null })).status).toBe(401);
  });

  test('a place in a stream opens nothing', async () => {
    const path = '/v2/stream?topics=large-trades:NVDA';
    const stop = new AbortController();
    const stream = await fetch(app.url + path, {
      headers: { authorization: `Bearer ${ownerKey}` },
      signal: stop.signal,
    });
    let text = '';
    for await (const part of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.includes('event: ready') && text.includes('\n\n', text.indexOf('event: ready'))) break;
    }
    stop.abort();
    const headers = { 'last-event-id': /^id: (.+)$/m.exec(text)![1]!, accept: 'text/event-stream' };
    expect((await app.get(path, { credential: await app.key({ apiTier: 'basic' }), headers })).status).toBe(403);
    expect((await app.get(path, { credential: null, headers })).status).toBe(401);
  });

  test('an answer that is kept is given to none of fewer rights', async () => {
    const query = '{ symbol(symbol: "NVDA") { quote { spot } } }';
    expect((await app.graphql(query, {}, { credential: ownerKey })).errors).toBeUndefined();
    const free = await app.graphql(query, {}, { credential: await app.key({ apiTier: 'free' }) });
    expect(free.data.symbol?.quote?.spot ?? null).toBeNull();
  });
});

describe('an error', () => {
  test('repeats what was sent as JSON alone, and never a stack', async () => {
    const hostile = '<script>alert(1)</script>';
    const encoded = encodeURIComponent(hostile);
    for (const path of [
      `/v2/${encoded}`,
      `/${encoded}`,
      `/v2/symbols/${encoded}`,
      `/v2/quotes?symbols=${encoded}`,
      `/v2/stream?topics=${encoded}`,
      `/graphql?query=${encoded}`,
      `/graphql?query=${encodeURIComponent('{ me { tier } }')}&variables=${encoded}`,
      `/docs/${encoded}`,
      `/assets/x/${encoded}`,
    ]) {
      const { headers, bytes } = await app.get(path, { headers: { accept: 'text/plain, */*' } });
      expect([path, headers['content-type']]).toEqual([path, expect.stringMatching(/json|event-stream/)]);
      expect(bytes.toString()).not.toMatch(/\n? {4}at |node_modules|\/src\//);
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });
});
