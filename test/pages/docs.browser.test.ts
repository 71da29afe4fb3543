import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { axeFindings, themeRules } from '../support/axe.ts';
import { chromiumPath, openCleanPage, openPage, type PageOptions, startBrowser } from '../support/browser.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';

describe.skipIf(chromiumPath === null)('/docs in a browser', { timeout: 90_000 }, () => {
  let app: TestApp;
  let key: string;
  let browser: Browser;
  let context: BrowserContext;
  beforeAll(async () => {
    app = await testApp({ nowMs: filledNowMs });
    key = await app.key();
    await fillMarket(app.store);
    browser = await startBrowser();
    context = await browser.newContext();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: app.url });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const opened = (path: string, options?: PageOptions) => openCleanPage(context, app.url + path, options);
  const hash = (page: Page) => new URL(page.url()).hash;
  const titles = (page: Page) => page.locator('#search-found .search-title').allInnerTexts();

  describe('the search', () => {
    /** Opens the search by its key and types. */
    async function searched(page: Page, text: string): Promise<void> {
      await page.locator('#search-open').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type(text);
      await expect.poll(() => page.locator('#search-said').innerText()).not.toBe('');
    }

    test('finds a route by what it is for, and Enter opens it', async () => {
      const page = await opened('/docs');
      await searched(page, 'gex grid');
      await expect.poll(async () => (await titles(page))[0]).toBe('GEX grid');
      await page.keyboard.press('Enter');
      await expect.poll(() => hash(page)).toBe('#gex-grid');
      expect(await page.locator('#search').isVisible()).toBe(false);
      const top = () => page.locator('#gex-grid').evaluate((section) => section.getBoundingClientRect().top);
      await expect.poll(async () => Math.abs((await top()) - 72)).toBeLessThan(40);
    });

    test.each([
      ['min_premium_usd', 'min_premium_usd', 'Parameter'],
      ['flip_point', 'GEX grid', 'Route'],
      ['cross-section', 'cross-section', 'Stream topic'],
      ['rate_limited', '429 rate_limited', 'Error'],
      ['watchlits', 'Watchlists', 'Route'],
    ])('%s leads to %s', async (text, title, kind) => {
      const page = await opened('/docs');
      await searched(page, text);
      const found = page.locator('#search-found li', { has: page.getByText(title, { exact: true }) });
      await expect.poll(async () => (await found.allInnerTexts()).join()).toContain(kind);
    });

    test('arrows walk what was found and back, typing goes on, and Escape closes it', async () => {
      const page = await opened('/docs');
      await searched(page, 'bars');
      await expect.poll(async () => (await titles(page)).length).toBeGreaterThan(2);
      const focused = () =>
        page.evaluate(() => document.activeElement?.getAttribute('href') ?? document.activeElement?.id);
      const links = await page.locator('#search-found a').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      expect(await focused()).toBe(links[1]);
      await page.keyboard.press('ArrowUp');
      expect(await focused()).toBe(links[0]);
      await page.keyboard.type('x');
      expect(await page.locator('#search-input').inputValue()).toBe('barsx');
      await page.keyboard.press('Escape');
      expect(await page.locator('#search').isVisible()).toBe(false);
      expect(hash(page)).toBe('');
    });

    test('says that nothing is found, and of what', async () => {
      const page = await opened('/docs');
      await searched(page, 'qqqqzzzz');
      await expect.poll(() => page.locator('#search-said').innerText()).toBe('Nothing found for “qqqqzzzz”.');
      expect(await titles(page)).toEqual([]);
    });

    test('loads nothing before it is opened', async () => {
      const page = await opened('/docs');
      const loaded = () =>
        page.evaluate(
          () => performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('search.json')).length,
        );
      await page.locator('#search-open').waitFor();
      expect(await loaded()).toBe(0);
      await searched(page, 'quotes');
      expect(await loaded()).toBe(1);
    });

    test('can be used on a screen 390 pixels wide by touch alone', async () => {
      const page = await opened('/docs', { width: 390 });
      await page.locator('#search-open').click();
      await page.locator('#search-input').fill('stock bars');
      await expect.poll(async () => (await titles(page))[0]).toBe('Stock bars');
      const box = (await page.locator('#search').boundingBox())!;
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(390);
      expect(await page.locator('#search').evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
      await page.locator('#search-found a').first().click();
      await expect.poll(() => hash(page)).toBe('#stock-bars');
    });

    test.each(['dark', 'light'] as const)('axe finds nothing against it in the %s theme', async (colorScheme) => {
      // Scripts of the debugger are no complaints of the page: it is opened without the watch.
      const { page, close } = await openPage(context, `${app.url}/docs`, { colorScheme });
      onTestFinished(close);
      await searched(page, 'gex');
      await expect.poll(async () => (await titles(page)).length).toBeGreaterThan(2);
      // The page under it is looked at elsewhere (pages.browser.test.ts).
      expect(await axeFindings(page, { within: '#search', colors: themeRules[colorScheme] })).toEqual([]);
    });
  });

  describe('Try it', () => {
    /** The section of a route with its form open; `credential` is in the field at the top. */
    async function trying(route: string, credential: string = key, options: PageOptions = {}): Promise<Locator> {
      const page = await opened(`/docs#${route}`, { storage: { 'tapegraph-key': credential }, ...options });
      const section = page.locator(`#${route}`);
      await section.getByRole('button', { name: 'Try it' }).click();
      return section;
    }
    const send = (section: Locator) => section.getByRole('button', { name: 'Send' }).click();
    const command = (section: Locator) => section.locator('.command').innerText();
    const status = (section: Locator) => section.locator('[role=status]').innerText();
    const headers = async (section: Locator) => {
      const [names, values] = await Promise.all(
        ['dt', 'dd'].map((part) => section.locator(`.headers ${part}`).allInnerTexts()),
      );
      return Object.fromEntries(names!.map((name, index) => [name, values![index]]));
    };
    const copied = async (section: Locator) => {
      await section.locator('.try').getByRole('button', { name: 'Copy' }).click();
      await section.getByRole('button', { name: 'Copied' }).waitFor();
      return section.page().evaluate(() => navigator.clipboard.readText());
    };

    test('asks for a key where there is none', async () => {
      const section = await trying('quotes', '');
      expect(await command(section)).toContain('"Authorization: Bearer $KEY"');
      await send(section);
      expect(await status(section)).toContain('Enter a key first');
      expect(await section.page().evaluate(() => document.activeElement?.id)).toBe('key-input');
    });

    test('shows status, time, the rate that is left and the answer', async () => {
      const section = await trying('quotes');
      await section.getByLabel('symbols').fill('AAPL');
      await send(section);
      await expect.poll(() => status(section)).toMatch(/^200 OK in \d+ ms, \d+ bytes$/);
      expect(JSON.parse(await section.locator('.tried pre').innerText()).data[0].symbol).toBe('AAPL');
      expect(await headers(section)).toMatchObject({
        'x-ratelimit-limit': '1000000',
        'x-ratelimit-remaining': expect.stringMatching(/^9999\d\d$/),
        'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
        'cache-control': 'no-store',
      });
    });

    test('a failure is shown with its status and code', async () => {
      // The browser itself writes each failed request into its console.
      const { page, close } = await openPage(context, `${app.url}/docs#symbol`, {
        storage: { 'tapegraph-key': key },
      });
      onTestFinished(close);
      const section = page.locator('#symbol');
      await section.getByRole('button', { name: 'Try it' }).click();
      await section.getByLabel('symbol').fill('QQQQ');
      await send(section);
      await expect.poll(() => status(section)).toMatch(/^404 Not Found in/);
      expect(JSON.parse(await section.locator('.tried pre').innerText()).error.code).toBe('not_found');
    });

    test('enumerations are choices that name the default, and yes or no is one of them', async () => {
      const section = await trying('stock-bars');
      const options = (label: string) => section.getByLabel(label, { exact: true }).locator('option').allInnerTexts();
      expect((await options('timeframe')).slice(1)).toEqual(['1s', '1m', '5m', '1h', '1d']);
      await section.getByLabel('timeframe', { exact: true }).selectOption('1d');
      expect(await command(section)).toContain('timeframe=1d');
      await section.getByLabel('timeframe', { exact: true }).selectOption('');
      expect(await command(section)).not.toContain('timeframe');
      const grid = await trying('gex-history');
      const choices = await grid.getByLabel('by_expiry').locator('option').allInnerTexts();
      expect(choices.slice(1)).toEqual(['true', 'false']);
    });

    test('a session is chosen among those there were', async () => {
      const section = await trying('gex-history');
      const date = section.getByLabel('date', { exact: true });
      expect(await date.getAttribute('type')).toBe('date');
      expect(await date.getAttribute('max')).toBe('2026-12-01');
      const list = section.page().locator(`#${await date.getAttribute('list')} option`);
      const sessions = await list.evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
      // The day between is a holiday.
      expect(sessions.slice(0, 4)).toEqual(['2026-12-01', '2026-11-30', '2026-11-27', '2026-11-25']);
    });

    test('symbols of the registry are suggested, of a list for its last', async () => {
      const section = await trying('quotes');
      const field = section.getByLabel('symbols');
      await field.fill('');
      await field.pressSequentially('SPY,AAP');
      const options = section.locator(`#${await field.getAttribute('list')} option`);
      await expect
        .poll(() => options.evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value)))
        .toContain('SPY,AAPL');
    });

    test('the curl command follows what is chosen; its key is masked until it is copied, and it works when pasted', async () => {
      const section = await trying('quotes');
      await section.getByLabel('symbols').fill('SPY,AAPL');
      expect(await command(section)).toContain(`/v2/quotes?symbols=SPY,AAPL'`);
      expect(await command(section)).not.toContain(key);
      expect(await command(section)).toContain(`Bearer ${key.slice(0, 8)}…`);
      const pasted = await copied(section);
      expect(pasted).toContain(key);
      expect(await command(section)).not.toContain(key);
      const { stdout } = await promisify(execFile)('sh', ['-c', pasted]);
      expect(JSON.parse(stdout).data.map((row: { symbol: string }) => row.symbol)).toEqual(['SPY', 'AAPL']);
    });

    test('a credential that a shell would read is one word of the command', async () => {
      const section = await trying('quotes', `x'; echo "$(id)" #`);
      const { stdout } = await promisify(execFile)('sh', ['-c', await copied(section)]);
      expect(JSON.parse(stdout).error.code).toBe('unauthenticated');
    });

    test('a body is sent as it stands, in the page and by curl', async () => {
      const section = await trying('put-watchlist');
      await section.getByLabel('Body').fill(`{"name":"It's mine","symbols":["spy"]}`);
      await send(section);
      await expect.poll(() => status(section)).toMatch(/^200 /);
      const { stdout } = await promisify(execFile)('sh', ['-c', await copied(section)]);
      expect(JSON.parse(stdout).data).toMatchObject({ name: "It's mine", symbols: ['SPY'] });
    });

    test.each([
      ['text/csv', 'csv'],
      ['application/vnd.apache.arrow.stream', 'arrow'],
      ['application/x-protobuf', 'pb'],
    ])('an answer comes as %s, and can be saved', async (media, extension) => {
      const section = await trying('gex-grid');
      await section.getByLabel('Accept').selectOption(media);
      expect(await command(section)).toContain(`-H 'Accept: ${media}'`);
      await send(section);
      await expect.poll(() => status(section)).toMatch(/^200 /);
      expect((await headers(section))['content-type']).toContain(media);
      const [download] = await Promise.all([
        section.page().waitForEvent('download'),
        section.getByRole('link', { name: `Save as gex-grid.${extension}` }).click(),
      ]);
      const path = new URL((await section.locator('.command').innerText()).match(/'(http[^']+)'/)![1]!);
      const asked = await app.get(path.pathname + path.search, { credential: key, headers: { accept: media } });
      expect((await readFile(await download.path())).equals(asked.bytes)).toBe(true);
      expect(asked.bytes.length).toBeGreaterThan(100);
    });

    test('a route for sessions says what it needs, and answers a session token', async () => {
      const section = await trying('api-keys', await app.session());
      expect(await section.locator('.note').innerText()).toContain('requires a site session');
      await send(section);
      await expect.poll(() => status(section)).toMatch(/^200 /);
      const other = await trying('quotes');
      expect(await other.locator('.note').count()).toBe(0);
    });

    test('every route has a form that fits a screen 390 pixels wide', async () => {
      const page = await opened('/docs', { width: 390, storage: { 'tapegraph-key': key } });
      await page.locator('#search-open').waitFor();
      const count = await page.evaluate(() => {
        const buttons = [...document.querySelectorAll<HTMLButtonElement>('button[data-try]')];
        for (const button of buttons) button.click();
        return buttons.length;
      });
      expect(await page.locator('.try form').count()).toBe(count);
      const [scrollWidth, clientWidth] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
    });

    test.each(['dark', 'light'] as const)(
      'axe finds nothing against its forms in the %s theme',
      async (colorScheme) => {
        const { page, close } = await openPage(context, `${app.url}/docs`, {
          colorScheme,
          storage: { 'tapegraph-key': key },
        });
        onTestFinished(close);
        for (const route of ['stock-bars', 'put-watchlist', 'create-key']) {
          const section = page.locator(`#${route}`);
          await section.getByRole('button', { name: 'Try it' }).click();
          if (route !== 'stock-bars') continue;
          await send(section);
          await expect.poll(() => status(section)).toMatch(/^200 /);
        }
        expect(await page.locator('.try form').count()).toBe(3);
        expect(await axeFindings(page, { within: '.try:has(form)', colors: themeRules[colorScheme] })).toEqual([]);
      },
    );
  });
});
