import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { chromiumPath, startBrowser } from '../support/browser.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { bundledPackage } from './bundle.ts';

let app: TestApp;
let browser: Browser;
// Another server's page, which may ask the gateway.
const texts: Record<string, { type: string; text: string }> = {};
const pages = createServer(({ url }, response) => {
  const { type, text } = texts[url!] ?? { type: 'text/plain', text: '' };
  response.setHeader('Content-Type', type).end(text);
});

const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const program = (url: string, key: string) => `
import { ApiError, Client } from '/client.js';

const client = new Client({ url: ${JSON.stringify(url)}, key: ${JSON.stringify(key)} });
const first = async (iterable) => {
  for await (const each of iterable) return each;
};
const quotes = await client.quotes({ symbols: 'SPY' });
const days = await client.stockBars({ symbol: 'SPY', from: '2026-11-01', to: '2026-12-01', timeframe: '1d', limit: 2 });
globalThis.found = {
  rate: quotes.rate !== null,
  days: (await days.all()).data.length,
  event: (await first(client.stream('gex:SPY:2'))).kind,
  result: (await first(client.subscribe('subscription { quotes(symbols: ["SPY"]) { symbol } }'))).data,
  code: await client.graph('{ nothing }').catch((error) => error instanceof ApiError && error.code),
};
`;

describe.skipIf(chromiumPath === null)('the TypeScript package in a browser', () => {
  beforeAll(async () => {
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    [app, browser] = await Promise.all([
      testApp({ nowMs: filledNowMs, env: { CORS_ORIGINS: originOf(pages) } }),
      startBrowser(),
    ]);
    await fillMarket(app.store);
  });
  afterAll(async () => {
    pages.close();
    await Promise.all([browser?.close(), app?.close()]);
  });

  test('asks, streams and subscribes from the page of another server', async () => {
    const [{ code }, key] = await Promise.all([bundledPackage(), app.key()]);
    texts['/client.js'] = { type: 'text/javascript', text: code };
    const script = `<script type="module">${program(app.url, key)}</script>`;
    texts['/'] = { type: 'text/html', text: `<!doctype html>${script}` };
    const opened = await browser.newPage();
    const errors: string[] = [];
    opened.on('pageerror', (error) => errors.push(String(error)));
    await opened.goto(originOf(pages));
    await opened.waitForFunction(() => 'found' in globalThis, null, { timeout: 20_000 }).catch(() => {});
    expect(errors).toEqual([]);
    expect(await opened.evaluate(() => (globalThis as { found?: unknown }).found)).toEqual({
      rate: true,
      days: 3,
      event: 'gex',
      result: { quotes: { symbol: 'SPY' } },
      code: 'invalid_params',
    });
    await opened.close();
  });
});
