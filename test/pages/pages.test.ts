import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstQuery, firstRoute } from '../../src/pages/first-requests.ts';
import { html } from '../../src/pages/html.ts';
import { type GuideExampleName, guideAnswers } from '../../src/pages/reference/guides/examples.ts';
import { guides } from '../../src/pages/reference/guides/guides.ts';
import { jsonText } from '../../src/pages/reference/json-text.ts';
import { textOf } from '../../src/pages/reference/search-documents.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
let sampled: TestApp;
let sampleKey: string;
beforeAll(async () => {
  app = await testApp();
  sampleKey = await app.key();
  sampled = await testApp({ sampleKey, store: { ...app.store, close: async () => {} } });
});
afterAll(async () => {
  await sampled.close();
  await app.close();
});

const open = (path: string, headers: Record<string, string> = {}, to = app): Promise<Answer> =>
  to.get(path, { credential: null, headers: { accept: 'text/html', ...headers } });

/** Addresses of what a page loads. */
function loadedBy(page: string): string[] {
  const inTags = [...page.matchAll(/<(?:link|script|img)[^>]+(?:href|src)="([^"]+)"/g)].map((match) => match[1]!);
  const map = page.match(/<script type="importmap">(.*?)<\/script>/)![1]!;
  return [...inTags, ...Object.values<string>(JSON.parse(map).imports)];
}

/** `/` and the pages below it. */
const pages = ['/', '/docs', ...guides.map(({ path }) => path), '/dashboard', '/dashboard/SPY'];

describe('every page', () => {
  test.each(pages)('%s loads files of this server alone, and each of them is there', async (path) => {
    const { status, headers, bytes } = await open(path);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const addresses = loadedBy(bytes.toString());
    expect(addresses.length).toBeGreaterThan(5);
    for (const address of addresses) {
      expect(address).toMatch(/^\/assets\//);
      expect((await open(address)).status).toBe(200);
    }
  });

  test.each(pages)(
    '%s lets nothing run or load but its own: the policy names the import map by its hash',
    async (path) => {
      const { headers, bytes } = await open(path);
      const policy = headers['content-security-policy'] as string;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/=]{44}'/);
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
      const inline = [...bytes.toString().matchAll(/<script(?![^>]*src=)([^>]*)>/g)].map((match) => match[1]!.trim());
      expect(inline).toEqual(['type="importmap"']);
      expect(bytes.toString()).not.toMatch(/ on\w+="| style="/);
    },
  );

  test.each(pages)(
    '%s names every module that its scripts need, behind its style sheets, and no other',
    async (path) => {
      const page = (await open(path)).bytes.toString();
      const { imports } = JSON.parse(page.match(/<script type="importmap">(.*?)<\/script>/)![1]!);
      const addresses = (tag: RegExp) => [...page.matchAll(tag)].map((match) => match[1]!);
      const scripts = addresses(/<script type="module" src="([^"]+)" fetchpriority="low">/g);
      const needed = new Set(scripts);
      for (const address of needed) {
        const text = (await open(address)).bytes.toString();
        // Statements, of which each begins a line in files of ours and none in packages'.
        const begins = address.includes('/lib/')
          ? /\b(?:from|import)\s*["']([^"']+)["']/g
          : /^(?:import\b[^'(]*|} from )'([^']+)';$/gm;
        for (const [, name] of text.matchAll(begins))
          needed.add(imports[name!] ?? new URL(name!, `http://x${address}`).pathname);
      }
      const preloaded = addresses(/<link rel="modulepreload" href="([^"]+)" fetchpriority="low">/g);
      expect([...scripts, ...preloaded].toSorted()).toEqual([...needed].toSorted());
      expect(page.indexOf('modulepreload')).toBeGreaterThan(page.lastIndexOf('rel="stylesheet"'));
      // What draws charts is larger than all of them: it comes when the page is there.
      expect(preloaded.join()).not.toContain('echarts');
    },
  );

  test('GraphiQL runs no script but its files, loads nothing of other hosts, and is stored nowhere', async () => {
    const { status, headers, bytes } = await open('/graphql?query=%7B__typename%7D');
    const policy = headers['content-security-policy'] as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
    const inline = [...bytes.toString().matchAll(/<script(?![^>]*src=)([^>]*)>/g)].map((match) => match[1]!.trim());
    expect(inline).toEqual(['type="application/json" id="graphiql-options"']);
    expect({ status, control: headers['cache-control'], tagged: headers.etag !== undefined }).toEqual({
      status: 200,
      control: 'no-store',
      tagged: false,
    });
    expect((await app.send('HEAD', '/graphql', { credential: null, headers: { accept: 'text/html' } })).status).toBe(
      200,
    );
  });

  test.each([
    ...[...pages, '/graphql', '/none', '/docs/none', '/dashboard/%ZZ', '/assets/x/none', '/v2/none'],
    ...['/v2/openapi.json', '/healthz', '/graphql/none', '/mcp', '/metrics'],
  ])('%s stands in nobody’s frame and tells other sites nothing of where one came from', async (path) => {
    for (const accept of ['text/html', 'application/json']) {
      const { headers } = await app.get(path, { credential: null, headers: { accept } });
      expect(headers['content-security-policy']).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
      expect(headers).toMatchObject({
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  test.each(pages)('%s asks for no credential and takes GET and HEAD alone', async (path) => {
    expect((await app.send('HEAD', path, { credential: null })).status).toBe(200);
    const { status, headers, body } = await app.send('POST', path, { credential: null, body: '{}' });
    expect({ status, allow: headers.allow, code: body.error.code }).toEqual({
      status: 405,
      allow: 'GET, HEAD',
      code: 'invalid_params',
    });
  });
});

describe('/assets', () => {
  const addressOf = async (ending: string) =>
    loadedBy((await open('/')).bytes.toString()).find((address) => address.endsWith(ending))!;

  test('TypeScript arrives as a script without its types', async () => {
    const { headers, bytes } = await open(await addressOf('client/shell.ts'));
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(bytes.toString()).toContain("from './key.ts'");
    expect(bytes.toString()).not.toMatch(/Record<Theme|: void|\bas const/);
  });

  test('an address holds the hash of all files: what it names may be kept for ever, another one is asked again', async () => {
    const address = await addressOf('style.css');
    const { headers } = await open(address);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect((await open(address, { 'if-none-match': headers.etag as string })).status).toBe(304);
    const other = await open(address.replace(/assets\/[^/]+/, 'assets/older'));
    expect({ status: other.status, control: other.headers['cache-control'] }).toEqual({
      status: 200,
      control: 'no-cache',
    });
  });

  test('comes compressed to who takes it, the same bytes, under a tag of its own', async () => {
    const address = await addressOf('echarts.esm.min.mjs');
    const plain = await open(address);
    const small = await open(address, { 'accept-encoding': 'br' });
    expect(small.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(small.bytes).equals(plain.bytes)).toBe(true);
    expect(small.bytes.length * 2).toBeLessThan(plain.bytes.length);
    expect(small.headers.etag).not.toBe(plain.headers.etag);
  });

  test('GraphiQL’s files are those of its package but for its fonts, in every encoding, and its page holds none of them', async () => {
    const { js, css } = await import('@graphql-yoga/render-graphiql/graphiql');
    const page = (await open('/graphql')).bytes;
    expect(page.length).toBeLessThan(30_000);
    const addresses = [...page.toString().matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1]!);
    const withoutFonts = css.replaceAll(/@font-face\s*\{[^}]*\}/g, '');
    expect(withoutFonts).not.toContain('data:font');
    for (const [name, text] of Object.entries({ 'app.js': js, 'app.css': withoutFonts })) {
      const address = addresses.find((each) => each.endsWith(`graphiql/${name}`))!;
      const [plain, br, gzip] = await Promise.all(
        ['identity', 'br', 'gzip'].map((encoding) => open(address, { 'accept-encoding': encoding })),
      );
      const bodies = [plain!.bytes, brotliDecompressSync(br!.bytes), gunzipSync(gzip!.bytes)];
      expect(bodies.map((bytes) => bytes.equals(Buffer.from(text)))).toEqual([true, true, true]);
    }
  });

  test('the chart library is the file of its package, in the version that is installed', async () => {
    const { bytes } = await open(await addressOf('echarts.esm.min.mjs'));
    const packaged = await readFile(createRequire(import.meta.url).resolve('echarts/dist/echarts.esm.min'));
    expect(bytes.equals(packaged), 'npm run generate').toBe(true);
  });

  test('gives out no other file: not the server’s own, nor one outside', async () => {
    const folder = (await addressOf('style.css')).replace('style.css', '');
    for (const path of ['pages.ts', '../server.ts', '..%2Fserver.ts', 'lib/preact/package.json', 'client', '']) {
      expect((await open(folder + path)).status).toBe(404);
    }
    expect((await app.send('POST', `${folder}style.css`, { credential: null })).status).toBe(405);
  });
});

describe('/', () => {
  test('shows the sample market’s key where it runs, in a page that nobody keeps', async () => {
    const { headers, bytes } = await open('/', {}, sampled);
    expect(headers['cache-control']).toBe('no-store');
    expect(bytes.toString()).toContain(`Authorization: Bearer ${sampleKey}`);
    expect((await open('/')).bytes.toString()).not.toContain('tg_live');
  });

  test('its curl names the address it was asked at', async () => {
    const { bytes } = await open('/', { host: 'gateway.example:8080' });
    expect(bytes.toString()).toContain('<span data-origin>http://gateway.example:8080</span>/v2/gex/SPY/grid?top=2');
    const hostile = await open('/', { host: 'x"><script>alert(1)</script>' });
    expect(hostile.bytes.toString()).not.toContain('<script>alert');
  });

  test('begins with one query and the answer that it has, then a route and its answer', async () => {
    const withoutSpace = (text: string) => text.replace(/\s/g, '');
    const page = textOf({ markup: (await open('/')).bytes.toString().replace(/^.*<main/s, '<main') });
    const words = (code: string) => textOf(html`${code}`);
    const answer = (name: GuideExampleName) => words(jsonText(guideAnswers[name]!.answer));
    const parts = [words(firstQuery), answer('first-query'), firstRoute, answer('first-route')].map(withoutSpace);
    const places = parts.map((part) => withoutSpace(page).indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test('says as many example queries as GraphiQL opens with', async () => {
    const graphiql = (await open('/graphql')).bytes.toString();
    const options = JSON.parse(/id="graphiql-options">(.*?)<\/script>/s.exec(graphiql)![1]!);
    expect(options.defaultTabs.length).toBeGreaterThan(5);
    expect((await open('/')).bytes.toString()).toContain(`: ${options.defaultTabs.length} example queries`);
  });

  test('leads on: every address it names is answered', async () => {
    const addresses = Object.keys((await open('/', { accept: 'application/json' })).body);
    expect(addresses).toEqual(expect.arrayContaining(['/graphql', '/docs', '/v2/openapi.json', '/healthz']));
    for (const address of addresses) expect((await open(address)).status).toBe(200);
  });
});

describe('an address without a page', () => {
  test('is a page for a browser that opens it, with status 404, and the error envelope for everybody else', async () => {
    const page = await open('/nothing/<b>');
    expect(page.status).toBe(404);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.bytes.toString()).toContain('Page not found');
    expect(page.bytes.toString()).not.toContain('<b>');
    for (const [path, accept] of [
      ['/nothing', 'application/json'],
      ['/nothing', '*/*'],
      ['/v2/nothing', 'text/html'],
    ] as const) {
      const answer = await app.get(path, { credential: null, headers: { accept } });
      expect({ path, status: answer.status, code: answer.body.error.code }).toEqual({
        path,
        status: 404,
        code: 'not_found',
      });
    }
  });
});

describe('the sample market', () => {
  test('says on every page that its prices are simulated, and while it is closed how it can trade now', async () => {
    for (const path of [...pages, '/graphql', '/nothing']) {
      sampled.clock.nowMs = Date.parse('2026-11-20T17:00Z');
      const note = async () =>
        /<aside class="market-note".*?<\/aside>/s.exec((await open(path, {}, sampled)).bytes.toString())![0];
      expect(await note()).toContain('all prices are simulated');
      expect(await note()).toContain('Trading the session of Fri, Nov 20.');
      sampled.clock.nowMs = Date.parse('2026-11-22T17:00Z');
      expect(await note()).toContain('closed until Mon, Nov 23, 09:30 New York time');
      expect(await note()).toContain('npm start -- --always-open');
      expect((await open(path)).bytes.toString()).not.toContain('market-note');
    }
  });
});
