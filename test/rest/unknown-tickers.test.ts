import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { newYork } from '../support/option-market.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs: newYork('2026-11-20', '12:00') });
});
afterAll(() => app.close());

const paths = [
  ...['chain/NOPE', 'gex/NOPE/grid', 'gex/NOPE/exposures', 'gex/NOPE/figures', 'levels/NOPE'],
  ...['options/NOPE/vol/term', 'options/NOPE/vol/surface', 'options/NOPE/vol/figures'],
];

test.each(paths)('%s says that the ticker is unknown, and of a known one without a chain does not', async (path) => {
  const unknown = await app.get(`/v2/${path}`);
  expect([unknown.status, unknown.body.meta.note]).toEqual([200, 'NOPE is not a known ticker.']);
  const known = await app.get(`/v2/${path.replace('NOPE', 'AAPL')}`);
  expect(known.status).toBe(200);
  expect(known.body.meta.note ?? '').not.toContain('not a known ticker');
});

test.each([
  'gex/SPY/history?date=1899-12-29',
  'gex/SPY/reference?date=1899-12-29',
  'gex/SPY/grid?expiries=1899-12-29',
  'flow/eod?session=1899-12-29',
  'options/O:SPY261218C00600000/history?from=1899-12-29',
])('a date before 1900 is 400: %s', async (path) => {
  const { status, body } = await app.get(`/v2/${path}`);
  expect([status, body.error.message]).toEqual([400, expect.stringContaining('expected 1900-01-01 or later')]);
});

test('change echoes the instant of knowledge', async () => {
  const { body } = await app.get(`/v2/gex/SPY/change?from=2026-11-19&to=2026-11-20&known=${app.clock.nowMs - 60_000}`);
  expect(body.meta.known_at).toBe(app.clock.nowMs - 60_000);
});

test('a cursor is bound to the instants of its question', async () => {
  const at = app.clock.nowMs - 3_600_000;
  const page = async (asOf: string, after = '') =>
    await app.graphql(`{ asOf(${asOf}) { symbols(first: 2${after}) { pageInfo { endCursor } nodes { symbol } } } }`);
  const first = await page(`at: "${at}"`);
  const cursor = first.data.asOf.symbols.pageInfo.endCursor;
  const next = `, after: "${cursor}"`;
  expect((await page(`at: "${at}"`, next)).errors).toBeUndefined();
  for (const other of [`at: "${at - 60_000}"`, `at: "${at}", known: "${at}"`])
    expect((await page(other, next)).errors![0].extensions.code).toBe('invalid_params');
});
