import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveSymbols } from '../../../src/store/market/symbols.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { testSymbols } from '../../support/app.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { tapegraph } from '../command-line.ts';

const folder = temporaryFolder();
let store: TestStore;
beforeAll(async () => {
  store = await testStore();
  await inTransaction(store, (tx) => saveSymbols(tx, testSymbols));
});
afterAll(() => store.close());

const cost = (query: string, ...args: string[]) => {
  const file = join(folder(), 'document.graphql');
  writeFileSync(file, query);
  return tapegraph(['cost', file, ...args], { DATABASE_URL: store.databaseUrl });
};

const query = 'query Q($s: Ticker!) { symbol(symbol: $s) { gex { latest(topStrikes: 20) { strikes { gex } } } } }';

test('prints what a document costs and what bounds its lists, and succeeds', async () => {
  const { code, stdout, stderr } = await cost(query, '--variables', '{"s": "SPY"}');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^at most 1 request \(\d+ points\), expected 1 request \(\d+ points\); the minute has 6,000 points\n/,
  );
  expect(stdout).toMatch(/symbol\.gex\.latest\.strikes +[\d.]+ +[\d.]+ +20 +latest\(topStrikes\)/);
});

test('fails for what would be refused, by the rights of a tier and by its minute', async () => {
  const restricted = await cost(query, '--variables', '{"s": "SPX"}', '--tier', 'free', '--json');
  expect(restricted.code).toBe(1);
  expect(JSON.parse(restricted.stdout)).toMatchObject({
    minute: { limit: 600, remaining: null },
    refused: [{ path: 'symbol.gex.latest', code: 'not_entitled_tier' }],
  });
  const undeclared = await cost(query, '--variables', '{"s": "SPX"}', '--undeclared');
  expect(undeclared.code).toBe(1);
  expect(undeclared.stdout).toContain('symbol.gex.latest: attestation_required');
  const keys = '{ me { keys { id } } }';
  expect((await cost(keys)).code).toBe(1);
  expect((await cost(keys, '--as', 'session')).code).toBe(0);
  expect((await cost('{ nothing }')).stdout).toContain('rejected: invalid_params: Cannot query field "nothing"');
});

test('names variables that are no JSON object, and a file that is not there', async () => {
  const wrong = await cost(query, '--variables', '[]');
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain('Expected a JSON object');
  const absent = await tapegraph(['cost', '/none/document.graphql'], { DATABASE_URL: store.databaseUrl });
  expect(absent.code).not.toBe(0);
  expect(absent.stderr).toContain('/none/document.graphql');
});
