import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { vendorFile } from '../../support/tapes/tape-lines.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const nowMs = Date.parse('2026-11-20T17:00Z');
const start = exchangeInstant('2026-11-19', 600);
const note = 'An index has no volume: that of its bars is 0.';
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  const lines = ['I:SPX', 'I:XSP'].map((ticker) => `${ticker},6000,6001,6002,5999,${start}000000`);
  const path = vendorFile(folder(), 'index.csv', ['ticker,open,close,high,low,window_start', ...lines]);
  const { files } = await ingestFiles(app.store, 'stock-minute-bars', [path], { now: () => nowMs });
  expect(files[0]).toMatchObject({ status: 'stored', rows: 2 });
});
afterAll(() => app.close());

const bars = async (query: string) => (await app.get(`/v2/stocks/SPX/bars?${query}`)).body;

test('bars of an index have volume 0, and the note says that it has none', async () => {
  for (const timeframe of ['1m', '5m', '1h']) {
    const { data, meta } = await bars(`timeframe=${timeframe}&from=2026-11-19&to=2026-11-20`);
    expect([timeframe, data.map(({ volume }: Json) => volume)]).toEqual([timeframe, [0]]);
    expect(meta.note).toBe(note);
  }
  const { data } = await app.graphql(
    '{ symbol(symbol: "SPX") { bars(from: "2026-11-19", to: "2026-11-20") { columns { volume } meta { note } } } }',
  );
  expect(data.symbol.bars).toEqual({ columns: { volume: [0] }, meta: { note } });
});

test('the note stands with bars alone, and its quote has no volume', async () => {
  expect((await bars('from=2026-11-18&to=2026-11-19')).meta).not.toHaveProperty('note');
  const { body } = await app.get('/v2/quotes?symbols=SPX');
  expect(body.data[0].volume).toBeNull();
});
