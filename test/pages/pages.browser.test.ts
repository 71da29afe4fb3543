import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { axeFindings, themeRules } from '../support/axe.ts';
import { chromiumPath, openCleanPage, openPage, type PageOptions, startBrowser } from '../support/browser.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';

/** GraphiQL's editor in its element. */
interface EditorElement {
  CodeMirror: { setValue: (text: string) => void };
}

describe.skipIf(chromiumPath === null)('in a browser', { timeout: 90_000 }, () => {
  // Share of the sample market that is stored.
  let loading: { percent: number; hasLatest: boolean } | null = null;
  let first: TestApp;
  let app: TestApp;
  let key: string;
  let browser: Browser;
  let context: BrowserContext;
  beforeAll(async () => {
    first = await testApp({ nowMs: filledNowMs });
    key = await first.key();
    await fillMarket(first.store);
    // The key that the page shows is one of the store's own.
    app = await testApp({ nowMs: filledNowMs, store: first.store, sampleKey: key, loading: async () => loading });
    browser = await startBrowser();
    context = await browser.newContext();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await first?.close();
  });

  const opened = (path: string, options?: PageOptions) => openCleanPage(context, app.url + path, options);

  /** Waits until an element's text holds `text`; the editors' blanks do not break. */
  const shows = (page: Page, selector: string, text: string) =>
    expect
      .poll(async () => (await page.locator(selector).allInnerTexts()).join(' ').replaceAll('\u00a0', ' '), {
        timeout: 60_000,
        interval: 250,
      })
      .toContain(text);
  const overflows = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

  describe.each(['/', '/docs'])('%s', (path) => {
    test.each([390, 800, 1440])('fits a screen %i pixels wide', async (width) => {
      const page = await opened(path, { width });
      await page.locator('main h1').waitFor();
      expect(await overflows(page)).toBe(false);
    });

    test('is dark or light by the system, or as the reader chose, on every page from then on', async () => {
      const page = await opened(path, { colorScheme: 'dark' });
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const dark = await background();
      await page.getByRole('button', { name: 'Theme: system' }).click();
      const light = await background();
      expect(light).not.toBe(dark);
      await page.goto(`${app.url}/docs`);
      expect(await background()).toBe(light);
      await page.evaluate(() => localStorage.clear());
    });
  });

  test('/ can be read without scripts', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => plain.close());
    const page = await plain.newPage();
    await page.goto(app.url);
    expect(await page.locator('#sample-key').innerText()).toBe(key);
    expect(await page.locator('.endpoints a').count()).toBeGreaterThan(5);
    expect(await page.locator('button:visible').count()).toBe(0);
  });

  test('/ shows quotes of the store, and keeps the sample key for the browser when it is asked to', async () => {
    const page = await opened('/');
    await page.locator('#quotes .quote').first().waitFor();
    expect(await page.locator('#quotes').innerText()).toContain('SPY');
    const stored = () => page.evaluate(() => localStorage.getItem('tapegraph-key'));
    expect(await stored()).toBe(null);
    await page.getByRole('button', { name: 'Use it in this browser' }).click();
    expect(await stored()).toBe(key);
    expect(await page.locator('#key-input').inputValue()).toBe(key);
    await page.getByRole('button', { name: 'Forget' }).click();
    expect(await stored()).toBe(null);
  });

  test('the sample key is one click away on every page, a new tab has it, and a button removes it from all of them', async () => {
    for (const path of ['/dashboard/SPY', '/graphql']) {
      const page = (await await context.newPage()) as Page;
      onTestFinished(() => page.close());
      await page.goto(app.url + path);
      await page.getByRole('button', { name: 'Use the sample key' }).first().click();
      await expect.poll(() => page.locator('#key-input').inputValue()).toBe(key);
      const other = await opened('/docs');
      expect(await other.locator('#key-input').inputValue()).toBe(key);
      await other.getByRole('button', { name: 'Forget' }).click();
      // The first tab hears of it.
      await expect.poll(() => page.locator('#key-input').inputValue(), { timeout: 20_000 }).toBe('');
    }
  });

  test.each(['/', '/docs', '/graphql', '/dashboard/SPY'])(
    '%s: where a wrong key is stored, the sample key is one click away, and once in use is not offered',
    async (path) => {
      const { page, close } = await openPage(context, app.url + path, {
        storage: { 'tapegraph-key': 'tg_live_wrong' },
        width: 390,
      });
      onTestFinished(close);
      const offer = page.locator('#key-sample');
      await offer.click();
      expect(await page.evaluate(() => localStorage.getItem('tapegraph-key'))).toBe(key);
      for (const load of [async () => {}, () => page.reload()]) {
        await load();
        expect(await page.locator('html').getAttribute('data-key')).toBe('sample');
        expect(await offer.isVisible()).toBe(false);
      }
      expect(await page.getByRole('button', { name: 'Forget' }).isVisible()).toBe(true);
      expect(await overflows(page)).toBe(false);
    },
  );

  test('an address without a page is a page that says so', async () => {
    const { page, close } = await openPage(context, `${app.url}/dashbord/<i>SPY`);
    onTestFinished(close);
    expect(await page.locator('h1').innerText()).toBe('Page not found');
    expect(await page.locator('main code').innerText()).toContain('/dashbord/');
    await page.locator('main').getByRole('link', { name: 'Dashboard' }).click();
    await page.waitForURL('**/dashboard/**');
  });

  // A theme changes colors alone, and a width changes none: each is looked at once.
  test.each([
    ['dark', 390, undefined],
    ['dark', 1440, 'not'],
    ['light', 1440, 'only'],
  ] as const)(
    'axe finds nothing against the pages in the %s theme at %i pixels, colors: %s',
    async (colorScheme, width, colors) => {
      for (const path of ['/', '/docs', '/docs/rates', '/nothing']) {
        const { page, close } = await openPage(context, app.url + path, { colorScheme, width });
        onTestFinished(close);
        await page.locator('main h1').waitFor();
        expect(await axeFindings(page, { colors }), path).toEqual([]);
      }
    },
    300_000,
  );

  test.each(['/', '/graphql', '/dashboard/SPY'])(
    '%s says what is still loading, until all of it is there',
    async (path) => {
      loading = { percent: 34, hasLatest: false };
      onTestFinished(() => {
        loading = null;
      });
      const page = await opened(path, { storage: { 'tapegraph-key': key } });
      const note = page.locator('#market-loading');
      await shows(page, '#market-loading', 'Loading the latest session of the sample market: 34%.');
      loading = { percent: 71, hasLatest: true };
      await shows(page, '#market-loading', 'Loading the history of the sample market: 71%.');
      // Data that arrived meanwhile is requested.
      if (path === '/dashboard/SPY') await page.waitForSelector('#candles[data-state="shown"] canvas');
      const again = page.waitForRequest((request) => /query Dashboard/.test(request.postData() ?? ''));
      again.catch(() => {});
      loading = null;
      await note.waitFor({ state: 'detached' });
      if (path === '/dashboard/SPY') await again;
    },
  );

  test.each(['dark', 'light'] as const)('axe finds nothing against GraphiQL in the %s theme', async (colorScheme) => {
    const { page, close } = await openPage(context, `${app.url}/graphql`, { colorScheme });
    onTestFinished(close);
    await page.locator('.graphiql-query-editor .cm-property').first().waitFor();
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('.graphiql-doc-explorer-root-type').first().waitFor();
    expect(await axeFindings(page, { colors: themeRules[colorScheme] })).toEqual([]);
  });

  test('/docs: an operation opens in GraphiQL with its variables, and runs under the key', async () => {
    const page = await opened('/docs#gex-grid', { storage: { 'tapegraph-key': key } });
    await page.locator('#gex-grid .operation summary').click();
    await page.locator('#gex-grid').getByRole('link', { name: 'Open in GraphiQL' }).click();
    const run = page.locator('.graphiql-execute-button');
    await run.waitFor();
    await shows(page, '.graphiql-editors', '"top": 3');
    await shows(page, '.graphiql-tab', 'GexGrid');
    // The address is plain again, so that a reload keeps what was edited.
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await run.click();
    await shows(page, '.graphiql-response', 'net_gex');
    const tabs = await page.locator('.graphiql-tab').allInnerTexts();
    await page.reload();
    await shows(page, '.graphiql-editors', '"top": 3');
    expect(await page.locator('.graphiql-tab').allInnerTexts()).toEqual(tabs);
  });

  test('GraphiQL checks a query under its policy: a field that is not there is underlined', async () => {
    const page = await opened(`/graphql?${new URLSearchParams({ query: '{ nothing }' })}`);
    await page.locator('.graphiql-query-editor .CodeMirror-lint-mark-error').first().waitFor({ timeout: 60_000 });
  });

  test('GraphiQL is under 1 MB on a first visit, and none of its files are loaded again', async () => {
    context = await browser.newContext();
    const page = await opened('/');
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    const bytes = { assets: 0, page: 0, schema: 0 };
    const kinds = new Map<string, keyof typeof bytes>();
    session.on('Network.requestWillBeSent', ({ requestId, request }) => {
      const isSchema = request.method === 'POST' && !request.url.endsWith('?cost');
      kinds.set(requestId, request.url.includes('/assets/') ? 'assets' : isSchema ? 'schema' : 'page');
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      bytes[kinds.get(requestId)!] += encodedDataLength;
    });
    /** Waits until all is drawn and the schema, which is asked for last, is there. */
    const loaded = async () => {
      await page.locator('.graphiql-execute-button').waitFor();
      await expect.poll(() => bytes.schema, { timeout: 60_000 }).toBeGreaterThan(0);
    };
    await page.goto(`${app.url}/graphql`);
    await loaded();
    expect(bytes.assets + bytes.page + bytes.schema).toBeLessThan(1_000_000);
    Object.assign(bytes, { assets: 0, page: 0, schema: 0 });
    await page.reload();
    await loaded();
    expect(bytes.assets).toBe(0);
    // Neither is stored.
    expect(bytes.page + bytes.schema).toBeLessThan(70_000);
  });

  test('GraphiQL shows what a query costs as it is typed, and why it would be rejected, without taking a request', async () => {
    context = await browser.newContext();
    const page = await opened('/graphql', { storage: { 'tapegraph-key': key } });
    const cost = page.locator('#cost');
    const write = (query: string) =>
      page
        .locator('.graphiql-query-editor .CodeMirror')
        .evaluate((element, text) => (element as unknown as EditorElement).CodeMirror.setValue(text), query);
    await cost.locator('output', { hasText: /expected, at most/ }).waitFor();
    await write('{ symbol(symbol: "SPY") { gex { latest(topStrikes: 5) { strikes { gex } } } } }');
    await cost.locator('output', { hasText: '1 request expected, at most 1' }).waitFor();
    expect(await cost.getAttribute('title')).toMatch(/^Costs most: symbol\.gex\.latest/);
    await write('{ nothing }');
    await cost.locator('output', { hasText: 'Cannot query field "nothing"' }).waitFor();
    await page.locator('.graphiql-execute-button').waitFor();
    expect(await cost.getAttribute('class')).toBe('refused');
  });

  test('GraphiQL can be used on a screen 390 pixels wide', async () => {
    const page = await opened(`/graphql?${new URLSearchParams({ query: '{ __typename }' })}`, { width: 390 });
    const run = page.locator('.graphiql-execute-button');
    await run.waitFor();
    expect(await overflows(page)).toBe(false);
    const editor = await page.locator('.graphiql-query-editor').boundingBox();
    expect(editor!.width).toBeGreaterThan(220);
    expect(editor!.x + editor!.width).toBeLessThanOrEqual(390);
    await run.click();
    await shows(page, '.graphiql-response', '"__typename": "Query"');
  });

  test.each(['dark', 'light'] as const)('GraphiQL has the colours of the other pages, %s', async (colorScheme) => {
    const page = await opened('/graphql', { colorScheme });
    await page.locator('.graphiql-execute-button').waitFor();
    const background = (selector: string) =>
      page
        .locator(selector)
        .evaluate((element) => getComputedStyle(element).backgroundColor.match(/\d+/g)!.map(Number));
    const [header, editor] = [await background('.top'), await background('#root > .graphiql-container')];
    // Rounded from hue, saturation and lightness.
    for (const [index, channel] of header.entries()) expect(Math.abs(channel - editor[index]!)).toBeLessThanOrEqual(2);
  });

  test('GraphiQL opens on a query; its documentation has the guide to units; the header leads back', async () => {
    // Who was never here has no tabs of their own.
    context = await browser.newContext();
    const page = await opened('/graphql');
    await page.locator('.graphiql-execute-button').waitFor();
    expect(await page.getByRole('button', { name: 'Hide Documentation Explorer' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await shows(page, '.graphiql-plugin', 'thousandths of a dollar; 636000 is $636');
    for (const [name, path] of [
      ['Tapegraph', '/'],
      ['API reference', '/docs'],
      ['Dashboard', '/dashboard'],
    ] as const) {
      expect(await page.getByRole('link', { name, exact: true }).getAttribute('href')).toBe(path);
    }
    await page.locator('#key-input').fill(key);
    await page.locator('.graphiql-execute-button').click();
    await shows(page, '.graphiql-response', 'changePct');
  });

  test('GraphiQL’s examples open from its menu, each in a tab; its documentation is searched with Ctrl-K', async () => {
    context = await browser.newContext();
    const page = await opened('/graphql', { storage: { 'tapegraph-key': key } });
    await page.locator('.graphiql-execute-button').waitFor();
    await page.selectOption('#examples', 'Symbols of a sector');
    await shows(page, '.graphiql-query-editor', 'query Browse');
    expect(await page.locator('.graphiql-tab').count()).toBe(2);
    await page.selectOption('#examples', 'Live prices (subscription)');
    await shows(page, '.graphiql-query-editor', 'subscription LivePrices');
    expect(await page.locator('.graphiql-tab').count()).toBe(3);
    await page.keyboard.press('Control+k');
    const search = page.locator('[data-cy="doc-explorer-input"]');
    await search.waitFor();
    await expect.poll(() => search.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await search.getAttribute('placeholder')).toBe('Ctrl K');
    await page.keyboard.type('GexCapture');
    await page.locator('[data-cy="doc-explorer-option"]', { hasText: 'GexCapture' }).first().waitFor();
  });
});
