// The order in which chains arrive never changes what is published.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readOptionContract } from '../../../../src/core/domain/chain/option-contract.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { captureChainsOnce } from '../../../../src/intake/ingest/chains/capture-chains.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { saveSeals } from '../../../../src/store/market/session-seals.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { chainServer, tagged } from '../../../support/chain-server.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { type TestStore, testStore } from '../../../support/store.ts';
import { worth } from '../../../support/tapes/quoted-tape.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const session = '2026-11-16';
const folder = temporaryFolder();
const now = () => exchangeInstant('2026-11-17', 60);
const near = ['C05950', 'P05950', 'C06000', 'P06000', 'C06050', 'P06050'].map(
  (text) => `SPXW261218${text.slice(0, 1)}${text.slice(1)}000`,
);
const far = ['SPXW261218C06500000', 'SPXW261218C06600000'];

/**
 * Four captures of a session. Each of the far contracts is quoted in one of them, and is known later by that solve
 * alone.
 */
const captures = [
  { minute: 600, quoted: [] as string[] },
  { minute: 605, quoted: [far[0]!] },
  { minute: 610, quoted: [far[1]!] },
  { minute: 615, quoted: [] },
].map(({ minute, quoted }) => {
  const tsMs = exchangeInstant(session, minute);
  const options = [...near, ...far].map((option) => {
    const fair = worth(readOptionContract(option)!, 6000, tsMs);
    const isQuoted = near.includes(option) || quoted.includes(option);
    const [bid, ask] = isQuoted ? [Math.max(0.01, fair - 0.02), fair + 0.02] : [0, 0];
    const none = { iv: 0, delta: 0, gamma: 0, theta: 0, vega: 0, theo: 0, last_trade_price: 0, last_trade_time: null };
    return { option, bid, ask, volume: 0, open_interest: near.includes(option) ? 100 : 10, ...none };
  });
  const timestamp = new Date(tsMs).toISOString().slice(0, 19).replace('T', ' ');
  return JSON.stringify({ timestamp, data: { options, current_price: 6000, prev_day_close: 6000 } });
});

function permutations(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutations(items.filter((each) => each !== item)).map((rest) => [item, ...rest]));
}
const orders = permutations([0, 1, 2, 3]);

async function published(store: TestStore): Promise<unknown[]> {
  const chains = await store.pool.query(
    `SELECT ${modelColumns('chain_captures')} FROM chain_captures ORDER BY captured_at`,
  );
  const gex = await store.pool.query(`SELECT ${modelColumns('gex_captures')} FROM gex_captures ORDER BY captured_at`);
  return [chains.rows, gex.rows];
}

const byFile = async (store: TestStore, index: number) => {
  const path = join(folder(), `${index}.json`);
  writeFileSync(path, captures[index]!);
  const { files } = await ingestFiles(store, 'chain', [path], { now });
  expect(files[0]!.status).toBe('stored');
};

describe('four captures', () => {
  let store: TestStore;
  let expected: unknown[];
  const empty = () => store.pool.query('TRUNCATE chain_captures, gex_captures, ingested_files');
  beforeAll(async () => {
    store = await testStore();
    for (const index of [0, 1, 2, 3]) await byFile(store, index);
    expected = await published(store);
  }, 300_000);
  afterAll(() => store.close());

  test('use the session’s earlier solves', async () => {
    const { rows } = await store.pool.query('SELECT gamma_absent FROM gex_captures ORDER BY captured_at');
    expect(rows.map((row) => row.gamma_absent)).toEqual([2, 1, 0, 0]);
  });

  test(`give one store in each of ${orders.length} orders, by files and by the capture of a source`, async () => {
    const source = await chainServer();
    const urls = captures.map((text, i) => source.serve(`${i}.json`, tagged(text, `"${i}"`)));
    const settings = { everyMs: 1, delayMs: 0, always: true, timeoutMs: 60_000, maxBytes: 1e6, rate: 0.045, atOnce: 1 };
    const log = { info() {}, warn() {}, debug() {} };
    const world = { now, stop: new AbortController().signal, random: () => 0, sleep: async () => {}, log };
    for (const [at, order] of orders.entries()) {
      await empty();
      for (const index of order) {
        if (at % 2 === 0) await byFile(store, index);
        else {
          const sources = [{ symbol: 'SPX', url: urls[index]! }];
          const report = await captureChainsOnce(store, sources, { ...settings, gammaSource: 'solve' }, world);
          expect(report.SPX).toMatchObject({ captured: 1 });
        }
      }
      expect(await published(store), order.join()).toEqual(expected);
    }
  }, 300_000);

  test('stored at the same time give the same', async () => {
    await empty();
    await Promise.all([3, 1, 2, 0].map((index) => byFile(store, index)));
    expect(await published(store)).toEqual(expected);
  }, 300_000);

  test('a chain that is replaced changes those after it', async () => {
    await empty();
    for (const index of [1, 2, 3]) await byFile(store, index);
    const before = await published(store);
    const path = join(folder(), 'changed.json');
    writeFileSync(
      path,
      captures[1]!.replace(/"(bid|ask)":(\d+\.?\d*)/g, (_, side, price) => `"${side}":${price * 1.01}`),
    );
    const { files } = await ingestFiles(store, 'chain', [path], { now });
    expect(files[0]!.status).toBe('stored');
    expect(await published(store)).not.toEqual(before);
    await byFile(store, 1);
    expect(await published(store)).toEqual(before);
  }, 300_000);

  test('a sealed session stays as it is', async () => {
    await empty();
    for (const index of [1, 2, 3]) await byFile(store, index);
    const before = await published(store);
    await inTransaction(store, (tx) => saveSeals(tx, session, ['SPX'], now()));
    const path = join(folder(), '0.json');
    writeFileSync(path, captures[0]!);
    const { files } = await ingestFiles(store, 'chain', [path], { now });
    expect(files[0]!.status).toBe('refused');
    expect(await published(store)).toEqual(before);
  }, 300_000);
});
