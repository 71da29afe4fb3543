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
  return [...page.matchAll(/<(?:link|script|img)[^>]+(?:href|src)="([^"]+)"/g)].map((match) => match[1]!);
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

  test.each(pages)('%s lets nothing run or load but files of this server, and holds no script itself', async (path) => {
    const { headers, bytes } = await open(path);
    const policy = headers['content-security-policy'] as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).toMatch(/style-src 'self'(;|$)/);
    expect(policy).not.toMatch(/https?:|\*|unsafe/);
    expect(bytes.toString()).not.toMatch(/<script(?![^>]*src=)/);
    expect(bytes.toString()).not.toMatch(/ on\w+="| style="/);
  });

  test.each(pages)(
    '%s names every module that its scripts need, behind its style sheets, and no other',
    async (path) => {
      const page = (await open(path)).bytes.toString();
      const addresses = (tag: RegExp) => [...page.matchAll(tag)].map((match) => match[1]!);
      const scripts = addresses(/<script type="module" src="([^"]+)" fetchpriority="low">/g);
      const needed = new Set(scripts);
      for (const address of needed) {
        const text = (await open(address)).bytes.toString();
        for (const [, name] of text.matchAll(/\b(?:from|import)"(\.[^"]+)"/g))
          needed.add(new URL(name!, `http://x${address}`).pathname);
      }
      const preloaded = addresses(/<link rel="modulepreload" href="([^"]+)" fetchpriority="low">/g);
      expect(needed.size).toBeGreaterThan(scripts.length);
      expect([...scripts, ...preloaded].toSorted()).toEqual([...needed].toSorted());
      expect(page.indexOf('modulepreload')).toBeGreaterThan(page.lastIndexOf('rel="stylesheet"'));
      // The chart library is larger than all of them: it loads after the page.
      expect(preloaded.join()).not.toContain('chart-library');
    },
  );

  test('GraphiQL runs no script but its files, loads nothing of other hosts, and is stored nowhere', async () => {
    const { status, headers, bytes } = await open('/graphql?query=%7B__typename%7D');
    const policy = headers['content-security-policy'] as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
    const inline = [...bytes.toString().matchAll(/<script(?![^>]*src=)([^>]*)>/g)].map((match) => match[1]!.trim());
    const ids = ['graphiql-options', 'graphiql-examples'];
    expect(inline).toEqual(ids.map((id) => `type="application/json" id="${id}"`));
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

  /** The address of the chart library: the page's script has it, relative to its own. */
  async function chartLibrary(): Promise<string> {
    const page = (await open('/dashboard')).bytes.toString();
    const script = loadedBy(page).find((address) => address.endsWith('/dashboard/client/main.js'))!;
    const [, name] = (await open(script)).bytes.toString().match(/import\(`(\.[^`]+chart-library\.js)`\)/)!;
    return new URL(name!, `http://x${script}`).pathname;
  }

  test('an address holds the hash of its file: what it names may be kept for ever, another one is asked again', async () => {
    for (const address of [await addressOf('site.css'), await chartLibrary()]) {
      const { headers } = await open(address);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect((await open(address, { 'if-none-match': headers.etag as string })).status).toBe(304);
      const other = await open(address.replace(/assets\/[^/]+/, 'assets/older'));
      expect({ status: other.status, control: other.headers['cache-control'] }).toEqual({
        status: 200,
        control: 'no-cache',
      });
    }
  });

  test('comes compressed to who takes it, the same bytes, under a tag of its own', async () => {
    const address = await chartLibrary();
    const plain = await open(address);
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
    const tags = new Set([plain.headers.etag]);
    for (const [encoding, decode] of Object.entries(decoders)) {
      const small = await open(address, { 'accept-encoding': encoding });
      expect(small.headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' });
      expect(decode(small.bytes).equals(plain.bytes)).toBe(true);
      expect(small.bytes.length * 2).toBeLessThan(plain.bytes.length);
      tags.add(small.headers.etag);
    }
    expect(tags.size).toBe(3);
    expect((await open(address, { 'accept-encoding': 'br, gzip' })).headers['content-encoding']).toBe('br');
  });

  test('each kind of file says what it is', async () => {
    const types = {
      'site.css': 'text/css; charset=utf-8',
      'client/site-header.js': 'text/javascript; charset=utf-8',
      'icon.svg': 'image/svg+xml; charset=utf-8',
    };
    for (const [path, type] of Object.entries(types)) {
      expect((await open(await addressOf(path))).headers['content-type']).toBe(type);
    }
  });

  test('GraphiQL’s files are those of its package but for its fonts, and its page holds none of them', async () => {
    const { js } = await import('@graphql-yoga/render-graphiql/graphiql');
    const page = (await open('/graphql')).bytes;
    expect(page.length).toBeLessThan(30_000);
    const addresses = [...page.toString().matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1]!);
    const at = (name: string) => open(addresses.find((each) => each.endsWith(`/graphiql/${name}`))!);
    expect((await at('app.js')).bytes.equals(Buffer.from(js))).toBe(true);
    const styles = (await at('graphiql.css')).bytes.toString();
    expect(styles).toContain('.graphiql-container');
    expect(styles).not.toMatch(/@font-face|data:font/);
  });

  test('scripts with parts of packages say where their licences are, which name each package', async () => {
    const [, licences] = (await open(await chartLibrary())).bytes.toString().match(/\/\*! Licences: (\S+) \*\//)!;
    const { status, bytes, headers } = await open(licences!);
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'text/plain; charset=utf-8' });
    const packages = ['@graphql-yoga/render-graphiql', 'echarts', 'htm', 'minisearch', 'preact', 'zrender'];
    for (const name of packages) expect(bytes.toString()).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
    for (const words of ['Apache License', 'Permission is hereby granted', 'Redistribution and use'])
      expect(bytes.toString()).toContain(words);
  });

  test('gives out no other file: not the server’s own, nor one outside', async () => {
    const folder = (await addressOf('site.css')).replace('site.css', '');
    const others = [
      'site.css.br',
      'style.css',
      'client/site-header.ts',
      '../assets.json',
      '..%2Fassets.json',
      'client',
      '',
    ];
    for (const path of others) expect((await open(folder + path)).status).toBe(404);
    expect((await app.send('POST', `${folder}site.css`, { credential: null })).status).toBe(405);
  });
});

describe('/', () => {
  test('shows the sample market’s key where it runs, in a page that nobody keeps', async () => {
    const { headers, bytes } = await open('/', {}, sampled);
    expect(headers['cache-control']).toBe('no-store');
    expect(bytes.toString()).toContain(`Authorization: Bearer ${sampleKey}`);
    expect((await open('/')).bytes.toString()).not.toContain('tg_live');
  });

  test('its curl names the usual address, whatever host it is asked for: a script shows that of the address bar', async () => {
    const { bytes } = await open('/', { host: 'gateway.example:8080' });
    expect(bytes.toString()).toContain('<span data-origin>http://127.0.0.1:4000</span>/v2/gex/SPY/grid?top=2');
    expect(bytes.toString()).not.toContain('gateway.example');
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

  test('says as many examples as GraphiQL’s menu has', async () => {
    const graphiql = (await open('/graphql')).bytes.toString();
    const examples = JSON.parse(/id="graphiql-examples">(.*?)<\/script>/s.exec(graphiql)![1]!);
    expect(examples.length).toBeGreaterThan(5);
    expect((await open('/')).bytes.toString()).toContain(`: ${examples.length} examples`);
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
