// Vendors' files of a chain in parts: one chain in any order, in one call or several, with the names of all files.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IngestOptions, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { recompute } from '../../../../src/intake/ingest/recompute/recompute.ts';
import { reproduce } from '../../../../src/intake/ingest/recompute/reproduce.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { randomOf } from '../../../support/random.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { type TestStore, testStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const now = () => Date.UTC(2025, 8, 4);
const folder = temporaryFolder();

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());
const clear = () =>
  store.pool.query('TRUNCATE chain_captures, gex_captures, generations, ingested_files, open_interest_blocks');
beforeEach(clear);

async function put(paths: readonly string[], options: Partial<IngestOptions> = {}) {
  const { files } = await ingestFiles(store, 'chain', paths, { now, ...options });
  return files;
}

interface StoredCapture {
  captured_at: number;
  row_count: number;
  subset: boolean;
}

/** The stored captures with their rows, and their GEX. */
async function everything() {
  const read = async (table: 'chain_captures' | 'gex_captures') =>
    (await store.pool.query(`SELECT ${modelColumns(table)} FROM ${table} ORDER BY captured_at`)).rows;
  return { chains: (await read('chain_captures')) as StoredCapture[], gex: await read('gex_captures') };
}

/** The files of each capture in force. */
async function sources(): Promise<string[][]> {
  const { rows } = await store.pool.query(
    `SELECT files FROM generations WHERE dataset = 'chain' AND superseded_ms IS NULL ORDER BY instant_ms`,
  );
  return rows.map((row) => row.files.map(({ name }: { name: string }) => name).sort());
}

describe.runIf(hasSharedData)('two expiries of Tradier', () => {
  const names = ['tradier-expiry-1.json', 'tradier-expiry-2.json'];
  const paths = names.map((name) => sharedData(`ingest_inputs/${name}`));

  test.each([
    ['in one call', [paths]],
    ['in two', paths.map((path) => [path])],
    ['in the other order', paths.map((path) => [path]).reverse()],
  ])('are one chain %s', async (_, calls) => {
    for (const call of calls) for (const { status } of await put(call)) expect(status).toBe('stored');
    const { chains } = await everything();
    expect(chains).toHaveLength(1);
    const options = paths.flatMap((path) => JSON.parse(readFileSync(path, 'utf8')).options.option);
    expect(chains[0]).toMatchObject({ row_count: options.length, subset: false });
    expect(await sources()).toEqual([names]);
    for (const { status } of await put(paths)) expect(status).toBe('unchanged');
  });
});

/** The exchange's page of SPY cut by expiry, and the calls or puts of it, as files of their own. */
function cutPage(path: string, name: string, keep: (expiry: string) => boolean, side: 'both' | 'call' | 'put') {
  const lines = gunzipSync(readFileSync(path)).toString().split(/\r?\n/);
  const header = lines.findIndex((line) => /^"?Expiration Date/i.test(line));
  const names = lines[header]!.split(',').map((cell) => cell.trim().toLowerCase());
  const blank = { both: -1, call: names.lastIndexOf('puts'), put: names.indexOf('calls') }[side];
  const kept = lines.slice(header + 1).flatMap((line) => {
    const cells = line.split(',');
    // A date is one cell, without a comma.
    if (cells.length < names.length || !keep(cells[0]!)) return [];
    if (blank >= 0) cells[blank] = '';
    return [cells.join(',')];
  });
  const file = join(folder(), name);
  writeFileSync(file, [...lines.slice(0, header + 1), ...kept].join('\n'));
  return file;
}

describe.runIf(hasSharedData)('a page of SPY', () => {
  const page = sharedData('chains_cboe/spy_20250903T0924.csv.gz');
  const lines = hasSharedData ? gunzipSync(readFileSync(page)).toString().split(/\r?\n/) : [];
  const header = lines.findIndex((line) => /^"?Expiration Date/i.test(line));
  const dates = [...new Set(lines.slice(header + 1).flatMap((line) => (line === '' ? [] : line.split(',')[0]!)))];

  async function whole() {
    expect((await put([page]))[0]!.status).toBe('stored');
    const { chains, gex } = await everything();
    await clear();
    return { chain: chains[0]!, gex: gex[0] };
  }

  test('in eleven files of expiries, and in calls and puts of them, is the page in random orders', async () => {
    const expected = await whole();
    const random = randomOf(11);
    const shares = Array.from({ length: 11 }, (_, n) => dates.filter((_date, i) => i % 11 === n));
    const files = shares.flatMap((share, n) =>
      n % 3 === 0
        ? (['call', 'put'] as const).map((side) => cutPage(page, `${n}-${side}.csv`, (d) => share.includes(d), side))
        : [cutPage(page, `${n}.csv`, (date) => share.includes(date), 'both')],
    );
    let first: Awaited<ReturnType<typeof everything>> | null = null;
    for (let turn = 0; turn < 3; turn++) {
      await clear();
      const order = files.map((file) => [random.below(1e6), file] as const).sort((a, b) => a[0] - b[0]);
      for (const [, file] of order) expect((await put([file]))[0]!.status).toBe('stored');
      const found = await everything();
      expect(found.chains).toHaveLength(1);
      expect(found.chains[0]).toMatchObject({ row_count: expected.chain.row_count, subset: false });
      expect(found.gex[0].net_gex).toBe(expected.gex.net_gex);
      first ??= found;
      expect(found).toEqual(first);
      expect((await sources())[0]).toHaveLength(files.length);
    }
    const { captured_at: capturedAt } = first!.chains[0]!;
    const { status } = await reproduce(store, { underlying: 'SPY', capturedAt }, 0.045);
    expect(status).toBe('equal');
    await store.pool.query(`UPDATE gex_captures SET methodology_version = '1', net_gex = 1, version = 'of 1'`);
    await recompute(store, 'chain', { symbol: null, from: null, to: null }, { now, rate: 0.045 });
    expect(await everything()).toEqual(first);
  }, 300_000);
});
