import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SymbolEntry } from '../../../src/core/domain/market/symbol.ts';
import * as format from '../../../src/pages/dashboard/client/format.ts';
import { viewRequests } from '../../../src/pages/dashboard/view-requests.ts';
import { flakyProxy } from '../../access/flaky-proxy.ts';
import { type Json, type TestApp, testApp, testSymbols } from '../../support/app.ts';
import { axeFindings, themeRules } from '../../support/axe.ts';
import { chromiumPath, type OpenedPage, openPage, type PageOptions, startBrowser } from '../../support/browser.ts';
import { filledContract, filledNowMs, filledSessions, fillMarket } from '../../support/filled-market.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../../support/flow.ts';
import { minutes, snapshot, trade } from '../../support/live.ts';
import { storeDays } from '../../support/market.ts';
import { gexCapture, saveCaptures } from '../../support/option-market.ts';

/** An index of which nothing is stored. */
const quietIndex: SymbolEntry = {
  ...testSymbols.find(({ symbol }) => symbol === 'XSP')!,
  symbol: 'NDX',
  name: 'An index',
};

describe.skipIf(chromiumPath === null)('the dashboard in a browser', { timeout: 90_000 }, () => {
  let app: TestApp;
  let browser: Browser;
  // One for all, so that the files of the pages are fetched once.
  let context: BrowserContext;
  let key: string;
  beforeAll(async () => {
    app = await testApp({
      nowMs: filledNowMs,
      env: { RATE_BASIC: '20', RATE_FREE: '60' },
      symbols: [...testSymbols, quietIndex],
    });
    await fillMarket(app.store);
    key = await app.key();
    browser = await startBrowser();
    context = await browser.newContext();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  /** The dashboard at `path`, under a key that may read everything unless another is given; null = none. */
  async function open(
    path = '/dashboard/SPY',
    { key: own = key, origin = app.url, ...options }: { key?: string | null; origin?: string } & PageOptions = {},
  ): Promise<OpenedPage> {
    const storage: Record<string, string> = own === null ? {} : { 'tapegraph-key': own };
    const opened = await openPage(context, origin + path, { ...options, storage });
    onTestFinished(opened.close);
    return opened;
  }

  // Other tests may have the machine.
  const soon = <Value>(look: () => Value) => expect.poll(look, { timeout: 20_000 });
  const ready = (page: Page) => page.waitForSelector('#candles[data-state="shown"] canvas');
  const figure = (page: Page, name: string) =>
    page
      .locator('.strip div', { has: page.locator(`dt:text-is("${name}")`) })
      .locator('dd')
      .first()
      .innerText();
  const cells = (page: Page, panel: string) =>
    page
      .locator(`#${panel} tbody tr`)
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent!.trim())));
  const stateOf = (page: Page, panel: string) => page.locator(`#${panel}`).getAttribute('data-state');
  /** Scrolls to panels, one after another, and waits for what they show. */
  async function look(page: Page, ...panels: string[]): Promise<void> {
    for (const panel of panels) {
      await page.locator(`#${panel}`).scrollIntoViewIfNeeded();
      await page.waitForSelector(`#${panel}:not([data-state="loading"])`);
    }
  }
  const asked = async (query: string, symbol = 'SPY'): Promise<Json> =>
    (await app.graphql(`{ symbol(symbol: "${symbol}") { ${query} } }`)).data.symbol;

  test('shows what the graph answers: quote, gamma, flow, off exchange; and loads nothing from elsewhere', async () => {
    const { page, complaints, asked: questions } = await open('/dashboard/SPY', { motion: true });
    await ready(page);
    const { quote, gex, flow, offExchange } = await asked(`
      quote { spot changePct volume }
      gex { latest { netGex flipPoint callWall putWall } }
      flow { crossSection { snapshot { update { byExpiration { measures { callPremiumUsd putPremiumUsd } } } } } largeTrades(limit: 50) { events { update { event { premiumUsd } } } } }
      offExchange { composition { rows { category shareOfOffExchNotional notional } } concentration { rows { rank bucketMidpoint notional } } }`);
    expect(await page.locator('#spot').innerText()).toBe(format.price(quote.spot));
    expect(await page.locator('#change').innerText()).toContain(format.change(quote.changePct));
    expect(await figure(page, 'Net GEX')).toBe(format.gex(gex.latest.netGex));
    // The market filled here has its candles far from its strikes.
    expect(await page.locator('#gex-strikes .note').innerText()).toMatch(/; candles at 3\d\d\.\d\d–3\d\d\.\d\d$/);
    expect(await figure(page, 'Flip')).toBe(format.price(gex.latest.flipPoint));
    expect(await figure(page, 'Call wall')).toBe(format.strike(gex.latest.callWall));
    expect(await figure(page, 'Put wall')).toBe(format.strike(gex.latest.putWall));
    const sums = flow.crossSection.snapshot.update.byExpiration.reduce(
      (sum: Json, { measures }: Json) => ({
        calls: sum.calls + measures.callPremiumUsd,
        puts: sum.puts + measures.putPremiumUsd,
      }),
      { calls: 0, puts: 0 },
    );
    expect(await figure(page, 'Put/call')).toBe(format.ratio(sums.puts, sums.calls));
    expect(await page.locator('#flow-strikes .legend').innerText()).toContain(`Calls ${format.usd(sums.calls)}`);
    expect((await cells(page, 'trades')).map((row) => row[2])).toEqual(
      flow.largeTrades.events.map(({ update }: Json) => format.usd(update.event.premiumUsd)),
    );
    await look(page, 'composition', 'concentration');
    expect((await cells(page, 'composition')).map((row) => row[2]).sort()).toEqual(
      offExchange.composition.rows.map(({ notional }: Json) => format.usd(notional)).sort(),
    );
    const levels = (await cells(page, 'concentration')).filter((row) => row.length > 1);
    expect(levels.map((row) => [row[4], row[0], row[1]]).sort()).toEqual(
      offExchange.concentration.rows
        .map(({ rank, bucketMidpoint, notional }: Json) => [
          String(rank),
          format.price(bucketMidpoint),
          format.usd(notional),
        ])
        .sort(),
    );
    expect(complaints).toEqual({ console: [], otherHosts: [] });
    // Visible panels are in one request, those that are scrolled to in another.
    expect(questions).toHaveLength(2);
    expect(questions[0]).toContain('query Dashboard');
    expect(questions[1]).toContain('query Parts');
  });

  test('a large trade opens, by pointer and by keyboard: its legs, with the chain before them', async () => {
    const { page, complaints } = await open();
    await ready(page);
    const { flow } = await asked(`flow { largeTrades(limit: 1) { events { update { event { legs {
      size contract { id } context(before: 1, after: 0) { contract { chainRow { openInterest } } } } } } } } }`);
    const [{ update }] = flow.largeTrades.events;
    const details = page.locator('#trades .details');
    const row = page.locator('#trades .trades > tbody > tr').first();
    await row.click();
    await soon(() => details.locator('tbody tr').count()).toBe(update.event.legs.length);
    const [leg] = update.event.legs;
    const shown = details.locator('tbody tr').first().locator('th, td');
    expect(await shown.first().getAttribute('title')).toBe(leg.contract.id);
    expect((await shown.allInnerTexts())[1]).toBe(format.whole(leg.size));
    const interest = leg.context.contract.chainRow?.openInterest;
    expect((await shown.allInnerTexts())[6]!.trim()).toBe(format.whole(interest));
    await row.click();
    await soon(() => details.count()).toBe(0);
    await row.locator('button').focus();
    await page.keyboard.press('Enter');
    await soon(() => details.locator('tbody tr').count()).toBe(update.event.legs.length);
    expect(await row.locator('button').getAttribute('aria-expanded')).toBe('true');
    expect(complaints.console).toEqual([]);
  });

  test('a dash says why, to a tap and to the keyboard', async () => {
    const { page } = await open('/dashboard/AAPL', { width: 412 });
    await ready(page);
    const dash = page.locator('.strip div:has(dt:text-is("Net GEX")) .unknown');
    const why = page.locator('#why-NetGEX');
    expect(await why.isVisible()).toBe(false);
    await dash.click();
    expect(await why.innerText()).toBe('No option chain of AAPL is stored.');
    expect(await why.isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await why.isVisible()).toBe(false);
    await dash.focus();
    await page.keyboard.press('Enter');
    expect(await why.isVisible()).toBe(true);
  });

  test('the list of sessions tells what each has, and beside a past one the watchlist says that it is live', async () => {
    const { page } = await open();
    await ready(page);
    expect(await page.locator('.watchlist .note').count()).toBe(0);
    const { sessions } = await asked('sessions(last: 250) { sessionDate bars chains flow offExchange }');
    const names = { bars: 'price', chains: 'chain', flow: 'flow', offExchange: 'off exchange' };
    const texts = sessions.map((session: Json) => {
      const has = Object.entries(names).flatMap(([kind, name]) => (session[kind] ? [name] : []));
      return `${format.fullDate(session.sessionDate)} · ${has.join(', ')}`;
    });
    expect(texts).toContainEqual(expect.stringMatching(/ · price, chain, flow/));
    await page.locator('#session').focus();
    await soon(() => page.locator('#session option').allInnerTexts()).toEqual(texts);
    await page.selectOption('#session', filledSessions[1]);
    await ready(page);
    expect(await page.locator('.watchlist .note').innerText()).toBe('live');
  });

  test('every chart has its figures as a table: those of the graph', async () => {
    const { page } = await open('/dashboard/SPY?tf=1d');
    await ready(page);
    const { bars, volatility } = await asked(`
      bars(from: "2026-11-01", to: "2026-12-02", timeframe: "1d") { rows { close } }
      volatility { surface { expiries { atmIv dte } } }`);
    for (const panel of ['candles', 'gex-strikes', 'gex-heat', 'flow-strikes', 'flow-expiries', 'smile', 'term']) {
      await look(page, panel);
      expect(await page.locator(`#${panel} [role="img"]`).getAttribute('aria-label')).toMatch(/SPY/);
      await page.locator(`#${panel} button:text-is("Table")`).click();
      expect((await cells(page, panel)).length).toBeGreaterThan(0);
    }
    expect((await cells(page, 'candles')).map((row) => row[4])).toEqual(
      bars.rows.map(({ close }: Json) => format.price(close)).reverse(),
    );
    expect((await cells(page, 'term')).map((row) => [row[1], row[2]])).toEqual(
      volatility.surface.expiries.map(({ dte, atmIv }: Json) => [String(dte), format.fraction(atmIv, 2)]),
    );
  });

  test('a click in the watchlist shows another symbol without loading the page anew; back leads back', async () => {
    const { page } = await open();
    await ready(page);
    await page.evaluate(() => Object.assign(window, { sameDocument: true }));
    await page.click('.watchlist a[href="/dashboard/NVDA"]');
    await page.waitForFunction(() => document.title.startsWith('NVDA'));
    await ready(page);
    expect(new URL(page.url()).pathname).toBe('/dashboard/NVDA');
    expect(await page.locator('h1').innerText()).toBe('NVDA');
    await page.goBack();
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'SPY');
    expect(new URL(page.url()).pathname).toBe('/dashboard/SPY');
    expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true);
  });

  test('the account’s own watchlist comes first, then ours; quotes are there for whichever is chosen', async () => {
    const own = await app.key();
    const put = await app.graphql(
      'mutation { putWatchlist(id: "mine", name: "Mine", symbols: ["XOM", "MSFT"]) { watchlist { id } } }',
      {},
      { credential: own },
    );
    expect(put.errors).toBeUndefined();
    const { page } = await open('/dashboard/SPY', { key: own });
    await ready(page);
    const list = () =>
      page.locator('.watchlist li').evaluateAll((all) => all.map((one) => one.querySelector('b')!.textContent));
    await soon(list).toEqual(['XOM', 'MSFT']);
    const { data } = await app.graphql('{ quotes(symbols: ["MSFT"]) { rows { spot } } }');
    await soon(() => page.locator('.watchlist a[href="/dashboard/MSFT"] .spot').innerText()).toBe(
      format.price(data.quotes.rows[0].spot),
    );
    await page.selectOption('#list', { label: 'Market' });
    await soon(list).toContain('SPY');
  });

  test('another length of candles and a past session are in the address, and come back from it', async () => {
    const { page, complaints } = await open();
    await ready(page);
    await page.keyboard.press('2');
    await page.waitForFunction(() => location.search === '?tf=5m');
    await ready(page);
    await page.selectOption('#session', '2026-11-30');
    await page.waitForFunction(() => location.search.includes('session=2026-11-30'));
    await page.waitForSelector('#gex-strikes[data-state="shown"]');
    const { gex } = await asked('gex { at(time: "2026-11-30") { netGex } }');
    expect(await figure(page, 'Net GEX')).toBe(format.gex(gex.at.netGex));
    expect(await page.locator('.live').innerText()).toBe('Past session');
    // The headline is that session's.
    const { bars } = await asked('bars(from: "2026-11-27", to: "2026-12-01", timeframe: "1d") { rows { close } }');
    expect(await page.locator('#spot').innerText()).toBe(format.price(bars.rows.at(-1).close));
    expect(await page.locator('.summary .quote').innerText()).toContain(
      `Prev close ${format.price(bars.rows.at(-2).close)} · close of Mon, Nov 30`,
    );
    // Every date that can be picked has a session.
    const dates = await page
      .locator('#session option')
      .evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
    expect(dates).toEqual(filledSessions.toReversed());
    expect(await stateOf(page, 'smile')).toBe('empty');
    await page.reload();
    await ready(page);
    expect(await figure(page, 'Net GEX')).toBe(format.gex(gex.at.netGex));
    expect(complaints.console).toEqual([]);
  });

  test('large trades are filtered by kind, right and premium, on the server', async () => {
    const { page } = await open();
    await ready(page);
    const note = () => page.locator('#trades .note').innerText();
    const filters: [string, string, string][] = [
      ['Kind', 'sweep', 'kind: sweep'],
      ['Side', 'buy_inferred', 'kind: sweep, side: buy_inferred'],
      ['Kind', '', 'side: buy_inferred'],
      ['Right', 'call', 'side: buy_inferred, right: call'],
      ['Side', '', 'right: call'],
      ['Right', '', 'kind: null'],
    ];
    for (const [name, value, args] of filters) {
      await page.selectOption(`#trades label:has-text("${name}") select`, value);
      const { events, meta } = (
        await asked(
          `flow { largeTrades(limit: 50, ${args}) { events { update { event { eventId } } } meta { total { count premiumUsd } } } }`,
        )
      ).flow.largeTrades;
      const { count, premiumUsd } = meta.total;
      const shown = events.length < count ? `the newest ${events.length} of ${count}` : String(count);
      await soon(note).toBe(`${shown}, ${format.usd(premiumUsd)}`);
      expect(await cells(page, 'trades')).toHaveLength(events.length);
    }
    const premiums = (
      await asked('flow { largeTrades(limit: 100) { events { update { event { premiumUsd } } } } }')
    ).flow.largeTrades.events
      .map(({ update }: Json) => update.event.premiumUsd)
      .sort((a: number, b: number) => b - a);
    // More pass than the first page holds: they are asked for.
    await page.fill('#trades input', String(premiums[4]));
    await page.waitForFunction(
      (count) => document.querySelectorAll('#trades tbody tr').length === count,
      premiums.filter((premium: number) => premium >= premiums[4]).length,
    );
    await page.fill('#trades input', '900m');
    await page.waitForSelector('#trades :text("No trade passes the filter")');
  });

  test('is worked by keys alone', async () => {
    const { page } = await open();
    await ready(page);
    const focused = () =>
      page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute('href'));
    await page.keyboard.press('w');
    expect(await focused()).toBe('/dashboard/SPY');
    await page.keyboard.press('ArrowDown');
    const next = await focused();
    expect(next).toMatch(/^\/dashboard\/(?!SPY)/);
    expect(await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)).toBe('solid');
    await page.keyboard.press('/');
    expect(await focused()).toBe('symbol-input');
    await page.keyboard.type('nvd');
    await page.waitForSelector('#symbol-found li:has-text("NVDA")');
    // Enter takes the first suggestion.
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.title.startsWith('NVDA'));
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    // Whatever can be clicked can be reached.
    expect(
      await page
        .locator('main button, main a, main select, main input')
        .evaluateAll((all) => all.filter((one) => (one as HTMLElement).tabIndex < 0).length),
    ).toBe(0);
  });

  test('what happens is shown as it happens: price, candle, large trades, flow, gamma', async () => {
    const { page, complaints, asked: questions } = await open('/dashboard/NVDA', { motion: true });
    await ready(page);
    await page.waitForSelector('.live[data-stream="live"]');
    const text = (selector: string) => page.locator(selector).first().innerText();
    await look(page, 'smile');
    await page.click('#candles button:text-is("Table")');
    const session = filledSessions.at(-1)!;
    await trade(app.store, { NVDA: 444.25, SPY: 351.5 }, filledNowMs - 1000);
    await minutes(app.store, 'NVDA', session, 149, [[444.5, 77]]);
    await snapshot(app.store, 'NVDA', session, 5000, 4_000_000);
    const first = leg(filledContract('NVDA'), filledNowMs - 900, { price: 77, sequence: 9001 });
    await storeLargeTrades(app.store, [largeTrade([first], 9001, coverage(session, 719))]);
    const captured = gexCapture('NVDA', filledNowMs - 800, [
      { strike: 600_000, expiry: '2026-12-18', gex: 12_345_678 },
    ]);
    await saveCaptures(app.store, { gex: [captured] });
    await soon(() => text('#spot')).toBe('444.25');
    await soon(() => text('.watchlist a[href="/dashboard/SPY"] .spot')).toBe('351.50');
    await soon(async () => (await cells(page, 'candles'))[0]![4]).toBe('444.50');
    await soon(() => text('#flow-expiries .legend')).toContain('Calls $4.00M');
    await soon(async () => (await cells(page, 'trades'))[0]![2]).toBe(format.usd(first.premiumUsd));
    await soon(() => figure(page, 'Net GEX')).toBe(format.gex(captured.netGex));
    // Volatilities come with a capture.
    await soon(() => questions.filter((question) => question.includes('query Surface')).length).toBe(1);
    expect(complaints).toEqual({ console: [], otherHosts: [] });
  });

  test('of a burst of trades the newest are shown, no more rows than can be read', async () => {
    const { page } = await open('/dashboard/MSFT');
    await ready(page);
    await page.waitForSelector('.live[data-stream="live"]');
    const session = filledSessions.at(-1)!;
    const burst = Array.from({ length: 400 }, (_, i) =>
      largeTrade(
        [leg(filledContract('MSFT'), filledNowMs - 5000 + i, { price: 1 + i, sequence: 20_000 + i })],
        20_000 + i,
        coverage(session, 719),
      ),
    );
    for (let i = 0; i < burst.length; i += 50) await storeLargeTrades(app.store, burst.slice(i, i + 50));
    await soon(async () => (await cells(page, 'trades'))[0]![2]).toBe('$40.0M');
    const rows = await cells(page, 'trades');
    expect(rows.length).toBeLessThanOrEqual(120);
    // Another visitor is shown the newest, and asks for more: as many as a key is given at once.
    const later = (await open('/dashboard/MSFT')).page;
    await ready(later);
    await later.locator('#trades').scrollIntoViewIfNeeded();
    const note = () => later.locator('#trades .note').innerText();
    const { count, premiumUsd } = (
      await asked('flow { largeTrades(limit: 1) { meta { total { count premiumUsd } } } }', 'MSFT')
    ).flow.largeTrades.meta.total;
    expect(count).toBeGreaterThanOrEqual(burst.length);
    await soon(note).toBe(`the newest 50 of ${count}, ${format.usd(premiumUsd)}`);
    for (let shown = 100; shown < count; shown += 50) {
      await later.locator('#trades button:text("More trades")').click();
      await soon(note).toBe(`the newest ${shown} of ${count}, ${format.usd(premiumUsd)}`);
    }
    await later.locator('#trades button:text("More trades")').click();
    await soon(note).toBe(`${count}, ${format.usd(premiumUsd)}`);
    expect(await later.locator('#trades button:text("More trades")').count()).toBe(0);
    expect(await cells(later, 'trades')).toHaveLength(count);
  });

  test('a chart that was zoomed is shown whole again by its button and by a double click; its tooltip has units', async () => {
    const { page } = await open();
    await ready(page);
    const chart = page.locator('#gex-strikes .chart');
    await chart.locator('canvas').waitFor();
    const reset = page.locator('#gex-strikes button:text("Reset")');
    // Panels above may still grow as they load: the chart is looked for each time.
    const middle = async () => {
      const { x, y, width, height } = (await chart.boundingBox())!;
      return [x + width / 2, y + height / 2] as const;
    };
    const zoom = () =>
      soon(async () => {
        await page.mouse.move(...(await middle()));
        await page.keyboard.down('Control');
        await page.mouse.wheel(0, -400);
        await page.keyboard.up('Control');
        await page.waitForTimeout(100);
        return reset.isVisible();
      }).toBe(true);
    await zoom();
    await reset.click();
    await reset.waitFor({ state: 'detached' });
    await zoom();
    await page.mouse.dblclick(...(await middle()));
    await reset.waitFor({ state: 'detached' });
    // Somewhere along the strikes the pointer is at a bar.
    await soon(async () => {
      const { x, y, width, height } = (await chart.boundingBox())!;
      for (let at = 0.1; at < 0.9; at += 0.02) {
        await page.mouse.move(x + width / 2, y + height * at);
        const text = await chart.innerText();
        if (text.includes('Strike')) return text;
      }
      return '';
    }).toMatch(/^Strike [\d.]+[\s\S]*Net GEX, per \$1[\s\S]*\$[\s\S]*Call OI, contracts/);
  });

  test('without a key it asks for one, keeps it for the browser, and then shows', async () => {
    const { page, complaints } = await open('/dashboard/SPY', { key: null });
    await page.fill('#dashboard-key', key);
    await page.keyboard.press('Enter');
    await ready(page);
    expect(await page.evaluate(() => localStorage.getItem('tapegraph-key'))).toBe(key);
    expect(complaints).toEqual({ console: [], otherHosts: [] });
  });

  test('says that a key is not valid, or has expired', async () => {
    const { page } = await open('/dashboard/SPY', { key: 'tg_live_wrong' });
    await page.waitForSelector('.notice :text("This key is not valid")');
    const accountId = await app.account();
    const { key: expiring } = await app.access.keys.create({ accountId, name: null, expiresAt: filledNowMs + 1000 });
    app.clock.nowMs += 2000;
    onTestFinished(() => {
      app.clock.nowMs = filledNowMs;
    });
    await page.fill('#dashboard-key', expiring);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notice :text("This key has expired")');
  });

  test('what a tier may not read is locked, and says what it takes; the rest stands', async () => {
    const { page } = await open('/dashboard/SPY', { key: await app.key({ apiTier: 'free' }) });
    await ready(page);
    expect(await page.locator('#trades .locked').innerText()).toMatch(
      /Needs the pro tier.*served under the free tier/s,
    );
    expect(await page.locator('#flow-strikes .locked').innerText()).toContain('Needs the pro tier');
    await look(page, 'composition');
    expect(await page.locator('#composition .locked').innerText()).toContain('Needs the basic tier');
    expect(await stateOf(page, 'gex-strikes')).toBe('shown');
    expect(await page.locator('.watchlist a[href="/dashboard/NVDA"]').innerText()).toContain('locked');
    const unattested = await open('/dashboard/SPX', { key: await app.key({ classification: null }) });
    await unattested.page.waitForSelector('.notice :text("SPX needs a declaration")');
    expect(await unattested.page.locator('#gex-strikes .locked').innerText()).toContain('Needs a declaration');
  });

  test('says that a symbol is unknown or none at all, and that an index is not traded off exchange', async () => {
    const { page } = await open('/dashboard/QQQQ');
    await page.waitForSelector('.notice :text("QQQQ is unknown")');
    const none = await open('/dashboard/what%20is%20this');
    await none.page.waitForSelector('.notice :text("is not a ticker")');
    const index = await open('/dashboard/NDX');
    await index.page.locator('#composition').scrollIntoViewIfNeeded();
    await index.page.waitForSelector('#composition :text("NDX is an index")');
    expect(await stateOf(index.page, 'candles')).toBe('empty');
  });

  test('an address with a date without a session shows the session before it', async () => {
    const { page } = await open('/dashboard/SPY?session=2026-11-29');
    await page.waitForFunction(() => location.search.includes('session=2026-11-27'));
    await ready(page);
  });

  test.each(['dark', 'light'] as const)('axe finds nothing against it in the %s theme', async (colorScheme) => {
    const { page } = await open('/dashboard/SPY', { colorScheme });
    await ready(page);
    expect(await axeFindings(page, { colors: themeRules[colorScheme] })).toEqual([]);
  });

  test('a symbol whose prices end long ago opens at its last session, with the headline of then', async () => {
    await storeDays(app.store, 'XOM', { '2019-02-14': 200, '2019-02-15': [202, 5000] });
    const { page } = await open('/dashboard/XOM');
    await page.waitForSelector('#spot:text("202.00")');
    expect(await page.locator('.quote').innerText()).toMatch(
      /\+2\.00 \+1\.00%.*Prev close 200\.00.*close of Fri, Feb 15 2019/s,
    );
    // The day before has a close and nothing else to show.
    expect(await page.locator('#session option').allInnerTexts()).toEqual(['Fri, Feb 15 2019']);
    await soon(() => page.locator('.live').innerText()).toBe('No trade since Fri, Feb 15 2019');
    expect(new URL(page.url()).search).toBe('');
    expect(await page.locator('.notice').count()).toBe(0);
  });

  test('a quiet ticker says of each panel why there is nothing', async () => {
    const { page } = await open('/dashboard/AAPL');
    await ready(page);
    for (const panel of ['gex-strikes', 'trades', 'flow-strikes', 'smile', 'term']) {
      await look(page, panel);
      expect(await stateOf(page, panel)).toBe('empty');
      expect((await page.locator(`#${panel} .message`).innerText()).length).toBeGreaterThan(20);
    }
  });

  test('waits when there were too many requests, as long as the server asks', async () => {
    const { page } = await open('/dashboard/SPY', { key: await app.key({ apiTier: 'basic' }) });
    await ready(page);
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('r');
      await page.waitForTimeout(60);
    }
    await page.waitForSelector('.notice :text("Too many requests")');
    expect(await page.locator('.notice').innerText()).toMatch(/Trying again in \d+ s/);
    // Shown data stays, also when another symbol is chosen.
    expect(await stateOf(page, 'candles')).toBe('shown');
    await page.click('.watchlist a[href="/dashboard/AAPL"]');
    await page.waitForSelector('.notice :text("AAPL is shown as soon as the budget of this key allows")');
    expect(await page.locator('h1').innerText()).toBe('SPY');
    expect(await stateOf(page, 'candles')).toBe('shown');
    // A panel that was not there yet says what it waits for.
    await page.locator('#smile').scrollIntoViewIfNeeded();
    await page.waitForSelector('#smile :text("Shown as soon as the budget of this key allows")');
  });

  test('a panel for which the budget had no room comes by itself, without asking for the others again', async () => {
    const { page, asked: questions } = await open('/dashboard/SPY');
    await ready(page);
    const message = 'More than 20 requests a minute.';
    let refused = 0;
    await page.route('**/graphql', async (route) => {
      if (refused++ > 0) return route.continue();
      const errors = [{ message, extensions: { code: 'rate_limited' } }];
      return route.fulfill({ status: 429, headers: { 'retry-after': '2' }, json: { errors } });
    });
    await page.locator('#smile').scrollIntoViewIfNeeded();
    await page.waitForSelector('#smile :text("Shown as soon as the budget of this key allows")');
    expect(await page.locator('.notice').innerText()).toMatch(/Trying again in \d+ s/);
    expect(await stateOf(page, 'candles')).toBe('shown');
    await page.waitForSelector('#smile[data-state="shown"]');
    await page.waitForSelector('.notice', { state: 'detached' });
    expect(questions.filter((question) => question.includes('query Dashboard'))).toHaveLength(1);
  });

  test('a free key can look at ten symbols within a minute, for no more requests than the pages say', async () => {
    const own = await app.key({ apiTier: 'free' });
    const usage = async () => {
      const { headers } = await app.get('/v2/account/usage', { credential: own });
      return Number(headers['x-ratelimit-remaining']);
    };
    const { page } = await open('/dashboard/SPY', { key: own });
    await page.waitForSelector('.live[data-stream="live"]');
    for (const symbol of ['AAPL', 'SPY', 'AAPL', 'SPY', 'AAPL', 'SPY', 'AAPL', 'SPY', 'AAPL']) {
      await page.fill('#symbol-input', symbol);
      await page.press('#symbol-input', 'Enter');
      await page.waitForFunction((shown) => document.querySelector('h1')?.textContent === shown, symbol);
      await ready(page);
      await page.waitForSelector('.live[data-stream="live"]');
      await page.waitForSelector('#gex-heat:not([data-state="loading"])');
    }
    expect(await page.locator('.notice').count()).toBe(0);
    expect(60 - 1 - (await usage())).toBeLessThanOrEqual(viewRequests.first + 9 * viewRequests.nextFree);
  });

  test('a panel further down is asked for when it comes into sight, and is live from then on', async () => {
    const { page, asked: questions } = await open('/dashboard/MSFT', { width: 390 });
    await ready(page);
    await page.waitForSelector('.live[data-stream="live"]');
    for (const panel of ['trades', 'gex-heat', 'smile', 'composition'])
      expect(await stateOf(page, panel)).toBe('loading');
    const heard = gexCapture('MSFT', filledNowMs - 700, [{ strike: 600_000, expiry: '2026-12-18', gex: 2_345_678 }]);
    await saveCaptures(app.store, { gex: [heard] });
    await soon(() => figure(page, 'Net GEX')).toBe(format.gex(heard.netGex));
    expect(questions).toHaveLength(1);
    await look(page, 'gex-heat');
    await page.click('#gex-heat button:text-is("Table")');
    const captures = async () => (await cells(page, 'gex-heat')).length;
    const { history } = (
      await app.graphql(
        '{ symbol(symbol: "MSFT") { gex { history(date: "2026-12-01") { captures { capturedAt } } } } }',
      )
    ).data.symbol.gex;
    expect(await captures()).toBe(history.captures.length);
    const later = gexCapture('MSFT', filledNowMs - 600, [{ strike: 600_000, expiry: '2026-12-18', gex: 3_345_678 }]);
    await saveCaptures(app.store, { gex: [later] });
    await soon(captures).toBe(history.captures.length + 1);
    // A panel that is scrolled past quickly requests nothing; nor does one seen again.
    const before = questions.length;
    await look(page, 'gex-heat');
    expect(questions).toHaveLength(before);
  });

  test('what only says that it is loading is drawn in sight alone, and moves nowhere else', async () => {
    const { page } = await open('/dashboard/SPY', { width: 390, motion: true });
    await ready(page);
    const bar = page.locator('#composition .skeleton i').first();
    const isDrawn = () => bar.evaluate((one) => one.checkVisibility({ contentVisibilityAuto: true }));
    expect(await bar.evaluate((one) => getComputedStyle(one).animationName)).toBe('breathe');
    expect(await isDrawn()).toBe(false);
    // Kept from loading, so that it can be looked at.
    await page.route('**/graphql', (route) => void route);
    await page.locator('#composition').scrollIntoViewIfNeeded();
    await soon(isDrawn).toBe(true);
  });

  test('seven tabs load and are live, each over a connection of its own that ends with it', async () => {
    const streams = () => app.live.counts().streams;
    await soon(streams).toBe(0);
    const tabs = [(await open()).page];
    await tabs[0]!.waitForSelector('.live[data-stream="live"]');
    const ofOneTab = streams();
    expect(ofOneTab).toBeGreaterThan(0);
    for (let i = 1; i < 7; i++) tabs.push((await open()).page);
    for (const page of tabs) {
      await ready(page);
      await page.waitForSelector('.live[data-stream="live"]');
    }
    await trade(app.store, { SPY: 354.25 }, filledNowMs - 400);
    for (const page of tabs) await soon(() => page.locator('#spot').innerText()).toBe('354.25');
    expect(streams()).toBe(7 * ofOneTab);
    for (const page of tabs) await page.close();
    await soon(streams).toBe(0);
  });

  test('a server that goes away is said so, and found again when it is back, with what was missed', async () => {
    const proxy = await flakyProxy('127.0.0.1', Number(new URL(app.url).port));
    onTestFinished(() => proxy.takeAway().catch(() => {}));
    const { page } = await open('/dashboard/SPY', { origin: `http://127.0.0.1:${proxy.port}` });
    await ready(page);
    await page.waitForSelector('.live[data-stream="live"]');
    await proxy.takeAway();
    await page.waitForSelector('.live[data-stream="reconnecting"]');
    await page.keyboard.press('r');
    await page.waitForSelector('.notice :text("The server does not answer")');
    // Shown data stays.
    expect(await stateOf(page, 'candles')).toBe('shown');
    await trade(app.store, { SPY: 353.75 }, filledNowMs - 500);
    await proxy.bringBack();
    await page.waitForSelector('.live[data-stream="live"]', { timeout: 15_000 });
    await soon(() => page.locator('#spot').innerText()).toBe('353.75');
    await page.waitForSelector('.notice', { state: 'detached' });
  });

  test('fits a telephone, a tablet and a wide window, without loading anew', async () => {
    const { page } = await open('/dashboard/SPY', { width: 390 });
    await ready(page);
    for (const [width, least, most] of [
      [390, 1, 1],
      [768, 1, 1],
      [1920, 3, 12],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      const outside = () =>
        page
          .locator('.panels .chart canvas')
          .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length);
      await soon(outside).toBe(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      const columns = await page
        .locator('.panels > section')
        .evaluateAll((all) => new Set(all.map((one) => Math.round(one.getBoundingClientRect().left))).size);
      expect(columns).toBeGreaterThanOrEqual(least);
      expect(columns).toBeLessThanOrEqual(most);
    }
  });

  test('follows the system’s theme and the reader’s, charts too', async () => {
    const { page } = await open('/dashboard/SPY', { colorScheme: 'light' });
    await ready(page);
    const ground = () => page.evaluate(() => getComputedStyle(document.querySelector('#candles')!).backgroundColor);
    const drawn = () =>
      page
        .locator('#candles canvas')
        .first()
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const light = { ground: await ground(), drawn: await drawn() };
    await page.emulateMedia({ colorScheme: 'dark' });
    await soon(ground).not.toBe(light.ground);
    await soon(drawn).not.toBe(light.drawn);
    await page.click('#theme-switch');
    await soon(ground).toBe(light.ground);
  });
});
