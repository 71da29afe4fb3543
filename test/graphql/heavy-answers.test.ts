import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { newYork } from '../support/option-market.ts';
import { talk } from '../support/web-socket.ts';

const count = 12_000;
const maxBytes = 3_000_000;
const bars = Array.from({ length: count }, (_, i) => ({
  tsMs: newYork('2026-10-01', '00:00') + i * 60_000,
  open: 600,
  high: 601.5,
  low: 599,
  close: 600 + i / 7,
  volume: 1000 + i,
  vwap: i % 3 ? 600 + (i % 100) / 7 : null,
  tradeCount: i,
}));
let app: TestApp;
let token: string;

beforeAll(async () => {
  app = await testApp({ nowMs: Date.parse('2026-11-20T17:00Z'), env: { ANSWER_MAX_BYTES: String(maxBytes) } });
  token = await app.session();
  await inTransaction(app.store, (tx) => writeBars(tx, '1m', [{ symbol: 'SPY', bars: toBarColumns(bars) }]));
}, 60_000);
afterAll(() => app.close());

const page = (fields: string, alias = 'bars') =>
  `${alias}: bars(from: "2026-10-01", to: "2026-11-10", limit: 50000) { ${fields} }`;
const rows = 'rows { tsMs open close volume vwap tradeCount }';
const ask = (below: string, credential = token) =>
  app.graphql(`{ symbol(symbol: "SPY") { ${below} } }`, {}, { credential });

describe('a large answer', () => {
  test('leaves fewer listeners at its response than Node takes for a leak', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const { answer } = await ask(page(rows));
    expect(answer.status).toBe(200);
    await delay(20);
    expect(warnings).toEqual([]);
  });

  test('says what a small one says, and what it cost', async () => {
    const { data, errors, extensions, answer } = await ask(`symbol ${page(`${rows} meta { rowCount }`)}`);
    expect([answer.status, errors]).toEqual([200, undefined]);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(extensions.cost.requests).toBeGreaterThan(0);
    expect(data.symbol.symbol).toBe('SPY');
    expect(data.symbol.bars.meta.rowCount).toBe(count);
    expect(data.symbol.bars.rows).toEqual(
      bars.map(({ tsMs, open, close, volume, vwap, tradeCount }) => ({ tsMs, open, close, volume, vwap, tradeCount })),
    );
  });

  test('has its errors at their places, with the codes of the contract', async () => {
    const query = `{ good: symbol(symbol: "SPY") { ${page(rows)} } bad: symbol(symbol: "SPX") { ${page(rows)} } }`;
    const credential = await app.session({ siteTier: 'free' });
    const { data, errors } = await app.graphql(query, {}, { credential });
    expect(data.good.bars.rows).toHaveLength(count);
    expect(errors).toHaveLength(1);
    expect(errors![0]).toMatchObject({ path: ['bad', 'bars'], extensions: { code: 'not_entitled_tier' } });
  });

  test('costs what its rows are, as a small one does, not what there might have been', async () => {
    const few = await ask(`${page(rows)} quote { spot }`.replace('2026-11-10', '2026-10-01T02:00'));
    const all = await ask(page(rows, 'all'));
    const cost = ({ extensions }: Awaited<ReturnType<typeof ask>>) => extensions.cost;
    expect(cost(few).actual).toBeLessThan(10);
    expect(cost(all).actual).toBeGreaterThan(60);
    expect(cost(all).actual).toBeLessThan(cost(all).requested);
  });

  test('over the ceiling is 400 with what was counted, and costs what it might have', async () => {
    const pages = [0, 1, 2].map((i) => page(rows, `p${i}`)).join(' ');
    for (let i = 0; i < 2; i++) {
      const { data, errors, extensions, answer } = await ask(pages);
      expect([answer.status, data]).toEqual([400, undefined]);
      expect(errors).toHaveLength(1);
      const { code, details } = errors![0].extensions;
      expect(code).toBe('invalid_params');
      expect(errors![0].message).toMatch(/more than 3,000,000 bytes: [\d,]+ were counted/);
      expect(details).toMatchObject({ limit: 'bytes', most: maxBytes });
      expect(details.counted).toBeGreaterThan(maxBytes);
      expect(extensions.cost.actual).toBe(extensions.cost.requested);
    }
  });

  test('many at a time wait for each other; too many are 429 with Retry-After', async () => {
    const credential = await app.session();
    // Each another, since equal ones within a second are one.
    const answers = await Promise.all(Array.from({ length: 9 }, (_, i) => ask(page(rows, `page${i}`), credential)));
    const statuses = answers.map(({ answer }) => answer.status).sort();
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(6);
    const refused = answers.find(({ answer }) => answer.status === 429)!;
    expect(refused.answer.headers['retry-after']).toBe('1');
    expect(refused.errors![0].extensions.code).toBe('rate_limited');
    const { answer } = await ask(page(rows, 'after'), credential);
    expect(answer.status).toBe(200);
  });

  test('leaves its slot to others when its client leaves while several operations wait', async () => {
    const credential = await app.session();
    const leave = async (round: number) => {
      const client = talk(`${app.url}/graphql`, ['graphql-transport-ws']);
      await client.open;
      client.send({ type: 'connection_init', payload: { Authorization: `Bearer ${credential}` } });
      await expect.poll(() => client.said).toEqual([{ type: 'connection_ack' }]);
      for (let i = 0; i < 5; i++) {
        const query = `{ symbol(symbol: "SPY") { ${page(rows, `left${round}${i}`)} } }`;
        client.send({ type: 'subscribe', id: String(i), payload: { query } });
      }
      await delay(20 + 20 * round);
      client.socket.terminate();
      await client.closed;
      await delay(100);
    };
    for (let round = 0; round < 6; round++) await leave(round);
    expect((await ask(page(rows, 'stayed'), credential)).answer.status).toBe(200);
  });
});
