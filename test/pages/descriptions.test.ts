import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { buildSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { topicKinds } from '../../src/rest/stream/stream-topics.ts';
import { misfits } from '../contract/json-schema.ts';
import { knownRoutes } from '../contract/known-routes.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { clausesIn } from '../support/description-openings.ts';
import { readEvents } from '../support/event-reader.ts';
import { filledApp } from '../support/filled-market.ts';

let app: TestApp;
beforeAll(async () => {
  app = await filledApp();
}, 60_000);
afterAll(() => app.close());

const read = (path: string) => app.get(path, { credential: null });

test('/schema.graphql is the graph that is served, readable without a credential and storable by caches', async () => {
  const { status, headers, bytes } = await read('/schema.graphql');
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'text/plain; charset=utf-8' });
  expect(headers['cache-control']).toBe('public, max-age=300');
  const printed = bytes.toString();
  expect(printed).toBe(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
  expect(buildSchema(printed).getQueryType()?.getFields()).toHaveProperty('symbol');
  expect((await app.send('POST', '/schema.graphql', { credential: null })).status).toBe(405);
});

test.each([
  '/v2/openapi.json',
  '/v2/rest-protocol.proto',
  '/v2/stream-protocol.proto',
  '/v2/ws-protocol.json',
  '/schema.graphql',
  '/llms.txt',
  '/asyncapi.json',
  '/widgets.json',
])('%s is sent compressed, and not again to a client that has it', async (path) => {
  const plain = await read(path);
  const tags = new Set([plain.headers.etag]);
  for (const [encoding, decompressed] of Object.entries({ br: brotliDecompressSync, gzip: gunzipSync })) {
    const get = (more: Record<string, string> = {}) =>
      fetch(app.url + path, { headers: { 'accept-encoding': encoding, ...more } });
    const { headers, bytes } = await app.get(path, { credential: null, headers: { 'accept-encoding': encoding } });
    expect([headers['content-encoding'], headers.vary]).toEqual([encoding, expect.stringContaining('Accept-Encoding')]);
    expect(bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(decompressed(bytes).equals(plain.bytes)).toBe(true);
    tags.add(headers.etag);
    const again = await get({ 'if-none-match': headers.etag! });
    expect([again.status, await again.text()]).toEqual([304, '']);
  }
  expect(tags.size).toBe(3);
});

test('/llms.txt has every route once, and links that work', async () => {
  const text = (await read('/llms.txt')).bytes.toString();
  expect(text).toMatch(/^# Tapegraph\n\n> /);
  const links = [...text.matchAll(/^- \[(.+?)\]\((.+?)\): \S/gm)].map(([, name, address]) => ({
    name,
    address: address!,
  }));
  expect(links).toHaveLength(text.match(/^- /gm)!.length);
  for (const { route } of knownRoutes()) {
    if (route.sunset) continue;
    expect(
      links.filter(({ name }) => name === `${route.method} ${route.path}`),
      route.name,
    ).toHaveLength(1);
  }
  const reference = (await read('/docs')).bytes.toString();
  const targets = links.map(({ address }) => address.split('#') as [path: string, id?: string]);
  for (const path of new Set(targets.map(([path]) => path)))
    expect((await app.get(path, { credential: null, headers: { accept: '*/*' } })).status, path).toBe(200);
  for (const [path, id] of targets) if (path === '/docs' && id) expect(reference, id).toContain(`id="${id}"`);
});

describe('/.well-known/security.txt', () => {
  test('is not there without a contact', async () => {
    expect((await read('/.well-known/security.txt')).status).toBe(404);
  });

  test('names the contact, and does not expire within months', async () => {
    const own = await testApp({ env: { SECURITY_CONTACT: 'mailto:security@example.com' } });
    onTestFinished(() => own.close());
    const { bytes } = await own.get('/.well-known/security.txt', { credential: null });
    const lines = Object.fromEntries(
      bytes
        .toString()
        .trim()
        .split('\n')
        .map((line) => line.split(': ') as [string, string]),
    );
    expect(lines.Contact).toBe('mailto:security@example.com');
    const days = (Date.parse(lines.Expires!) - own.clock.nowMs) / 86_400_000;
    expect(days).toBeGreaterThan(90);
    // RFC 9116 recommends less than a year.
    expect(days).toBeLessThan(366);
  });

  test('a contact that is no address stops the start', async () => {
    await expect(testApp({ env: { SECURITY_CONTACT: 'security@example.com' } })).rejects.toThrow('SECURITY_CONTACT');
  });
});

/** Every description and summary of a document, with its position. */
function* textsOf(value: Json, position = ''): Generator<[string, string]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries<Json>(value))
    if (['description', 'summary'].includes(key) && typeof each === 'string') yield [`${position}/${key}`, each];
    else yield* textsOf(each, `${position}/${key}`);
}

test.each(['/v2/openapi.json', '/asyncapi.json'])('%s describes with noun phrases and verbs', async (path) => {
  const texts = [...textsOf((await read(path)).body)];
  expect(texts.length).toBeGreaterThan(10);
  expect(clausesIn(texts)).toEqual([]);
});

describe('/asyncapi.json', () => {
  let document: Json;
  beforeAll(async () => {
    document = (await read('/asyncapi.json')).body;
  });

  /** The value at a reference. */
  const at = (reference: string): Json =>
    reference
      .slice(2)
      .split('/')
      .reduce((value: Json, key) => value[key.replaceAll('~1', '/')], document);

  test('has every topic of the stream, and references that lead somewhere', () => {
    expect(Object.keys(document.channels.stream.messages)).toEqual(
      expect.arrayContaining([...Object.keys(topicKinds), 'ready', 'end']),
    );
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"(.+?)"/g)].map(([, found]) => found!);
    expect(references.length).toBeGreaterThan(10);
    for (const reference of references) expect(at(reference), reference).toBeDefined();
  });

  test('describes the events that the stream sends', async () => {
    const topics = 'quotes:SPY,bars:SPY:1m,gex:SPY:3,cross-section:SPY';
    const headers = { authorization: `Bearer ${await app.key()}` };
    const reader = await readEvents(`${app.url}/v2/stream?topics=${topics}`, { headers });
    onTestFinished(() => reader.leave());
    const seen = new Set<string>();
    while (seen.size < 5) {
      const { event, data } = (await reader.next())!;
      const { payload } = document.channels.stream.messages[event];
      expect(misfits(payload, data), event).toEqual([]);
      seen.add(event);
    }
    expect([...seen].sort()).toEqual(['bars', 'cross-section', 'gex', 'quotes', 'ready']);
  });
});
