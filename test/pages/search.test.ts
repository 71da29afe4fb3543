import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Search, searchOf } from '../../src/pages/reference/client/search.ts';
import { guides } from '../../src/pages/reference/guides/guides.ts';
import { type SearchDocument, searchDocuments } from '../../src/pages/reference/search-documents.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { publishedLimits } from '../../src/published-limits.ts';
import { compileContract } from '../../src/rest/route-table.ts';
import { topicKinds } from '../../src/rest/stream/stream-topics.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
let documents: SearchDocument[];
let index: string;
let find: Search;
const open = (path: string): Promise<Answer> => app.get(path, { credential: null, headers: { accept: 'text/html' } });
/** Where the page's script finds the index. */
const indexOf = (page: Answer) => / data-index="([^"]+)"/.exec(page.bytes.toString())![1]!;

beforeAll(async () => {
  app = await testApp();
  const { compiled, description } = compileContract({ metaHeaderPrefix: 'x-itm-' });
  documents = searchDocuments({ compiled, description, limits: publishedLimits(readConfig({}, {})) });
  index = indexOf(await open('/docs'));
  find = searchOf((await open(index)).body);
});
afterAll(() => app.close());

test('the search knows every route, every parameter, every topic of the stream and every guide', async () => {
  const { compiled } = compileContract({ metaHeaderPrefix: 'x-itm-' });
  const places = (kind: string) => documents.filter((one) => one.kind === kind).map(({ title, href }) => [title, href]);
  expect(places('Route')).toEqual(compiled.map(({ route }) => [route.summary, `/docs#${route.name}`]));
  for (const { route } of compiled) {
    for (const name of Object.keys({ ...route.pathParams, ...route.queryParams })) {
      expect(places('Parameter')).toContainEqual([name, `/docs#${route.name}-parameter-${name}`]);
    }
  }
  expect(places('Guide')).toEqual(expect.arrayContaining(guides.map(({ title, path }) => [title, path])));
  expect(places('Guide').length).toBeGreaterThan(15);
  expect(places('Stream topic')).toEqual(Object.keys(topicKinds).map((kind) => [kind, `/docs#topic-${kind}`]));
});

test('all that the search finds is there: each link leads to a part of a page', async () => {
  const pages = new Map<string, string>();
  for (const { href, title } of documents) {
    const [path, part] = href.split('#') as [string, string | undefined];
    if (!pages.has(path)) pages.set(path, (await open(path)).bytes.toString());
    expect(pages.get(path), path).toContain('<main id="main"');
    if (part !== undefined) expect(pages.get(path), `${title}: ${href}`).toContain(` id="${part}"`);
  }
});

test('texts of the search are words, without markup', () => {
  for (const { title, text } of documents) {
    expect(title).not.toBe('');
    expect(`${title} ${text}`).not.toMatch(/<\w|&\w+;/);
  }
});

test.each([
  ['pagination', '/docs/paging'],
  ['paging', '/docs/paging'],
  ['next page', '/docs/paging#cursors'],
  ['cursor', '/docs/paging#cursors'],
  ['rate limit', '/docs/rates'],
  ['rate limits', '/docs/rates'],
  ['throttling', '/docs/rates#too-many'],
  ['too many requests', '/docs/rates#too-many'],
  ['websocket', '/docs#websockets'],
  ['WebSockets', '/docs#websockets'],
  ['web socket', '/docs#websockets'],
  ['SSE', '/docs#stream'],
  ['server-sent events', '/docs#stream'],
  ['streaming', '/docs#stream'],
  ['authentication', '/docs/key'],
  ['MCP', '/docs#mcp'],
  ['release notes', '/docs/changelog'],
  ['ETag', '/docs/paging#caching'],
])('whoever searches for %s finds %s first', (text, href) => {
  expect(find(text).map((found) => found.href)[0]).toBe(href);
});

test('the index is a file of the pages: compressed, and cached for as long as its address stands', async () => {
  const { status, headers, body, bytes } = await open(index);
  expect({ status, type: headers['content-type'], control: headers['cache-control'] }).toEqual({
    status: 200,
    type: 'application/json; charset=utf-8',
    control: 'public, max-age=31536000, immutable',
  });
  expect(body.index.documentCount).toBe(documents.length);
  const small = await app.get(index, { credential: null, headers: { 'accept-encoding': 'br' } });
  expect(small.bytes.length * 4).toBeLessThan(bytes.length);
});

test('two servers of one version give the index one address: any of them can answer for the other', async () => {
  const other = await testApp({ store: { ...app.store, close: async () => {} } });
  try {
    const page = await other.get('/docs', { credential: null, headers: { accept: 'text/html' } });
    expect(indexOf(page)).toBe(index);
  } finally {
    await other.close();
  }
});
