// A stored GEX capture can be computed again, to the last bit, and a figure that is not what its quotes give is named.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { encodeId } from '../../../src/schema/node-id.ts';
import { pruneSuperseded } from '../../../src/store/superseded/prune.ts';
import { tapegraph } from '../../cli/command-line.ts';
import { modelColumns } from '../../support/model-columns.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { delayedPage } from '../../support/tapes/delayed-page.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const now = () => exchangeInstant('2026-11-17', 60);
const times = { '10:00 AM': 600, '10:30 AM': 630, '11:00 AM': 660 };
let store: TestStore;

beforeAll(async () => {
  store = await testStore();
  for (const [i, [time, minute]] of Object.entries(times).entries()) {
    const path = join(folder(), `spx-${minute}.csv`);
    const page = delayedPage({
      date: `November 16, 2026 at ${time} EST`,
      root: 'SPXW',
      forward: 6000,
      volatility: 0.2 + i / 100,
      expiries: { '2026-11-16': 0.0007, '2026-12-18': 32 / 365 },
      strikes: Array.from({ length: 21 }, (_, n) => 5900 + 10 * n),
    });
    writeFileSync(path, page);
    const { files } = await ingestFiles(store, 'chain', [path], { now, ...(i === 2 && { gammaSource: 'vendor' }) });
    expect(files[0]).toMatchObject({ status: 'stored' });
  }
});
afterAll(() => store.close());

const reproduce = (capture: string, ...args: string[]) =>
  tapegraph(['reproduce', capture, ...args], { DATABASE_URL: store.databaseUrl });
const nameOf = (minute: number) => `SPX:${exchangeInstant('2026-11-16', minute)}`;

test.each(Object.values(times))('the capture of minute %i has the stored bits, and stays as it is', async (minute) => {
  const before = await store.pool.query(
    `SELECT ${modelColumns('gex_captures')} FROM gex_captures ORDER BY captured_at`,
  );
  const { code, stdout } = await reproduce(nameOf(minute), '--json');
  const found = JSON.parse(stdout);
  expect(found).toMatchObject({ symbol: 'SPX', status: 'equal', differences: [] });
  // 21 strikes of two expiries, seven columns each, net rows beside them, and a profile of 60 prices.
  expect(found.figures).toBeGreaterThan(21 * 3 * 7 + 120);
  expect(code).toBe(0);
  expect(
    (await store.pool.query(`SELECT ${modelColumns('gex_captures')} FROM gex_captures ORDER BY captured_at`)).rows,
  ).toEqual(before.rows);
});

test('takes the id that the graph gives', async () => {
  const id = encodeId('GexCapture', `${nameOf(600)}:net:all`);
  expect(await reproduce(id)).toMatchObject({ code: 0, stdout: expect.stringContaining('equal: ') });
});

test('names a figure that differs by one bit', async () => {
  await store.pool.query(
    `UPDATE gex_captures SET net_gex = net_gex * (1 + 2.220446049250313e-16), version = 'x' WHERE captured_at = ${exchangeInstant('2026-11-16', 630)}`,
  );
  const { code, stdout } = await reproduce(nameOf(630));
  expect(code).toBe(1);
  expect(stdout).toMatch(/different: 1 of \d+ figures are not what is stored\n {2}netGex: stored -?[\d.]+, computed/);
});

test('uses the rates that were known then; says so when the ones that are stored now are others', async () => {
  const rates = async (rate: number, nowMs: number) => {
    const path = join(folder(), 'rates.csv');
    writeFileSync(path, `date,days,rate\n2026-11-13,30,${rate}\n`);
    await ingestFiles(store, 'rates', [path], { now: () => nowMs });
  };
  await rates(0.09, now() + 60_000);
  await rates(0.08, now() + 120_000);
  const found = async () => {
    const { code, stdout } = await reproduce(nameOf(600), '--json');
    return { code, ...JSON.parse(stdout) };
  };
  expect(await found()).toMatchObject({ code: 0, status: 'equal' });
  // The lists of then are no longer stored.
  await pruneSuperseded(store, now() + 180_000);
  const { code, status, differences } = await found();
  expect({ code, status }).toEqual({ code: 1, status: 'other inputs' });
  expect(differences.map(({ figure }: { figure: string }) => figure)).toContain('netGex');
});

test('names the release that can compute a capture of an earlier methodology', async () => {
  await store.pool.query(
    `UPDATE gex_captures SET methodology_version = '2', product_version = '0.0.9', version = 'old' WHERE captured_at = ${exchangeInstant('2026-11-16', 660)}`,
  );
  const { code, stdout } = await reproduce(nameOf(660));
  expect(code).toBe(1);
  expect(stdout).toContain('methodology 2 computed it, this release has 4: release 0.0.9 of that methodology can');
});

test('an unknown capture and a text that names none are reported', async () => {
  expect(await reproduce('SPX:1')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('no GEX capture of this'),
  });
  const wrong = await reproduce('nonsense');
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain('Expected the id of a GexCapture');
});
