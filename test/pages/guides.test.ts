import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { maxInFlight } from '../../src/access/limits/in-flight.ts';
import { methodologyVersion } from '../../src/core/analytics/methodology.ts';
import { offExchangeLimits } from '../../src/core/domain/offexchange/off-exchange.ts';
import { usualOrigin } from '../../src/pages/origin.ts';
import { type Captured, capturedExamples } from '../../src/pages/reference/example-answers.ts';
import { changes } from '../../src/pages/reference/guides/changelog.ts';
import {
  guideAnswers as answersCaptured,
  type GuideExample,
  type GuideExampleName,
  guideExamples,
  guideRequest,
} from '../../src/pages/reference/guides/examples.ts';
import { guides } from '../../src/pages/reference/guides/guides.ts';
import { barLimits, keySpanDays } from '../../src/resolvers/market/stock-bars.ts';
import { tapegraph } from '../cli/command-line.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { filledApp, filledNowMs } from '../support/filled-market.ts';

const guideAnswers = answersCaptured as Record<GuideExampleName, Captured>;

// Rates that no default has: what the page says comes from the settings.
const rates = { RATE_FREE: '7', RATE_BASIC: '1234', RATE_PRO: '98765', RATE_ANONYMOUS: '4321' };

let app: TestApp;
let pages: Map<string, string>;
beforeAll(async () => {
  app = await filledApp({ env: rates });
  const open = async (path: string) =>
    (await app.get(path, { credential: null, headers: { accept: 'text/html' } })).bytes.toString();
  pages = new Map();
  for (const path of ['/docs', ...guides.map((guide) => guide.path)]) pages.set(path, await open(path));
}, 120_000);
afterAll(() => app.close());

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const read = (markup: string) =>
  markup.replace(/<[^>]+>/g, '').replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity]!);

/** The code of the guides that is run by something. */
function codeFor(what: string): { path: string; code: string }[] {
  return [...pages].flatMap(([path, page]) =>
    [...page.matchAll(new RegExp(`<pre tabindex="0" data-runs="${what}"><code>(.*?)</code></pre>`, 'gs'))].map(
      // As the page's script shows it: the origin of the address bar.
      ([, code]) => ({ path, code: read(code!).replaceAll(usualOrigin, app.url) }),
    ),
  );
}

const isForSessions = (code: string) => /account\/(keys|classification)/.test(code);

describe('each guide', () => {
  test.each(guides)('$title: its title, its place in the contents and its parts are those of the page', (guide) => {
    const page = pages.get(guide.path)!;
    expect(page).toContain(`<title>${guide.title} · Tapegraph</title>`);
    expect(read(/<h1>(.*?)<\/h1>/.exec(page)![1]!)).toBe(guide.title);
    expect(page.match(/aria-current="page"/g)).toHaveLength(2);
    expect(page).toContain(`<a href="${guide.path}" aria-current="page">`);
    for (const [path, other] of pages) expect(other, path).toContain(`<a href="${guide.path}"`);
  });

  test.each(guides)('$title: every link leads to a page, and to a part that it has', async ({ path }) => {
    const links = [...pages.get(path)!.matchAll(/<a [^>]*href="([^"]+)"/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(10);
    for (const link of new Set(links)) {
      const [to, part] = link.split('#') as [string, string | undefined];
      const target = to === '' ? path : to;
      if (!pages.has(target)) {
        expect((await app.get(target, { credential: null, headers: { accept: 'text/html' } })).status, link).toBe(200);
      } else if (part !== undefined) expect(pages.get(target), link).toContain(` id="${part}"`);
    }
  });
});

// When one of these fails: node scripts/capture-examples.ts
describe('the answers shown in guides', () => {
  const clockMs = Date.parse(capturedExamples.clock);

  test.each(Object.entries<GuideExample>(guideExamples))('%s: to the request that is shown', (name, example) => {
    const { method, address, body } = guideAnswers[name as GuideExampleName];
    const shown = guideRequest(example, clockMs);
    const [before, after = ''] = shown.address.split('{cursor}') as [string, string?];
    expect({ method, body: body ?? '' }).toEqual({ method: shown.method, body: shown.body });
    expect(address.startsWith(before) && address.endsWith(after)).toBe(true);
  });

  test('are what the text says of them', () => {
    const { answer: clamped } = guideAnswers.clamped as { answer: { meta: { caps: object } } };
    const statuses = Object.fromEntries(Object.entries(guideAnswers).map(([name, { status }]) => [name, status]));
    const others = { 'key-rejected': 403, 'too-many': 429, 'not-modified': 304 };
    for (const [name, status] of Object.entries(statuses))
      expect(`${name} ${status}`).toBe(`${name} ${others[name as keyof typeof others] ?? 200}`);
    expect(clamped.meta.caps).toMatchObject({ applied: ['limit_clamped'] });
    expect(Number(guideAnswers['too-many'].headers['retry-after'])).toBeGreaterThan(0);
    expect(guideAnswers['not-modified'].headers.etag).toBe(guideAnswers.tagged.headers.etag);
    expect(guideAnswers['empty-window'].answer).toMatchObject({ data: [], meta: { note: expect.any(String) } });
    expect(guideAnswers['whole-day'].answer).toMatchObject({ data: [{ timeframe: '1d' }] });
    expect(guideAnswers['quiet-day'].answer).toMatchObject({ data: { captures: [] } });
  });

  // In their order: a key can be created once the account is declared.
  test('are of the status and the form that a server gives today', async () => {
    // As when they were captured: a morning, so that the session before is over.
    const morningMs = Date.parse('2026-12-01T07:30:00-05:00');
    app.clock.nowMs = morningMs;
    onTestFinished(() => {
      app.clock.nowMs = filledNowMs;
    });
    const session = await app.session({ classification: null });
    const free = await app.key({ apiTier: 'free' });
    while ((await app.get('/v2/account/usage', { credential: free })).status === 200);
    let before: { body: { meta?: { cursor?: string } }; headers: Record<string, unknown> } | null = null;
    for (const [name, example] of Object.entries<GuideExample>(guideExamples)) {
      const { method, address, body, headers } = guideRequest(example, morningMs);
      const known = (text: string) =>
        text.replace('{cursor}', String(before?.body?.meta?.cursor)).replace('{etag}', String(before?.headers.etag));
      const { credential } = example;
      const found = await app.send(method, known(address), {
        ...(credential && { credential: credential === 'session' ? session : free }),
        ...(body !== '' && { body }),
        headers: Object.fromEntries(Object.entries(headers).map(([header, text]) => [header, known(text)])),
      });
      const captured = guideAnswers[name as GuideExampleName];
      expect(`${name} ${found.status}`).toBe(`${name} ${captured.status}`);
      expect(Object.keys(found.body ?? {}), name).toEqual(Object.keys(captured.answer ?? {}));
      for (const header of Object.keys(captured.headers)) expect(found.headers, name).toHaveProperty(header);
      before = found;
    }
  });
});

describe('the commands of guides', () => {
  test('every curl command works as it stands: with a key, or with a session where it says so', async () => {
    const all = codeFor('shell');
    expect(all.length).toBeGreaterThan(8);
    const [key, session] = [await app.key(), await app.session()];
    for (const { path, code } of all) {
      const env = { ...process.env, KEY: isForSessions(code) ? session : key };
      const { stdout } = await promisify(execFile)('sh', ['-c', code], { env });
      expect(Object.keys(JSON.parse(stdout)), `${path}: ${code}`).toEqual(['data', 'meta']);
    }
  }, 60_000);

  test('every command line of the gateway works as it stands, in the order in which it stands', async () => {
    const lines = codeFor('tapegraph').flatMap(({ code }) => code.trim().split('\n'));
    expect(lines).toHaveLength(5);
    const made: string[] = [];
    for (const line of lines) {
      const args = /^npm run tapegraph -- (.+)$/.exec(line)![1]!.split(' ');
      const { code, stdout, stderr } = await tapegraph(args, { DATABASE_URL: app.store.databaseUrl });
      expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
      made.push(stdout);
    }
    const key = made[1]!.split('\n')[0]!;
    expect((await app.get('/v2/account/usage', { credential: key })).status).toBe(200);
    expect(made[2]).toContain('research');
  });

  test('the loop reads every page: its rows are those of one page that holds them all', async () => {
    const [{ code }, ...others] = codeFor('node') as [{ code: string }, ...unknown[]];
    expect(others).toEqual([]);
    const folder = await mkdtemp(join(tmpdir(), 'tapegraph-guide-'));
    try {
      const file = join(folder, 'rows.mjs');
      // The market of the test has another month than the guide speaks of, and other symbols.
      const address = '/v2/offexchange/MSFT/profile?from=2026-11-01';
      const small = code.replace(/\/v2\/offexchange\/[^']+/, `${address}&limit=1`);
      expect(small).not.toBe(code);
      await writeFile(file, small);
      const env = { ...process.env, KEY: await app.key() };
      const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
      const whole = (await app.get(address)).body;
      expect(whole.data.length).toBeGreaterThan(2);
      expect(whole.meta.cursor).toBe(undefined);
      expect(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual(whole.data);
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 60_000);
});

describe('the figures of guides', () => {
  const cells = (path: string) =>
    [...pages.get(path)!.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) => read(row!.replaceAll('</t', ' </t')));
  const inWords = (count: number) => count.toLocaleString('en-US');

  test('rates are the settings of the server, by tier', () => {
    const rows = cells('/docs/rates').join('\n');
    for (const text of ['free 7 70 ', 'basic 1,234 12,340 ', 'pro 98,765 987,650 ', 'per address 4,321 43,210 '])
      expect(rows).toContain(text);
    expect(read(pages.get('/docs/rates')!)).toContain(`more than ${maxInFlight} requests for stock bars at a time`);
  });

  test('limits of pages are those that the routes hold to', async () => {
    const rows = cells('/docs/paging').join('\n');
    const { default: usual, max, keyMax } = barLimits;
    expect(rows).toContain(
      `/v2/stocks/{symbol}/bars ${inWords(Math.min(usual, keyMax))} ${inWords(keyMax)} ${inWords(max)} `,
    );
    const off = offExchangeLimits;
    expect(rows).toContain(`/activity ${inWords(off.default)} ${inWords(off.max)} ${inWords(off.max)} `);
    for (const [timeframe, days] of Object.entries(keySpanDays)) expect(rows).toContain(`${timeframe} ${days} days `);
  });

  test('the changelog begins with the methodology that figures are computed by', () => {
    const dates = changes.map(({ date }) => date);
    expect(dates).toEqual(dates.toSorted().reverse());
    expect(changes.find(({ methodology }) => methodology !== null)!.methodology).toBe(methodologyVersion);
    const text = read(pages.get('/docs/changelog')!);
    for (const { added, changed } of changes)
      for (const item of [...added, ...changed]) expect(text).toContain(item.replaceAll('`', ''));
    expect(text).toContain('served until 2026-12-31');
  });
});

test('the sample market’s key is in the guide of who may be shown it, and in nobody’s search', async () => {
  const sampleKey = await app.key();
  const sampled = await testApp({ sampleKey, nowMs: filledNowMs, store: { ...app.store, close: async () => {} } });
  try {
    const { headers, bytes } = await sampled.get('/docs/key', { credential: null, headers: { accept: 'text/html' } });
    expect(bytes.toString()).toContain(`<code id="guide-sample-key">${sampleKey}</code>`);
    expect(headers['cache-control']).toBe('no-store');
    const index = / data-index="([^"]+)"/.exec(bytes.toString())![1]!;
    expect((await sampled.get(index, { credential: null })).bytes.toString()).not.toContain(sampleKey);
    expect(pages.get('/docs/key')).not.toContain('data-use-sample-key');
  } finally {
    await sampled.close();
  }
});
