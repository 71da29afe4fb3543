import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';
import { folder } from './folder.ts';

const session = '2026-11-18';
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ routes: folder });
  const row = { strike: 600_000, expiry: '2026-12-18', gex: 5 };
  await saveCaptures(app.store, { gex: [gexCapture('SPY', newYork(session, '09:30'), [row])] });
});
afterAll(() => app.close());

async function connected(credential?: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${credential ?? (await app.key())}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', app.url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

describe('AI clients', () => {
  test('read an own route by its tool, and see what the route answers', async () => {
    const client = await connected();
    for (const [name, sent, path] of [
      ['gamma_day', { symbol: 'SPY', date: session }, `/desk/SPY/gamma?date=${session}`],
      ['gamma_strikes', { symbol: 'SPY', date: session }, `/desk/SPY/strikes?date=${session}`],
      ['prices', { symbols: 'SPY,AAPL' }, '/own/prices?symbols=SPY,AAPL'],
      ['large', { ticker: 'SPY', min: 250_000 }, '/own/large?ticker=SPY&min=250000'],
      ['listed', { class: 'index', names: true }, '/own/listed?class=index&names=true'],
    ] as const) {
      const result: Json = await client.callTool({ name, arguments: sent });
      expect(result.isError, result.content[0].text).toBeFalsy();
      const { status, body } = await app.get(path);
      expect(status, name).toBe(200);
      expect(result.structuredContent.data, name).toEqual(body.data);
      expect(body.data).toBeTruthy();
    }
  });

  test('change by an own route, and are told in the contract’s words what is wrong', async () => {
    const client = await connected();
    const { tools } = await client.listTools();
    const named = (name: string) => tools.find((tool) => tool.name === name);
    expect(named('gamma_day')!.description).toContain('for the morning call');
    expect(named('keep_list')!.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(named('quote_stream') ?? null).toBeNull();
    const list = { id: 'mine', body: { name: 'Mine', symbols: ['SPY'] } };
    const kept: Json = await client.callTool({ name: 'keep_list', arguments: list });
    expect(kept.structuredContent.data, kept.content[0].text).toEqual({ id: 'mine', symbols: ['SPY'] });
    const { structuredContent }: Json = await client.callTool({ name: 'lists', arguments: {} });
    expect(structuredContent.data).toEqual([{ id: 'mine', symbols: ['SPY'] }]);
    const wrong: Json = await client.callTool({ name: 'gamma_day', arguments: { symbol: 'SPY', date: 'today' } });
    expect(JSON.parse(wrong.content[0].text).error).toMatchObject({
      code: 'invalid_params',
      details: { parameter: 'date' },
    });
    const free = await connected(await app.key({ apiTier: 'free' }));
    const refused: Json = await free.callTool({ name: 'large', arguments: { ticker: 'SPY' } });
    expect(JSON.parse(refused.content[0].text).error.code).toBe('not_entitled_tier');
  });
});

describe('descriptions', () => {
  test('/llms.txt lists own routes, and their addresses are on the reference page', async () => {
    const text = (await app.get('/llms.txt', { credential: null })).bytes.toString();
    const page = (await app.get('/docs', { credential: null, headers: { accept: 'text/html' } })).bytes.toString();
    const own = text.slice(text.indexOf('## own'));
    for (const [line, id] of [
      ['[GET /desk/:symbol/gamma](/docs#gamma-day)', 'gamma-day'],
      ['[GET /own/prices](/docs#prices): Prices of the desk', 'prices'],
      ['[PUT /lists/:id](/docs#keep-list)', 'keep-list'],
    ] as const) {
      expect(own).toContain(line);
      expect(page).toContain(`<section class="route" id="${id}"`);
    }
    const section = page.slice(page.indexOf('<section class="route" id="gamma-day"'));
    expect(section.slice(0, section.indexOf('</section>'))).toContain('for the morning call');
  });

  test.each(['gamma-day', 'gamma-strikes', 'prices', 'fragments', 'listed', 'lists', 'two-symbols'])(
    'the reference page shows a request of %s that is answered, and every field of the answer',
    async (name) => {
      const page = (await app.get('/docs', { credential: null, headers: { accept: 'text/html' } })).bytes.toString();
      const start = page.indexOf(`<section class="route" id="${name}"`);
      const section = page.slice(start, page.indexOf('</section>', start));
      const [, address] = /curl -H .*?&#39;<span data-origin>.*?<\/span>(\/.*?)&#39;/s.exec(section)!;
      const { status, body } = await app.get(address!.replaceAll('&amp;', '&'));
      expect(status, `${address} ${JSON.stringify(body)}`).toBe(200);
      const shown = (path: string, value: Json): void => {
        const [at, object] = Array.isArray(value) ? [`${path}[]`, value[0]] : [path, value];
        for (const [key, below] of Object.entries(Object(object))) {
          expect(section).toContain(`<code>${at}.${key}</code>`);
          if (typeof below === 'object') shown(`${at}.${key}`, below);
        }
      };
      shown('data', body.data);
    },
  );

  test('OpenBB gets the tables of own routes, but no stream', async () => {
    const { body: widgets } = await app.get('/widgets.json', { credential: null });
    expect(widgets.prices).toMatchObject({ name: 'Prices of the desk', endpoint: 'openbb/prices', category: 'Own' });
    const columns = widgets.prices.data.table.columnsDefs.map(({ field }: Json) => field);
    expect(columns).toEqual(['symbol', 'spot']);
    const { status, body } = await app.get('/openbb/prices?symbols=SPY,AAPL');
    expect([status, body]).toEqual([
      200,
      [
        { symbol: 'SPY', spot: null },
        { symbol: 'AAPL', spot: null },
      ],
    ]);
    for (const { endpoint } of Object.values<Json>(widgets)) expect(endpoint).not.toContain('quote-stream');
  });

  test('are those of the routes that are served, after they are replaced', async () => {
    const changing = await testApp({ store: app.store, routes: folder });
    changing.replaceRoutes({ 'desk.graphql': '{ quotes(symbols: ["SPY"]) { rows { symbol } meta { count } } }' });
    const text = (await changing.get('/llms.txt')).bytes.toString();
    expect(text).toContain('/docs#desk');
    expect(text).not.toContain('/docs#gamma-day');
    expect(Object.keys((await changing.get('/widgets.json')).body)).not.toContain('prices');
    expect((await changing.get('/openbb/prices?symbols=SPY')).status).toBe(404);
    changing.live.close();
    await changing.access.close();
  });
});
