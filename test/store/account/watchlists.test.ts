import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/platform/wire/failure.ts';
import {
  deleteWatchlist,
  listWatchlists,
  putWatchlist,
  watchlistLimits,
} from '../../../src/store/account/watchlists.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const failure = async (promise: Promise<unknown>) => {
  const error = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof Failure)) throw new Error('expected a failure', { cause: error });
  return { status: error.status, code: error.code, parameter: error.details?.parameter };
};

describe('watchlists', () => {
  it('are replaced by writing the same id again, and keep their place', async () => {
    expect(await listWatchlists(store, 'ana')).toEqual([]);
    await putWatchlist(store, 'ana', { id: 'b', name: 'First', symbols: ['SPY', 'QQQ'] }, 1);
    await putWatchlist(store, 'ana', { id: 'a', name: 'Second', symbols: [] }, 2);
    const changed = { id: 'b', name: 'Renamed', symbols: ['AAPL'] };
    expect(await putWatchlist(store, 'ana', changed, 3)).toEqual(changed);
    expect(await listWatchlists(store, 'ana')).toEqual([changed, { id: 'a', name: 'Second', symbols: [] }]);
  });

  it('belong to their account', async () => {
    await putWatchlist(store, 'bo', { id: 'x', name: 'Mine', symbols: [] }, 1);
    expect(await deleteWatchlist(store, 'ana', 'x')).toBe(false);
    await putWatchlist(store, 'cy', { id: 'x', name: 'Other', symbols: [] }, 1);
    expect(await listWatchlists(store, 'bo')).toEqual([{ id: 'x', name: 'Mine', symbols: [] }]);
    expect(await deleteWatchlist(store, 'bo', 'x')).toBe(true);
    expect(await deleteWatchlist(store, 'bo', 'x')).toBe(false);
    expect(await listWatchlists(store, 'cy')).toHaveLength(1);
  });

  it('are one when the same one is written many times at once', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => putWatchlist(store, 'di', { id: 'x', name: `${i}`, symbols: [] }, i)),
    );
    expect(await listWatchlists(store, 'di')).toHaveLength(1);
  });

  it('are at most 200, however many are written at once; those there can still be changed', async () => {
    for (let i = 0; i < watchlistLimits.lists - 3; i += 1) {
      await putWatchlist(store, 'many', { id: `l${i}`, name: '', symbols: [] }, i);
    }
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => putWatchlist(store, 'many', { id: `n${i}`, name: '', symbols: [] }, 999)),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(3);
    expect(await listWatchlists(store, 'many')).toHaveLength(200);
    expect(await failure(putWatchlist(store, 'many', { id: 'more', name: '', symbols: [] }, 1))).toMatchObject({
      status: 400,
    });
    expect(await putWatchlist(store, 'many', { id: 'l0', name: 'changed', symbols: [] }, 1)).toMatchObject({
      name: 'changed',
    });
    await deleteWatchlist(store, 'many', 'l1');
    await putWatchlist(store, 'many', { id: 'more', name: '', symbols: [] }, 1);
  });

  it('that cannot be stored are 400, naming what is wrong', async () => {
    const good = { id: 'x', name: 'x', symbols: ['SPY'] };
    const put = (change: Partial<typeof good>) => failure(putWatchlist(store, 'ey', { ...good, ...change }, 1));
    const named = (parameter: string) => ({ status: 400, code: 'invalid_params', parameter });
    expect(await put({ symbols: Array.from({ length: 501 }, () => 'SPY') })).toEqual(named('symbols'));
    expect(await put({ id: '' })).toEqual(named('id'));
    expect(await put({ id: 'x'.repeat(129) })).toEqual(named('id'));
    expect(await put({ id: 'a\u0000' })).toEqual(named('id'));
    expect(await put({ name: 'a\u0000' })).toEqual(named('name'));
    expect(await put({ name: 'x'.repeat(501) })).toEqual(named('name'));
    expect(await deleteWatchlist(store, 'ey', 'a\u0000')).toBe(false);
    const full = { ...good, id: '😀'.repeat(64), symbols: Array.from({ length: 500 }, () => 'SPY') };
    expect(await putWatchlist(store, 'ey', full, 1)).toEqual(full);
  });
});
