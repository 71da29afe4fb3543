import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openKeyUse } from '../../../src/access/identity/api-keys.ts';
import { createSiteSession } from '../../../src/access/identity/site-session.ts';
import { Failure } from '../../../src/platform/wire/failure.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { madeUpKey, type Opened, opened, start } from '../opened.ts';

let store: TestStore;
let here: Opened;
let account = 0;
let id = '';
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());
beforeEach(async () => {
  here = await opened(store);
  account += 1;
  id = `account-${account}`;
  await here.access.accounts.set(id, { siteTier: 'pro', apiTier: 'basic', classification: 'non_professional' });
  here.statements();
  return () => here.access.close();
});

const newKey = (expiresAt: number | null = null) => here.access.keys.create({ accountId: id, name: 'n', expiresAt });
const state = async (credential: string | null, at = here) => (await at.access.authenticate(credential)).state;

/** The store's pool, failing at its first statement. */
function failingOnce(): TestStore['pool'] {
  let failed = false;
  return {
    query: (...args: unknown[]) => {
      if (failed) return Reflect.apply(store.pool.query, store.pool, args);
      failed = true;
      return Promise.reject(new Error('gone'));
    },
  } as never;
}

describe('an API key', () => {
  it('is served under the account’s API tier', async () => {
    const { key, meta } = await newKey();
    expect(await here.access.authenticate(key)).toEqual({
      state: 'ok',
      caller: {
        accountId: id,
        kind: 'key',
        keyId: meta.id,
        tier: 'basic',
        siteTier: 'pro',
        apiTier: 'basic',
        classification: 'non_professional',
        attested: true,
      },
    });
  });

  it('costs no statement while it is cached', async () => {
    const { key } = await newKey();
    await here.access.authenticate(key);
    expect(here.statements().length).toBeGreaterThan(0);
    for (let i = 0; i < 100; i += 1) await here.access.authenticate(key);
    expect(here.statements()).toEqual([]);
  });

  it('stops at once when revoked here, and within 5 s when revoked by another process', async () => {
    const [here1, there] = [here, await opened(store)];
    const { key, meta } = await newKey();
    expect([await state(key, here1), await state(key, there)]).toEqual(['ok', 'ok']);
    await here1.access.keys.revoke(meta.id, null);
    expect(await state(key, here1)).toBe('invalid');
    there.pass(4999);
    expect(await state(key, there)).toBe('invalid');
    await there.access.close();
  });

  it('is expired from its expiry on, also while cached, and invalid once revoked', async () => {
    const { key, meta } = await newKey(start + 1000);
    expect(await state(key)).toBe('ok');
    here.pass(999);
    expect(await state(key)).toBe('ok');
    here.pass(1);
    expect(await state(key)).toBe('expired');
    await here.access.keys.revoke(meta.id, id);
    expect(await state(key)).toBe('invalid');
  });

  it('that is garbled, or of no form at all, is refused without a statement', async () => {
    const { key } = await newKey();
    here.statements();
    const last = key.at(-1) === 'a' ? 'b' : 'a';
    for (const credential of [key.slice(0, -1) + last, 'tg_live_x', 'x', '', 'a.b.c', 'x'.repeat(100_000), `${key} `]) {
      expect(await state(credential)).toBe('invalid');
    }
    expect(here.statements()).toEqual([]);
  });

  it('that was never made is looked up once, then refused without a statement', async () => {
    const key = madeUpKey();
    for (let i = 0; i < 50; i += 1) expect(await state(key)).toBe('invalid');
    expect(here.statements()).toHaveLength(1);
  });

  it('that many requests send at once is looked up once', async () => {
    const { key } = await newKey();
    here.statements();
    const states = await Promise.all(Array.from({ length: 100 }, () => state(key)));
    expect(new Set(states)).toEqual(new Set(['ok']));
    expect(here.statements()).toHaveLength(2);
  });

  it('is neither good nor bad while the store is away: 502', async () => {
    const { key } = await newKey();
    here.failWith(new Error('connection refused'));
    const failure = await here.access.authenticate(key).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ status: 502, code: 'internal' });
    expect((failure as Failure).message).not.toContain('refused');
    here.failWith(null);
    expect(await state(key)).toBe('ok');
  });

  it('remembers when it was last used, written together every few seconds', async () => {
    const { key, meta } = await newKey();
    here.pass(500);
    await here.access.authenticate(key);
    here.pass(500);
    await here.access.authenticate(key);
    const lastUsed = async () => (await here.access.keys.list(id)).find((row) => row.id === meta.id)?.lastUsedAt;
    expect(await lastUsed()).toBeNull();
    await here.access.close();
    expect(await lastUsed()).toBe(start + 1000);
  });
});

it('the last use of a key is written later when the store is away', async () => {
  const { key, meta } = await newKey();
  await here.access.authenticate(key);
  const keyUse = openKeyUse({ ...store, pool: failingOnce() }, (line) => here.lines.push(line));
  keyUse.used(meta.id, start + 7);
  await keyUse.flush();
  expect(here.lines).toEqual(['warning: last uses of API keys could not be written; retrying: gone']);
  await keyUse.close();
  expect((await here.access.keys.list(id)).find((row) => row.id === meta.id)?.lastUsedAt).toBe(start + 7);
});

describe('a site session', () => {
  it('is served under the account’s site tier', async () => {
    const token = await here.access.sessions.create(id, 60_000);
    expect(await here.access.authenticate(token)).toEqual({
      state: 'ok',
      caller: {
        accountId: id,
        kind: 'session',
        keyId: null,
        tier: 'pro',
        siteTier: 'pro',
        apiTier: 'basic',
        classification: 'non_professional',
        attested: true,
      },
    });
  });

  it('of one process holds in every other on the store, with no secret configured', async () => {
    const there = await opened(store);
    const token = await there.access.sessions.create(id, 60_000);
    expect(await state(token)).toBe('ok');
    here.pass(60_000);
    expect(await state(token)).toBe('expired');
    expect(await state(token, await opened(store, { sessionSecret: 'x'.repeat(32) }))).toBe('invalid');
    await there.access.close();
  });

  it('signed by a site with the configured secret is accepted', async () => {
    const there = await opened(store, { sessionSecret: 'y'.repeat(32) });
    expect(await state(await createSiteSession('y'.repeat(32), id, 60_000, () => start), there)).toBe('ok');
    expect(there.lines).toEqual([]);
  });

  it('of an account not seen before makes it, on the lowest tiers', async () => {
    const sub = `new-${randomBytes(4).toString('hex')}`;
    const there = await opened(store, { sessionSecret: 'y'.repeat(32) });
    const token = await createSiteSession('y'.repeat(32), sub, 60_000, () => start);
    const [first] = await Promise.all([there.access.authenticate(token), there.access.authenticate(token)]);
    expect(first).toMatchObject({
      state: 'ok',
      caller: { accountId: sub, tier: 'free', siteTier: 'free', attested: false },
    });
    expect((await there.access.accounts.list()).some((row) => row.id === sub)).toBe(true);
    await expect(here.access.sessions.create('nobody', 60_000)).rejects.toMatchObject({ status: 404 });
  });

  it('signed with a secret that is too short works, and the log says what it is worth', async () => {
    const there = await opened(store, { sessionSecret: 'short' });
    expect(await state(await there.access.sessions.create(id, 60_000), there)).toBe('ok');
    expect(there.lines).toHaveLength(1);
    expect(there.lines[0]).not.toContain('short"');
    expect(there.lines[0]).toContain('SESSION_SECRET is shorter than 32 bytes');
  });

  it('cannot be made here when the keys are published elsewhere', async () => {
    const there = await opened(store, { sessionJwksUrl: 'http://127.0.0.1:9/' });
    await expect(there.access.sessions.create(id, 60_000)).rejects.toMatchObject({ status: 400 });
    expect(await state('a.b.c', there)).toBe('invalid');
  });

  it('are warned of when the keys are published and tokens for other services would do', async () => {
    const sessionJwksUrl = 'http://127.0.0.1:9/';
    const linesWith = async (claims: object) => (await opened(store, { sessionJwksUrl, ...claims })).lines;
    expect(await linesWith({})).toEqual([
      expect.stringMatching(/^warning: without SESSION_ISSUER and SESSION_AUDIENCE every token/),
    ]);
    expect(await linesWith({ sessionIssuer: 'https://id.example' })).toEqual([
      expect.stringMatching(/^warning: without SESSION_AUDIENCE every token/),
    ]);
    expect(await linesWith({ sessionIssuer: 'https://id.example', sessionAudience: 'tapegraph' })).toEqual([]);
  });
});

describe('a change of the account', () => {
  it('counts at once here, and within 5 s in other processes', async () => {
    const there = await opened(store);
    const { key } = await newKey();
    const caller = async (at: Opened) => {
      const answer = await at.access.authenticate(key);
      return answer.state === 'ok' ? [answer.caller.tier, answer.caller.attested] : answer.state;
    };
    expect([await caller(here), await caller(there)]).toEqual([
      ['basic', true],
      ['basic', true],
    ]);
    await here.access.accounts.set(id, { apiTier: 'pro' });
    expect(await caller(here)).toEqual(['pro', true]);
    await here.access.accounts.declare(id, 'professional');
    expect(await caller(here)).toEqual(['pro', false]);
    there.pass(4999);
    expect(await caller(there)).toEqual(['pro', false]);
    await there.access.close();
  });
});

it('no credential is missing', async () => {
  expect(await state(null)).toBe('missing');
});
