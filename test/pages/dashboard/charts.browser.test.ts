import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type TestApp, testApp, testSymbols } from '../../support/app.ts';
import { chromiumPath, openPage, startBrowser } from '../../support/browser.ts';
import { minutes } from '../../support/live.ts';
import { chainCapture, chainRow, gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';

const session = '2026-12-01';
const nowMs = newYork(session, '12:00');

/** Monthly expiries. */
const expiries = Array.from({ length: 55 }, (_, i) =>
  new Date(Date.UTC(2026, 11, 18 + 14 * i)).toISOString().slice(0, 10),
);

/** The window of the candles and what is drawn in it, as the chart library has them. */
interface Shown {
  first: number;
  last: number;
  bars: number;
  /** Share of the panel's height that the visible candles take. */
  share: number;
}

describe.skipIf(chromiumPath === null)('the charts of the dashboard in a browser', { timeout: 90_000 }, () => {
  let app: TestApp;
  let browser: Browser;
  let context: BrowserContext;
  let key: string;
  beforeAll(async () => {
    app = await testApp({ nowMs, symbols: testSymbols });
    key = await app.key();
    // A still price among strikes that lie far apart.
    const gex = gexCapture(
      'NVDA',
      nowMs - 60_000,
      Array.from({ length: 41 }, (_, i) => ({ strike: 150_000 + 5000 * i, expiry: '2026-12-18', gex: (i - 20) * 1e6 })),
      { spot: 250.2 },
    );
    const rows = expiries.flatMap((expiry) =>
      Array.from({ length: 9 }, (_, i) => 580_000 + 5000 * i).flatMap((strike) =>
        (['call', 'put'] as const).map((right) =>
          chainRow({ root: 'SPXW', expiry, right, strike, openInterest: 10, bid: 1, ask: 1.2, iv: 0.2, delta: 0.5 }),
        ),
      ),
    );
    await saveCaptures(app.store, { gex: [gex], chains: [chainCapture('SPX', nowMs - 60_000, rows)] });
    await minutes(
      app.store,
      'NVDA',
      session,
      0,
      Array.from({ length: 100 }, (_, i) => [250 + (i % 5) / 10, 100 + i]),
    );
    await minutes(app.store, 'AAPL', session, 100, [[200, 50]]);
    browser = await startBrowser();
    context = await browser.newContext();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const soon = <Value>(look: () => Value) => expect.poll(look, { timeout: 20_000 });

  async function open(symbol: string, width = 1280): Promise<Page> {
    const { page, close } = await openPage(context, `${app.url}/dashboard/${symbol}`, {
      storage: { 'tapegraph-key': key },
      width,
    });
    onTestFinished(close);
    await page.waitForSelector('#candles[data-state="shown"] canvas');
    await page.waitForSelector('.live[data-stream="live"]');
    return page;
  }

  // Texts: what is evaluated imports the page's own chart library.
  const chartLibrary = `import(
    performance.getEntriesByType('resource').find(({ name }) => name.endsWith('/chart-library.js')).name
  )`;
  const shown = (page: Page): Promise<Shown> =>
    page.evaluate(`(async () => {
      const { getInstanceByDom } = await ${chartLibrary};
      const chart = getInstanceByDom(document.querySelector('#candles .chart'));
      const { dataZoom: [{ startValue: first, endValue: last }], series: [{ data }] } = chart.getOption();
      const seen = data.slice(first, last + 1);
      const at = (price) => chart.convertToPixel({ yAxisIndex: 0 }, price);
      const height = at(Math.min(...seen.map((bar) => bar[2]))) - at(Math.max(...seen.map((bar) => bar[3])));
      const share = height / document.querySelector('#candles').clientHeight;
      return { first, last, bars: data.length, share };
    })()`);
  const windowOf = async (page: Page) => {
    const { first, last, bars } = await shown(page);
    return { first, last, bars };
  };

  test('the candles go on with each minute that comes, from the first one on', async () => {
    const page = await open('AAPL');
    expect(await windowOf(page)).toEqual({ first: 0, last: 0, bars: 1 });
    for (let i = 1; i <= 3; i++) {
      await minutes(app.store, 'AAPL', session, 100 + i, [[200 + i / 10, 50]]);
      await soon(() => windowOf(page)).toEqual({ first: 0, last: i, bars: i + 1 });
    }
  });

  test('a reader who moves away stays there; “Latest” leads back to the last candle and on with it', async () => {
    const page = await open('NVDA');
    const { bars } = await shown(page);
    const chart = (await page.locator('#candles .chart').boundingBox())!;
    const latest = page.locator('#candles button:text("Latest")');
    expect(await latest.count()).toBe(0);
    // Zooms in at an early candle.
    await soon(async () => {
      await page.mouse.move(chart.x + chart.width / 4, chart.y + chart.height / 2);
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -400);
      await page.keyboard.up('Control');
      return latest.isVisible();
    }).toBe(true);
    const away = await shown(page);
    expect(away.last).toBeLessThan(bars - 1);
    await minutes(app.store, 'NVDA', session, 100, [[250.3, 80]]);
    await soon(async () => (await shown(page)).bars).toBe(bars + 1);
    expect(await windowOf(page)).toEqual({ first: away.first, last: away.last, bars: bars + 1 });
    await latest.click();
    const width = away.last - away.first;
    await soon(() => windowOf(page)).toEqual({ first: bars - width, last: bars, bars: bars + 1 });
    await latest.waitFor({ state: 'detached' });
    await minutes(app.store, 'NVDA', session, 101, [[250.4, 80]]);
    await soon(() => windowOf(page)).toEqual({ first: bars + 1 - width, last: bars + 1, bars: bars + 2 });
  });

  test.each([1280, 390])('candles of a still price have their own scale, %i pixels wide', async (width) => {
    const page = await open('NVDA', width);
    expect((await shown(page)).share).toBeGreaterThanOrEqual(0.4);
  });

  test('of a chain with 55 expiries the smile is drawn 200 pixels high or more', async () => {
    for (const width of [1280, 390]) {
      const { page, close } = await openPage(context, `${app.url}/dashboard/SPX`, {
        storage: { 'tapegraph-key': key },
        width,
      });
      onTestFinished(close);
      await page.locator('#smile').scrollIntoViewIfNeeded();
      await page.waitForSelector('#smile[data-state="shown"] canvas');
      expect(await page.locator('#smile .expiries button').count()).toBe(expiries.length);
      const height: number = await page.evaluate(`(async () => {
        const { getInstanceByDom } = await ${chartLibrary};
        const chart = getInstanceByDom(document.querySelector('#smile .chart'));
        return chart.getModel().getComponent('grid').coordinateSystem.getRect().height;
      })()`);
      expect(height).toBeGreaterThanOrEqual(200);
      // The chosen ones can be reached: the last expiry is one of them.
      await page.locator('#smile .expiries button').last().click();
      expect(await page.locator('#smile .expiries button').last().getAttribute('aria-pressed')).toBe('false');
    }
  });
});
