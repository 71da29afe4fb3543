import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { knownRoutes } from '../contract/known-routes.ts';
import type { Json, TestApp } from '../support/app.ts';
import { filledApp } from '../support/filled-market.ts';

const workspace = 'https://pro.openbb.co';

let app: TestApp;
let widgets: Json;
beforeAll(async () => {
  app = await filledApp({ env: { CORS_ORIGINS: workspace } });
  widgets = (await app.get('/widgets.json', { credential: null })).body;
}, 120_000);
afterAll(() => app.close());

// The shapes of docs.openbb.co/workspace/developers/json-specs, as far as tables use them. Unknown keys are errors.
const param = z.strictObject({
  paramName: z.string().regex(/^\w+$/),
  label: z.string().min(1),
  description: z.string().min(1),
  type: z.enum(['date', 'text', 'ticker', 'number', 'boolean', 'endpoint', 'form']),
  value: z.union([z.string(), z.number(), z.boolean(), z.null()]),
  optional: z.boolean(),
  options: z.array(z.strictObject({ label: z.string(), value: z.string() })).optional(),
});
const widget = z.strictObject({
  name: z.string().min(1),
  description: z.string().min(1),
  endpoint: z.string().regex(/^[^/]/),
  category: z.string().min(1),
  subCategory: z.string(),
  source: z.array(z.string()),
  type: z.literal('table'),
  gridData: z.strictObject({ w: z.int().min(10).max(40), h: z.int().min(4).max(100) }),
  params: z.array(param),
  data: z.strictObject({
    table: z.strictObject({
      enableCharts: z.boolean(),
      showAll: z.boolean(),
      columnsDefs: z.array(
        z.strictObject({
          field: z.string().regex(/^\w+$/),
          headerName: z.string().min(1),
          cellDataType: z.enum(['text', 'number', 'boolean', 'date', 'dateString', 'object']),
        }),
      ),
    }),
  }),
});
const apps = z.array(
  z.strictObject({
    name: z.string(),
    description: z.string(),
    img: z.string(),
    img_dark: z.string(),
    img_light: z.string(),
    allowCustomization: z.boolean(),
    tabs: z.record(
      z.string(),
      z.strictObject({
        id: z.string(),
        name: z.string(),
        layout: z.array(
          z.strictObject({
            i: z.string(),
            x: z.int(),
            y: z.int(),
            w: z.int(),
            h: z.int(),
            groups: z.array(z.string()),
          }),
        ),
      }),
    ),
    groups: z.array(
      z.strictObject({
        name: z.string(),
        type: z.enum(['param', 'endpointParam']),
        paramName: z.string(),
        defaultValue: z.string(),
        widgetIds: z.array(z.string()),
      }),
    ),
    prompts: z.array(z.string()),
  }),
);

test('/widgets.json has the published shape, and a widget for every route with rows', () => {
  expect(z.record(z.string(), widget).safeParse(widgets).error).toBeUndefined();
  expect(Object.keys(widgets).length).toBeGreaterThan(25);
  for (const name of ['quotes', 'stock_bars', 'gex_grid', 'chain', 'large_trades', 'off_exchange_activity'])
    expect(widgets).toHaveProperty(name);
  for (const each of Object.values<Json>(widgets)) {
    const fields = each.data.table.columnsDefs.map(({ field }: Json) => field);
    expect(new Set(fields).size, each.endpoint).toBe(fields.length);
  }
});

test('/apps.json has the published shape: each widget in one tab, none over another, one symbol for all', async () => {
  const { body } = await app.get('/apps.json', { credential: null });
  expect(apps.safeParse(body).error).toBeUndefined();
  const [{ tabs, groups }] = body;
  const layouts: Json[][] = Object.values<Json>(tabs).map(({ layout }) => layout);
  expect(
    layouts
      .flat()
      .map(({ i }) => i)
      .sort(),
  ).toEqual(Object.keys(widgets).sort());
  for (const layout of layouts) {
    for (const [index, one] of layout.entries()) {
      expect(one.x + one.w).toBeLessThanOrEqual(40);
      for (const other of layout.slice(index + 1)) {
        const isApart =
          one.x + one.w <= other.x ||
          other.x + other.w <= one.x ||
          one.y + one.h <= other.y ||
          other.y + other.h <= one.y;
        expect(isApart, `${one.i} and ${other.i}`).toBe(true);
      }
    }
  }
  for (const id of groups[0].widgetIds)
    expect(widgets[id].params.map(({ paramName }: Json) => paramName)).toContain('symbol');
});

describe('a widget', () => {
  const ask = (id: string, params: Record<string, string>, credential: string) =>
    app.send('GET', `/${widgets[id].endpoint}?${new URLSearchParams(params)}`, {
      credential: null,
      headers: { 'x-api-key': credential, origin: workspace },
    });

  test.each([
    ['quotes', { symbols: 'SPY,AAPL' }],
    ['stock_bars', { symbol: 'SPY', from: '2026-11-25', to: '2026-12-01', limit: '20' }],
    ['gex_grid', { symbol: 'SPY', top: '5' }],
    ['chain', { symbol: 'SPY' }],
    ['large_trades', { symbol: 'SPY' }],
    ['sectors', {}],
  ])('%s answers rows with its columns, and nothing below them', async (id, params) => {
    const answer = await ask(id, { ...params, theme: 'dark' }, await app.key());
    expect(answer.status, String(answer.bytes)).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(workspace);
    expect(answer.body.length).toBeGreaterThan(0);
    const fields = widgets[id].data.table.columnsDefs.map(({ field }: Json) => field);
    for (const row of answer.body) {
      expect(Object.keys(row)).toEqual(fields);
      for (const value of Object.values(row)) expect(typeof value === 'object' && value !== null).toBe(false);
    }
  });

  test('answers with the values that it starts with', async () => {
    const credential = await app.key();
    for (const [id, { params }] of Object.entries<Json>(widgets)) {
      const values = params
        .filter(({ value }: Json) => value !== null)
        .map(({ paramName, value }: Json) => [paramName, String(value).replace('$currentDate', '2026-11-30')]);
      const { status, bytes } = await ask(id, Object.fromEntries(values), credential);
      // A record of the caller's own, which is entered by its id.
      const isOwn = params.some(({ paramName }: Json) => paramName === 'id');
      expect(status, `${id}: ${bytes}`).toBe(isOwn ? 404 : 200);
    }
  });

  test('begins with the last session, also on a day without one', async () => {
    const credential = await app.key();
    const { value } = widgets.gex_history.params.find(({ paramName }: Json) => paramName === 'date');
    expect(value).toBe('$currentDate');
    const dates = ['2026-12-01', '2026-12-05'].map((date) => ask('gex_history', { symbol: 'SPY', date }, credential));
    const [onSession, onSaturday] = (await Promise.all(dates)).map(({ body }) => body);
    expect(onSession.length).toBeGreaterThan(0);
    expect(onSaturday).toEqual(onSession);
  });

  test('answers the rows that its route has as CSV', async () => {
    const credential = await app.key();
    const csv = await app.get('/v2/gex/SPY/grid?top=5', { credential, headers: { accept: 'text/csv' } });
    const [header, ...lines] = csv.bytes.toString().trim().split('\r\n');
    const { body } = await ask('gex_grid', { symbol: 'SPY', top: '5' }, credential);
    expect(Object.keys(body[0])).toEqual(header!.split(',').map((name) => name.replaceAll('.', '_')));
    expect(body).toHaveLength(lines.length);
  });

  test('has the entitlement and the price of its route', async () => {
    const key = await app.key({ apiTier: 'free' });
    const before = await app.get('/v2/symbols', { credential: key });
    const refused = await ask('large_trades', {}, key);
    expect(refused.status).toBe(403);
    expect(refused.body.error.code).toBe('not_entitled_tier');
    const answer = await ask('chain', { symbol: 'SPY' }, key);
    expect(answer.headers['x-ratelimit-consumed']).toBe('1');
    const left = ({ headers }: Json) => Number(headers['x-ratelimit-remaining']);
    expect(left(answer)).toBe(left(before) - 2);
    expect((await ask('chain', {}, key)).status).toBe(400);
    expect((await app.get(`/${widgets.chain.endpoint}?symbol=SPY`, { credential: null })).status).toBe(401);
    expect((await app.get('/openbb/none')).status).toBe(404);
    expect((await app.send('POST', '/openbb/chain')).status).toBe(405);
  });

  test('may be asked from a page of Workspace with the header of a key', async () => {
    const { status, headers } = await app.send('OPTIONS', '/openbb/chain', {
      credential: null,
      headers: {
        origin: workspace,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-api-key',
      },
    });
    expect(status).toBe(204);
    expect(headers['access-control-allow-headers']).toContain('X-API-Key');
  });
});

test('every route of a widget is known', () => {
  const names = knownRoutes().map(({ route }) => route.name);
  for (const { endpoint } of Object.values<Json>(widgets)) expect(names).toContain(endpoint.slice('openbb/'.length));
});
