import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { chromiumPath, startBrowser } from '../support/browser.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { layoutShifts, watchLayout } from '../support/layout-shift.ts';

describe.skipIf(chromiumPath === null)('before the scripts of a page have come', { timeout: 90_000 }, () => {
  let first: TestApp;
  let app: TestApp;
  let key: string;
  let browser: Browser;
  beforeAll(async () => {
    first = await testApp({ nowMs: filledNowMs });
    key = await first.key();
    await fillMarket(first.store);
    app = await testApp({ nowMs: filledNowMs, store: first.store, sampleKey: key });
    browser = await startBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await first?.close();
  });

  /** A page of a browser that was never here, which has a key if it is `keyed`. */
  async function opened(path: string, width: number, keyed: boolean, before: (page: Page) => Promise<void>) {
    const context: BrowserContext = await browser.newContext({ viewport: { width, height: 900 } });
    onTestFinished(() => context.close());
    if (keyed) await context.addInitScript((own) => localStorage.setItem('tapegraph-key', own), key);
    await watchLayout(context);
    const page = await context.newPage();
    await before(page);
    await page.goto(app.url + path, { waitUntil: 'commit' });
    return page;
  }

  /** Holds scripts back until the answer is called. */
  async function holdScripts(page: Page, pattern: RegExp): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route(pattern, async (route) => {
      await promise;
      await route.continue().catch(() => {});
    });
    return resolve;
  }

  test.each([true, false])('the dashboard’s frame is there, and taken on as it is; with a key: %s', async (keyed) => {
    let release = () => {};
    const page = await opened('/dashboard/SPY', 412, keyed, async (fresh) => {
      release = await holdScripts(fresh, /dashboard\/client\/main\.js/);
    });
    const frame = page.locator(`[data-frame="${keyed ? 'stored' : 'none'}"]`);
    await frame.waitFor();
    expect(await page.locator('[data-frame]:visible').count()).toBe(1);
    // A browser may paint when only the first of them have come: what follows must not push them.
    const tops = await frame
      .locator('.desk > :visible')
      .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().top));
    expect(tops.length).toBeGreaterThan(2);
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
    expect(await frame.locator('h1').innerText()).toBe('SPY');
    expect(await frame.locator('.strip dt').allInnerTexts()).toContain('Net GEX');
    expect(await frame.locator('.panels > section').count()).toBe(keyed ? 10 : 0);
    expect(await frame.locator('.notice').count()).toBe(keyed ? 0 : 1);
    const strip = await frame.locator('.strip').elementHandle();
    release();
    await page.waitForSelector(keyed ? '#candles canvas' : '#main:not(:has([data-frame]))');
    expect(await strip!.evaluate((element) => element.isConnected)).toBe(true);
    expect(await page.locator('h1').count()).toBe(1);
  });

  test('GraphiQL’s query and tabs are there, those of the tab that was open last', async () => {
    let release = () => {};
    const page = await opened('/graphql', 1440, false, async (fresh) => {
      release = await holdScripts(fresh, /graphiql\/app\.js/);
    });
    await page.locator('#frame-query').waitFor();
    expect(await page.locator('#frame-query').innerText()).toContain('query Dashboard {');
    expect(await page.locator('.frame .graphiql-tab').allInnerTexts()).toEqual(['Dashboard']);
    expect(await page.locator('.frame .graphiql-plugin').isVisible()).toBe(false);
    release();
    await page.locator('.graphiql-execute-button').waitFor();
    await page.selectOption('#examples', 'Minute bars');
    await page.locator('.graphiql-query-editor .CodeMirror', { hasText: 'MinuteBars' }).waitFor();
    // GraphiQL stores its tabs a little later.
    await page.waitForFunction(() => localStorage.getItem('graphiql:tabState')?.includes('"activeTabIndex":1'));
    await page.unrouteAll();
    await holdScripts(page, /graphiql\/app\.js/);
    await page.reload({ waitUntil: 'commit' });
    await page.locator('#frame-query').waitFor();
    await expect.poll(() => page.locator('#frame-query').innerText()).toContain('query MinuteBars {');
  });

  test('GraphiQL’s frame is painted before what draws GraphiQL runs', async () => {
    const page = await opened('/graphql', 412, false, async (fresh) => {
      await fresh.addInitScript(() => {
        const seen = window as unknown as { paintedBefore?: boolean };
        let bundle: unknown;
        Object.defineProperty(window, 'YogaGraphiQL', {
          get: () => bundle,
          set: (value) => {
            seen.paintedBefore ??= performance.getEntriesByName('first-contentful-paint').length > 0;
            bundle = value;
          },
        });
      });
    });
    await page.locator('.graphiql-execute-button').waitFor();
    expect(await page.evaluate(() => (window as unknown as { paintedBefore?: boolean }).paintedBefore)).toBe(true);
  });

  const isQuiet: Record<string, string> = {
    '/': '#quotes .quote .price',
    '/docs': '#search-open',
    '/dashboard/SPY': '#main:not(:has([data-frame]))',
    '/graphql': '.graphiql-execute-button',
  };
  const visits = Object.entries(isQuiet).flatMap(([path, selector]) =>
    [412, 1440].map((width) => [path, width, selector] as const),
  );
  test.each(visits)('%s does not move while it is loaded, %i pixels wide', async (path, width, selector) => {
    const settled = async (keyed: boolean) => {
      const page = await opened(path, width, keyed, async () => {});
      await page.locator(selector).first().waitFor();
      if (path.startsWith('/dashboard') && keyed) await page.waitForSelector('#candles[data-state="shown"] canvas');
      await page.waitForTimeout(1500);
      const { total, moved } = await layoutShifts(page);
      expect(total, `with a key: ${keyed}; ${moved.join('; ')}`).toBeLessThan(0.02);
    };
    await Promise.all([false, true].map(settled));
  });
});
