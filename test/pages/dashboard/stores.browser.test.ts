// Pages show what a store has: an empty one, one with a single chain, and the sample market.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { examplesAt } from '../../../src/graphql/examples.ts';
import { ensureStarterRegistry } from '../../../src/intake/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { ensureSampleMarket } from '../../../src/intake/ingest/sample/sample-market.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { chromiumPath, openPage, startBrowser } from '../../support/browser.ts';
import { overlappingTexts } from '../../support/overlaps.ts';
import { testStore } from '../../support/store.ts';
import { worth } from '../../support/tapes/quoted-tape.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = '2026-11-19';
const widths = [1280, 390];

/** The panels, and the files of which each is made. */
const datasets: Readonly<Record<string, string>> = {
  candles: 'stock-minute-bars',
  'gex-strikes': 'chain',
  trades: 'option-trades',
  'gex-heat': 'chain',
  'flow-strikes': 'option-trades',
  'flow-expiries': 'option-trades',
  smile: 'chain',
  term: 'chain',
  composition: 'stock-trades',
  concentration: 'stock-trades',
};
const panels = Object.keys(datasets);

/** A chain of a stock at noon, two expiries, in the vendor's JSON. */
function chainFile(): string {
  const tsMs = exchangeInstant(session, 720);
  const none = { iv: 0, delta: 0, gamma: 0, theta: 0, vega: 0, theo: 0, last_trade_price: 0, last_trade_time: null };
  const options = ['261218', '270115'].flatMap((expiry) =>
    [190, 195, 200, 205, 210].flatMap((strike) =>
      ['C', 'P'].map((right) => {
        const option = `AAPL${expiry}${right}${String(strike * 1000).padStart(8, '0')}`;
        const fair = worth(readOptionContract(option)!, 200, tsMs);
        // More calls above and more puts below, so that there are walls.
        const interest = (right === 'C') === strike >= 200 ? 150 : 100;
        const quote = { bid: Math.max(0.01, fair - 0.02), ask: fair + 0.02, volume: 5, open_interest: interest };
        return { option, ...quote, ...none };
      }),
    ),
  );
  const timestamp = new Date(tsMs).toISOString().slice(0, 19).replace('T', ' ');
  const path = join(folder(), 'aapl.json');
  writeFileSync(path, JSON.stringify({ timestamp, data: { options, current_price: 200, prev_day_close: 199 } }));
  return path;
}

describe.skipIf(chromiumPath === null)('what a browser shows of a store', { timeout: 120_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  async function open(app: TestApp, path: string, { width = 1280, key }: { width?: number; key?: string | null } = {}) {
    const context = await browser.newContext();
    const own = key === undefined ? await app.key() : key;
    const { page } = await openPage(context, app.url + path, {
      width,
      storage: own === null ? {} : { 'tapegraph-key': own },
    });
    onTestFinished(() => context.close());
    return page;
  }
  /** The states of the panels, each looked at, and what those that are empty say. */
  async function looked(page: Page): Promise<Record<string, { state: string; says: string }>> {
    const found: Record<string, { state: string; says: string }> = {};
    for (const id of panels) {
      const panel = page.locator(`#${id}`);
      await panel.scrollIntoViewIfNeeded();
      await page.waitForSelector(`#${id}:not([data-state="loading"])`);
      const message = panel.locator('.message');
      found[id] = {
        state: (await panel.getAttribute('data-state'))!,
        says: (await message.count()) > 0 ? await message.innerText() : '',
      };
    }
    return found;
  }
  const listed = (page: Page) => page.locator('.watchlist li b').allInnerTexts();
  const quoted = (page: Page) => page.locator('#quotes a').allInnerTexts();
  const figures = async (page: Page) =>
    Object.fromEntries(
      await page
        .locator('.strip div:has(dt)')
        .evaluateAll((all) =>
          all.map((one) => [one.querySelector('dt')!.textContent, one.querySelector('dd')!.textContent]),
        ),
    ) as Record<string, string>;

  test('texts that lie over each other are found, those that are clipped are not', async () => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    const over = '<p style="position: absolute; top: 40px; left: 20px">';
    await page.setContent(`${over}one</p>${over}two</p><p style="position: absolute; top: 100px">three</p>
      <div style="height: 20px; overflow: hidden"><p style="margin-top: 40px">clipped</p></div>`);
    expect(await overlappingTexts(page)).toEqual(['one / two']);
  });

  describe('that is empty', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await testApp({ nowMs: exchangeInstant(session, 720) });
    });
    afterAll(() => app?.close());

    test.each(widths)('every panel says what is missing and how it is loaded, %i pixels wide', async (width) => {
      const page = await open(app, '/dashboard/SPY', { width });
      const found = await looked(page);
      for (const id of panels) {
        expect({ id, ...found[id] }).toMatchObject({ id, state: 'empty' });
        expect(found[id]!.says).toContain(`tapegraph ingest ${datasets[id]} FILE`);
      }
      expect(Object.values(await figures(page)).filter((figure) => /\d/.test(figure))).toEqual([]);
      expect(await listed(page)).toEqual([]);
      expect(await page.locator('#session option').count()).toBe(1);
      expect(await overlappingTexts(page)).toEqual([]);
    });

    test('the landing page names no symbol, and asks for a key only where there is none', async () => {
      const key = await app.key();
      const page = await open(app, '/', { key });
      expect(await quoted(page)).toEqual([]);
      expect(await page.locator('main').innerText()).toContain('No data is stored yet');
      expect(await page.locator('h2:text("You need a key")').isVisible()).toBe(false);
      expect(await page.locator('h2:text("This browser has a key")').isVisible()).toBe(true);
      const without = await open(app, '/', { key: null });
      expect(await without.locator('h2:text("You need a key")').isVisible()).toBe(true);
      expect(await without.locator('h2:text("This browser has a key")').isVisible()).toBe(false);
    });
  });

  describe('with a single chain', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await testApp({ nowMs: exchangeInstant('2026-11-20', 60) });
      const { files } = await ingestFiles(app.store, 'chain', [chainFile()], { now: () => app.clock.nowMs });
      expect(files[0]!.status).toBe('stored');
    });
    afterAll(() => app?.close());

    test.each(widths)('the pages begin with its symbol and show what it gives, %i pixels wide', async (width) => {
      const page = await open(app, '/dashboard', { width });
      expect(new URL(page.url()).pathname).toBe('/dashboard/AAPL');
      const found = await looked(page);
      const ofChain = panels.filter((id) => datasets[id] === 'chain');
      expect(panels.filter((id) => found[id]!.state === 'shown')).toEqual(ofChain);
      for (const id of panels.filter((one) => !ofChain.includes(one)))
        expect(found[id]!.says).toContain(`tapegraph ingest ${datasets[id]} FILE`);
      const { data } = await app.graphql('{ symbol(symbol: "AAPL") { gex { latest { netGex callWall } } } }');
      const shown = await figures(page);
      expect(shown['Call wall']).toContain(String(data.symbol.gex.latest.callWall / 1000));
      expect(shown['Put/call']).not.toMatch(/\d/);
      expect(shown['Off exchange']).not.toMatch(/\d/);
      expect(await listed(page)).toEqual(['AAPL']);
      const sessions = page.locator('#session option');
      expect(await sessions.evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value))).toEqual([
        session,
      ]);
      expect(await overlappingTexts(page)).toEqual([]);
      const home = await open(app, '/', { width });
      // There is no price, and what the chain gives.
      await expect.poll(() => quoted(home)).toEqual([expect.stringMatching(/^AAPL\s[^$]*No price[^$]*Net GEX [+−]\$/)]);
    });
  });

  describe('whose data ends long ago', () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await testApp({ nowMs: exchangeInstant('2026-11-20', 60) });
      await ingestFiles(app.store, 'chain', [chainFile()], { now: () => app.clock.nowMs });
      app.clock.nowMs = exchangeInstant('2027-02-03', 720);
    });
    afterAll(() => app?.close());

    test('the dashboard opens at its last session', async () => {
      const page = await open(app, '/dashboard');
      await page.waitForSelector('#gex-heat[data-state="shown"]');
      await expect.poll(() => page.locator('#session').inputValue()).toBe(session);
      const { data } = await app.graphql('{ symbol(symbol: "AAPL") { gex { latest { callWall } } } }');
      expect((await figures(page))['Call wall']).toContain(String(data.symbol.gex.latest.callWall / 1000));
      expect(new URL(page.url()).search).toBe('');
    });

    test('the landing page tells what is stored', async () => {
      const page = await open(app, '/');
      const stored = page.locator('#stored');
      expect(await stored.innerText()).toMatch(/Data of its operator: 1 symbol\./);
      const rows = await stored
        .locator('tbody tr')
        .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
      expect(rows).toEqual([
        ['Prices', '–', 'none stored'],
        ['Option chains, dealer gamma', '1', session, session],
        ['Option flow', '–', 'none stored'],
        ['Off-exchange trading', '–', 'none stored'],
      ]);
    });
  });

  describe('with the sample market', () => {
    let app: TestApp;
    const at = (minute: number) => exchangeInstant(session, minute);
    // The market of `npm start` is made of the same parts, many times over.
    const tape = {
      optionPrints: 4000,
      plants: 112,
      stockPrints: 20_000,
      symbols: ['AAPL', 'NVDA', 'QQQ', 'SPX', 'SPY'],
    };
    const shape = {
      barSessions: 4,
      chainSessions: 2,
      historySessions: 5,
      captureEveryMinutes: 60,
      tapeSessions: 2,
      tape,
    };
    const bring = async (minute: number) => {
      app.clock.nowMs = at(minute);
      await ensureSampleMarket(app.store, { dataDir: folder(), now: () => app.clock.nowMs, shape });
    };
    beforeAll(async () => {
      const store = await testStore();
      await ensureStarterRegistry(store, () => at(660));
      app = await testApp({ nowMs: at(660), store, symbols: [] });
      await bring(660);
    }, 240_000);
    afterAll(() => app?.close());

    /** The paths of the lists of an answer that have no rows. */
    function emptyLists(value: Json, path: string): string[] {
      if (Array.isArray(value)) return value.length === 0 ? [path] : value.flatMap((one) => emptyLists(one, path));
      if (value === null || typeof value !== 'object') return [];
      return Object.entries(value).flatMap(([name, one]) => emptyLists(one, `${path}.${name}`));
    }

    async function everythingIsThere(settled: RegExp | null = null): Promise<void> {
      for (const { name, query } of examplesAt(app.clock.nowMs)) {
        if (/^subscription /m.test(query)) continue;
        const { data, errors } = await app.graphql(query);
        expect({ name, errors }).toEqual({ name, errors: undefined });
        // The account is new: its journal has no trades.
        const empty = emptyLists(data, name).filter(
          (path) => !/\.(restricted|applied|byDay|journalTrades\.rows)$/.test(path) && !settled?.test(path),
        );
        expect(empty).toEqual([]);
      }
      for (const width of widths) {
        const page = await open(app, '/dashboard/SPY', { width });
        const found = await looked(page);
        expect(panels.filter((id) => found[id]!.state !== 'shown')).toEqual([]);
        expect((await listed(page)).slice(0, 2)).toEqual(['SPY', 'QQQ']);
        expect(await overlappingTexts(page)).toEqual([]);
      }
      const { data } = await app.graphql('{ symbol(symbol: "SPY") { sessionDates } }');
      const page = await open(app, `/dashboard/SPY?session=${data.symbol.sessionDates.at(1)}`);
      await page.waitForSelector('#candles[data-state="shown"] canvas');
      for (const width of [1440, 1400, 1280, 1024, 900, 768, 390]) {
        await page.setViewportSize({ width, height: 844 });
        expect({ width, over: await overlappingTexts(page) }).toEqual({ width, over: [] });
      }
    }

    test('every example and every panel has rows while the market trades, and nothing overlaps', () =>
      everythingIsThere());

    test('and in the evening', async () => {
      await bring(20 * 60 + 30);
      // The expiry of the day has settled.
      await everythingIsThere(/zeroDte\.strikes$/);
    }, 240_000);
  });
});
