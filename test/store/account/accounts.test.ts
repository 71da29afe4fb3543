import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  declareClassification,
  ensureAccount,
  findAccount,
  listAccounts,
  setAccount,
} from '../../../src/store/account/accounts.ts';
import { ensureMetadata } from '../../../src/store/rows/metadata.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

describe('an account', () => {
  it('begins on the lowest tiers, with nothing declared', async () => {
    const account = {
      id: 'new',
      siteTier: 'free',
      apiTier: 'free',
      classification: null,
      classifiedAt: null,
      createdAt: 5,
    };
    expect(await findAccount(store, 'new')).toBeNull();
    expect(await ensureAccount(store, 'new', 5)).toEqual(account);
    expect(await ensureAccount(store, 'new', 6)).toEqual(account);
    expect(await findAccount(store, 'new')).toEqual(account);
  });

  it('keeps what a change does not name', async () => {
    await setAccount(store, 'kept', { siteTier: 'pro', classification: 'non_professional' }, 1);
    expect(await setAccount(store, 'kept', { apiTier: 'basic' }, 2)).toEqual({
      id: 'kept',
      siteTier: 'pro',
      apiTier: 'basic',
      classification: 'non_professional',
      classifiedAt: 1,
      createdAt: 1,
    });
    expect(await setAccount(store, 'kept', { classification: null }, 3)).toMatchObject({
      classification: null,
      classifiedAt: null,
      siteTier: 'pro',
    });
  });

  it('is made once, however many make it at once', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, (_, i) => ensureAccount(store, 'raced', i)));
    expect(new Set(made.map((account) => account.createdAt)).size).toBe(1);
  });

  it('is listed by id', async () => {
    const ids = (await listAccounts(store)).map((account) => account.id);
    expect(ids).toEqual([...ids].sort());
    expect(ids).toContain('new');
  });
});

describe('a declaration', () => {
  it('keeps its time when it is repeated', async () => {
    await ensureAccount(store, 'twice', 1);
    await declareClassification(store, 'twice', 'non_professional', 2);
    expect(await declareClassification(store, 'twice', 'non_professional', 3)).toMatchObject({ classifiedAt: 2 });
  });

  it('of being professional is final, also when both come at once', async () => {
    await ensureAccount(store, 'final', 1);
    await declareClassification(store, 'final', 'non_professional', 2);
    const declared = { classification: 'professional', classifiedAt: 3 };
    expect(await declareClassification(store, 'final', 'professional', 3)).toMatchObject(declared);
    expect(await declareClassification(store, 'final', 'non_professional', 4)).toMatchObject(declared);
    expect(await declareClassification(store, 'final', 'professional', 5)).toMatchObject(declared);
    for (let i = 0; i < 10; i += 1) {
      await ensureAccount(store, `raced-${i}`, 1);
      await Promise.all([
        declareClassification(store, `raced-${i}`, 'professional', 2),
        declareClassification(store, `raced-${i}`, 'non_professional', 2),
      ]);
      expect((await findAccount(store, `raced-${i}`))?.classification).toBe('professional');
    }
  });

  it('of nobody is null', async () => {
    expect(await declareClassification(store, 'nobody', 'professional', 1)).toBeNull();
  });
});

describe('a kept fact', () => {
  it('is the first that was kept, whoever asks', async () => {
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((value) => ensureMetadata(store, 'raced', value)));
    expect(new Set(answers).size).toBe(1);
    expect(await ensureMetadata(store, 'raced', 'e')).toBe(answers[0]);
  });
});
