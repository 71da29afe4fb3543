import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestStore, testStore } from '../../support/store.ts';
import { tapegraph, tapegraphProcess } from '../command-line.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
  await run('account', 'set', 'acme', '--api-tier', 'basic');
});
afterAll(() => store.close());

const run = (...args: string[]) => tapegraph(args, { DATABASE_URL: store.databaseUrl });
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

it('key create --json prints the key and its id and nothing else', async () => {
  const args = ['key', 'create', '--account', 'acme', '--json'];
  const { code, stdout, stderr } = await tapegraphProcess(args, { DATABASE_URL: store.databaseUrl });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({ key: expect.stringMatching(/^tg_live_/), id: expect.any(String) });
  expect(stdout.split('\n')).toHaveLength(2);
});

it('a key is shown once: the list has its beginning and its state alone', async () => {
  const { key, id } = await json(
    'key',
    'create',
    '--account',
    'acme',
    '--name',
    'dashboard',
    '--expires',
    '2999-01-01T00:00:00Z',
  );
  const { keys } = await json('key', 'list', '--account', 'acme');
  const found = keys.find((each: { id: string }) => each.id === id);
  expect(found).toMatchObject({
    account_id: 'acme',
    name: 'dashboard',
    tier: 'basic',
    revoked: false,
    last_used_at: null,
    expires_at: Date.parse('2999-01-01T00:00:00Z'),
  });
  expect(key.startsWith(found.prefix)).toBe(true);
  expect(JSON.stringify(keys)).not.toContain(key);
  expect((await run('key', 'list')).stdout).toMatch(
    new RegExp(`${id} +acme +\\S+ +basic +live +2999-01-01T00:00:00.000Z +never +any +dashboard`),
  );
});

it('a key of trusted documents only says so in the list', async () => {
  const { id } = await json('key', 'create', '--account', 'acme', '--name', 'page', '--trusted-only');
  const { keys } = await json('key', 'list');
  expect(keys.find((each: { id: string }) => each.id === id)).toMatchObject({ trusted_only: true });
  expect((await run('key', 'list')).stdout).toMatch(new RegExp(`${id} .*never +trusted +page`));
});

it('key revoke stops a key once', async () => {
  const { id } = await json('key', 'create', '--account', 'acme');
  expect(await json('key', 'revoke', id)).toEqual({ revoked: id });
  const { keys } = await json('key', 'list');
  expect(keys.find((each: { id: string }) => each.id === id)).toMatchObject({ revoked: true });
  expect(await run('key', 'revoke', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('was not found') });
});

it('key create leaves with 1 for an account that is not there, and for a time that has passed', async () => {
  expect(await run('key', 'create', '--account', 'nobody')).toMatchObject({
    code: 1,
    stderr: 'tapegraph: Account nobody was not found.\n',
  });
  const past = await run('key', 'create', '--account', 'acme', '--expires', '2001-01-01');
  expect(past).toMatchObject({ code: 1, stderr: expect.stringContaining('expires: expected a time in the future') });
});

it.each([
  ['no account', ['key', 'create'], '--account'],
  ['no time', ['key', 'create', '--account', 'acme', '--expires', 'never'], '2026-11-20T14:30:00Z'],
  ['no length of time', ['session', 'create', '--account', 'acme', '--expires-in', 'long'], '30m'],
])('leaves with 2 for %s and says what was expected', async (_, args, expected) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(expected);
});

it('session create prints a token that names the account and ends when it was asked to', async () => {
  const before = Date.now() / 1000;
  const { token } = await json('session', 'create', '--account', 'acme', '--expires-in', '30m');
  const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
  expect(claims.sub).toBe('acme');
  expect(claims.exp - before).toBeGreaterThan(1790);
  expect(claims.exp - before).toBeLessThan(1830);
  expect(await json('session', 'create', '--account', 'acme')).toEqual({ token: expect.any(String) });
});

it('session create follows the clock of a server that runs at another time', async () => {
  const { token } = await json('session', 'create', '--account', 'acme', '--clock', '2020-01-01T00:00:00Z');
  const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
  expect(claims.exp).toBeGreaterThanOrEqual(Date.parse('2020-01-01T01:00:00Z') / 1000);
  expect(claims.exp).toBeLessThan(Date.parse('2020-01-01T01:01:00Z') / 1000);
});
