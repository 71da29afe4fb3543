import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import { Router } from 'express';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { guides } from '../../src/pages/reference/guides/guides.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
/** Every path that is registered for GET, with an example of each parameter. */
const registered = new Set<string>();

beforeAll(async () => {
  const spies = (['get', 'all'] as const).map((method) => vi.spyOn(Router.prototype, method));
  app = await testApp({ env: { SECURITY_CONTACT: 'mailto:security@example.com' } });
  for (const { mock } of spies)
    for (const [paths] of mock.calls) for (const path of [paths].flat()) registered.add(String(path));
  for (const spy of spies) spy.mockRestore();
});
afterAll(() => app.close());

const ask = (path: string, host: string): Promise<Answer> =>
  app.get(path.replaceAll(/:\w+/g, 'SPY'), {
    credential: null,
    headers: { accept: 'text/html, */*;q=0.1', 'accept-encoding': 'br', host },
  });

async function publicPaths(): Promise<string[]> {
  const paths = [...registered].filter((path) => !/[*(]|^\/(healthz|readyz)$/.test(path));
  const found: string[] = [];
  for (const path of paths) if ((await ask(path, 'first.example')).status === 200) found.push(path);
  return found;
}

test('every page and description is made and compressed once, whatever host it is asked for', async () => {
  // Compressors of whole bodies end with the body.
  const ends = vi.spyOn(zlib.BrotliCompress.prototype, 'end');
  const paths = await publicPaths();
  const pages = ['/', '/docs', ...guides.map(({ path }) => path), '/dashboard', '/dashboard/:symbol', '/graphql'];
  expect(paths).toEqual(expect.arrayContaining([...pages, '/llms.txt', '/v2/openapi.json', '/schema.graphql']));
  const first = new Map<string, Buffer>();
  for (const path of paths) first.set(path, (await ask(path, 'first.example')).bytes);
  const made = ends.mock.calls.length;
  expect(made).toBeGreaterThan(pages.length);
  for (let run = 0; run < 3; run++)
    for (const path of paths) {
      const host = `${randomBytes(6).toString('hex')}.example:${1024 + run}`;
      const { bytes } = await ask(path, host);
      expect(bytes.equals(first.get(path)!), path).toBe(true);
      expect(bytes.includes(host), path).toBe(false);
    }
  expect(ends.mock.calls.length).toBe(made);
  ends.mockRestore();
});

test('a page is made again when what it shows has changed', async () => {
  const [monday, later] = [Date.parse('2026-11-16T15:00:00Z'), Date.parse('2026-11-18T15:00:00Z')];
  app.clock.nowMs = monday;
  const before = await ask('/docs', 'a.example');
  app.clock.nowMs = later;
  const after = await ask('/docs', 'a.example');
  expect(after.headers.etag).not.toBe(before.headers.etag);
});

test('pages say that they use no device, and share no window with other sites', async () => {
  for (const path of ['/', '/docs', '/dashboard/SPY', '/graphql', '/nowhere']) {
    const { headers } = await ask(path, 'a.example');
    expect(headers['cross-origin-opener-policy'], path).toBe('same-origin');
    expect(headers['permissions-policy'], path).toMatch(/camera=\(\), geolocation=\(\)/);
  }
});
