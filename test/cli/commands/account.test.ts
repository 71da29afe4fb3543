import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestStore, testStore } from '../../support/store.ts';
import { tapegraph } from '../command-line.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const run = (...args: string[]) => tapegraph(['account', ...args], { DATABASE_URL: store.databaseUrl });

it('account set makes an account in the free tiers, and changes only what is given', async () => {
  const made = await run('set', 'acme', '--json');
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(made.stdout)).toEqual({
    id: 'acme',
    site_tier: 'free',
    api_tier: 'free',
    classification: null,
    classified_at: null,
    created_at: expect.any(Number),
  });
  await run('set', 'acme', '--api-tier', 'pro', '--classification', 'non_professional');
  const changed = JSON.parse((await run('set', 'acme', '--site-tier', 'basic', '--json')).stdout);
  expect(changed).toMatchObject({ site_tier: 'basic', api_tier: 'pro', classification: 'non_professional' });
  const cleared = JSON.parse((await run('set', 'acme', '--classification', 'none', '--json')).stdout);
  expect(cleared).toMatchObject({ site_tier: 'basic', classification: null, classified_at: null });
});

it('account list shows every account, as a table and as one JSON object', async () => {
  await run('set', 'zeta');
  const { accounts } = JSON.parse((await run('list', '--json')).stdout);
  expect(accounts.map((account: { id: string }) => account.id)).toEqual(expect.arrayContaining(['zeta']));
  expect((await run('list')).stdout).toMatch(
    /^ACCOUNT +SITE TIER +API TIER +CLASSIFICATION\n(?:.*\n)*zeta +free +free +\(none\)\n/,
  );
});

it.each([
  ['an unknown tier', ['set', 'acme', '--api-tier', 'gold'], 'free, basic, pro'],
  ['an unknown classification', ['set', 'acme', '--classification', 'amateur'], 'non_professional'],
  ['no id', ['set'], 'id'],
  ['no subcommand', [], 'Usage: tapegraph account'],
])('account leaves with 2 for %s and says what was expected', async (_, args, expected) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(expected);
});

it('account set leaves with 1 for an id that cannot be one', async () => {
  expect(await run('set', '')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^tapegraph: id: expected .*\n$/),
  });
});
