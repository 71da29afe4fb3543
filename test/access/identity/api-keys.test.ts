import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashApiKey, maxLiveKeys } from '../../../src/access/identity/api-keys.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { keyCaller, sessionCaller } from '../callers.ts';
import { type Opened, opened, start } from '../opened.ts';

let store: TestStore;
let here: Opened;
let accounts = 0;
let id = '';
beforeAll(async () => {
  store = await testStore();
  here = await opened(store);
});
afterAll(async () => {
  await here.access.close();
  await store.close();
});
beforeEach(async () => {
  accounts += 1;
  id = `account-${accounts}`;
  await here.access.accounts.set(id, { apiTier: 'basic' });
});

const refused = (status: number, code: string) => ({ status, code });
const create = (over: object = {}) => here.access.keys.create({ accountId: id, name: null, expiresAt: null, ...over });

describe('the key ring', () => {
  it('shows a key once and stores its hash', async () => {
    const { key, meta } = await create({ name: 'my key', expiresAt: start + 1 });
    expect(meta).toEqual({
      id: meta.id,
      accountId: id,
      name: 'my key',
      tier: 'basic',
      prefix: key.slice(0, 12),
      createdAt: start,
      lastUsedAt: null,
      expiresAt: start + 1,
      revoked: false,
      trustedOnly: false,
    });
    expect(await here.access.keys.list(id)).toEqual([meta]);
    const { rows } = await store.pool.query('select k::text as text, hash from api_keys k where account_id = $1', [id]);
    expect(rows[0].text).not.toContain(key.slice(12));
    expect(rows[0].hash).toBe(hashApiKey(key));
  });

  it('revokes once; unknown, foreign and revoked keys are 404', async () => {
    const { meta } = await create();
    await expect(here.access.keys.revoke(meta.id, 'somebody else')).rejects.toMatchObject(refused(404, 'not_found'));
    await here.access.keys.revoke(meta.id, id);
    await expect(here.access.keys.revoke(meta.id, id)).rejects.toMatchObject(refused(404, 'not_found'));
    await expect(here.access.keys.revoke('unknown', null)).rejects.toMatchObject(refused(404, 'not_found'));
    await expect(here.access.keys.revoke('a\u0000', null)).rejects.toMatchObject(refused(404, 'not_found'));
    expect((await here.access.keys.list(id)).map((row) => row.revoked)).toEqual([true]);
  });

  it('refuses what makes no sense', async () => {
    await expect(create({ accountId: 'nobody' })).rejects.toMatchObject(refused(404, 'not_found'));
    await expect(create({ expiresAt: start })).rejects.toMatchObject(refused(400, 'invalid_params'));
    await expect(create({ name: 'x'.repeat(201) })).rejects.toMatchObject(refused(400, 'invalid_params'));
    await expect(create({ name: 'a\u0000' })).rejects.toMatchObject(refused(400, 'invalid_params'));
    await expect(here.access.accounts.set('a\u0000', {})).rejects.toMatchObject(refused(400, 'invalid_params'));
    expect((await create({ name: 'x'.repeat(200) })).meta.name).toHaveLength(200);
    expect((await create({ name: ' ' })).meta.name).toBe('API key');
  });

  it('lists the keys of all accounts with the tier each has now', async () => {
    const { meta } = await create();
    await here.access.accounts.set(id, { apiTier: 'pro' });
    const all = await here.access.keys.list(null);
    expect(all.length).toBeGreaterThan(1);
    expect(all.find((row) => row.id === meta.id)?.tier).toBe('pro');
  });
});

describe('people', () => {
  it('manage keys by site session alone, and make them once they have declared', async () => {
    const { keys } = here.access;
    const person = sessionCaller({ accountId: id, attested: true });
    const made = await keys.createFor(person, null);
    expect(await keys.listFor(person)).toEqual([made.meta]);
    const stranger = sessionCaller({ accountId: 'stranger', attested: true });
    expect(await keys.listFor(stranger)).toEqual([]);
    await expect(keys.revokeFor(stranger, made.meta.id)).rejects.toMatchObject(refused(404, 'not_found'));
    await keys.revokeFor(person, made.meta.id);

    const key = keyCaller({ accountId: id, attested: true });
    for (const attempt of [keys.createFor(key, null), keys.listFor(key), keys.revokeFor(key, made.meta.id)]) {
      await expect(attempt).rejects.toMatchObject(refused(403, 'not_entitled_tier'));
    }
    const undeclared = sessionCaller({ accountId: id, attested: false });
    await expect(keys.createFor(undeclared, null)).rejects.toMatchObject(refused(403, 'attestation_required'));
    expect(await keys.listFor(undeclared)).toHaveLength(1);
  });

  it('have at most so many live keys, however many they make at once; revoked ones do not count', async () => {
    const person = sessionCaller({ accountId: id, attested: true });
    const made = await Promise.allSettled(
      Array.from({ length: maxLiveKeys + 5 }, () => here.access.keys.createFor(person, null)),
    );
    const kept = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value.meta.id] : []));
    expect(kept).toHaveLength(maxLiveKeys);
    await expect(here.access.keys.createFor(person, null)).rejects.toMatchObject(refused(400, 'invalid_params'));
    await here.access.keys.revokeFor(person, kept[0]!);
    await here.access.keys.createFor(person, null);
  });
});

describe('the declaration', () => {
  it('is nothing, then what was declared, and final once professional', async () => {
    const { declaration, declare } = here.access.accounts;
    expect(await declaration(id)).toEqual({ attested: false, classification: null, submittedAt: null, locked: false });
    const attested = { attested: true, classification: 'non_professional', submittedAt: start, locked: false };
    expect(await declare(id, 'non_professional')).toEqual(attested);
    expect(await declaration(id)).toEqual(attested);
    const locked = { attested: false, classification: 'professional', submittedAt: start, locked: true };
    expect(await declare(id, 'professional')).toEqual(locked);
    expect(await declare(id, 'non_professional')).toEqual(locked);
    expect(await declaration(id)).toEqual(locked);
    await expect(declare('nobody', 'professional')).rejects.toMatchObject(refused(404, 'not_found'));
  });
});
