// A capture that lists a part of the chain is not served, by any endpoint, but for `at` exactly its time.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainRow } from '../../src/core/domain/chain/chain.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { storeChain } from '../../src/intake/ingest/chains/chain.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { tapegraph } from '../cli/command-line.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { subscribe } from '../support/event-reader.ts';
import { chainCapture, chainRow } from '../support/option-market.ts';
import { blackPrice } from '../support/tapes/delayed-page.ts';

const [today, december, january] = ['2026-11-16', '2026-12-18', '2027-01-15'];
const strikes = Array.from({ length: 21 }, (_, i) => 5900 + 10 * i);
const at = (minute: number) => exchangeInstant(today, minute);
const yearMs = 365 * 24 * 3600_000;

function rowsAt(tsMs: number, expiries: readonly string[]): ChainRow[] {
  return expiries.flatMap((expiry) =>
    strikes.flatMap((strike) =>
      (['call', 'put'] as const).map((right) => {
        const worth = blackPrice(right, 6000, strike, 0.2, (exchangeInstant(expiry, 16 * 60) - tsMs) / yearMs);
        const quote = { bid: worth - 5e-5, ask: worth + 5e-5, openInterest: right === 'call' ? 100 : 60 };
        return chainRow({ root: 'SPXW', expiry, right, strike: strike * 1000, ...quote });
      }),
    ),
  );
}

let app: TestApp;
const write = (minute: number, expiries: readonly string[]) =>
  inTransaction(app.store, (tx) => {
    const chain = chainCapture('SPX', at(minute), rowsAt(at(minute), expiries), { spot: 6000 });
    return storeChain(tx, chain, { gammaSource: 'solve', rate: 0 });
  });
beforeAll(async () => {
  app = await testApp({ nowMs: at(620) });
  await write(600, [december, january]);
  await write(610, [december]);
});
afterAll(() => app.close());

async function rest(path: string): Promise<Json> {
  const { status, body } = await app.get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

test.each([
  ['chain', '/v2/chain/SPX', ({ data }: Json) => data.captured_at],
  ['grid', '/v2/gex/SPX/grid', ({ data }: Json) => data.captured_at],
  ['history', `/v2/gex/SPX/history?date=${today}`, ({ data }: Json) => data.captures.at(-1).captured_at],
  ['vol/term', '/v2/options/SPX/vol/term', ({ data }: Json) => data.as_of_ms],
  ['vol/surface', '/v2/options/SPX/vol/surface', ({ data }: Json) => data.as_of_ms],
  ['expirations', '/v2/chain/SPX/expirations', ({ meta }: Json) => meta.captured_at ?? null],
])('%s is of the whole capture before', async (_, path, time) => {
  expect(time(await rest(path))).toBe(at(600));
});

test('at exactly its time is served as partial, and a millisecond later the whole one', async () => {
  const chain = (minute: number, ms = 0) => rest(`/v2/chain/SPX?at=${at(minute) + ms}`);
  expect((await chain(610, 1)).data).toMatchObject({ captured_at: at(600), partial: false });
  expect((await chain(610)).data).toMatchObject({ captured_at: at(610), partial: true });
  expect((await rest(`/v2/gex/SPX/grid?at=${at(610)}`)).data.captured_at).toBe(at(610));
  expect((await rest(`/v2/gex/SPX/grid?at=${at(610) + 1}`)).data.captured_at).toBe(at(600));
  const listed = (ms: number) => rest(`/v2/chain/SPX/expirations?at=${ms}`);
  expect(await listed(at(610))).toMatchObject({ data: [december], meta: { captured_at: at(610) } });
  expect(await listed(at(610) + 1)).toMatchObject({ data: [december, january], meta: { captured_at: at(600) } });
});

test('a note tells that there was none to compare the first one with, and of no other', async () => {
  const note = 'There was no earlier chain of SPX to compare that of 2026-11-16 with: it may lack contracts.';
  for (const path of ['/v2/chain/SPX', '/v2/gex/SPX/grid', '/v2/levels/SPX'])
    expect((await rest(path)).meta.note, path).toBe(note);
  expect((await rest(`/v2/chain/SPX?at=${at(610)}`)).meta.note ?? null).toBeNull();
});

test('exports leave it out', async () => {
  for (const dataset of ['chain', 'gex']) {
    const args = ['export', dataset, '--symbol', 'SPX', '--format', 'ndjson'];
    const { code, stdout } = await tapegraph(args, { DATABASE_URL: app.store.databaseUrl });
    expect(code).toBe(0);
    const times = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).captured_at);
    expect(new Set(times)).toEqual(new Set([at(600)]));
  }
});

test.each(['gexCaptured', 'chainCaptured'])('%s passes it over', async (name) => {
  const query = `subscription { it: ${name}(symbol: "SPX") { capturedAt } }`;
  const reader = await subscribe(app.url, await app.key(), query, {});
  const next = async () => (await reader.next())!.data.data.it.capturedAt;
  const minute = name === 'gexCaptured' ? 612 : 615;
  expect(await next()).toBeLessThan(at(minute));
  await write(minute, [december]);
  await write(minute + 1, [december, january]);
  expect(await next()).toBe(at(minute + 1));
  reader.leave();
});
