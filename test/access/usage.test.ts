import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { dayMs } from '../../src/domain/units.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { type Opened, opened } from './opened.ts';

let store: TestStore;
let here: Opened;
let accounts = 0;
let id = '';
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());
beforeEach(async () => {
  accounts += 1;
  id = `account-${accounts}`;
  here = await opened(store);
});
afterEach(() => here.access.close());

const stored = async () => {
  const { rows } = await store.pool.query('select date, scope_group, count from usage_counts where account_id = $1', [
    id,
  ]);
  return rows.map(({ date, scope_group, count }) => `${date} ${scope_group} ${count}`).sort();
};

describe('usage', () => {
  it('is nothing before the first request', async () => {
    expect(await here.access.usage.read(id)).toEqual([]);
  });

  it('is counted by account, UTC date and group, and read at once', async () => {
    const { usage } = here.access;
    usage.count(id, 'market.live');
    usage.count(id, 'market.live', 3);
    usage.count(id, 'account');
    usage.count('other', 'account');
    here.pass(9 * 3_600_000); // midnight UTC
    usage.count(id, 'account');
    expect((await usage.read(id)).map(({ date, scopeGroup, count }) => [date, scopeGroup, count])).toEqual([
      ['2026-11-20', 'account', 1],
      ['2026-11-20', 'market.live', 4],
      ['2026-11-21', 'account', 1],
    ]);
  });

  it('is read over 30 days, today among them', async () => {
    const { usage } = here.access;
    usage.count(id, 'account');
    here.pass(29 * dayMs);
    expect(await usage.read(id)).toHaveLength(1);
    here.pass(dayMs);
    expect(await usage.read(id)).toHaveLength(0);
  });

  it('costs no statement to count, and is written on close', async () => {
    here.statements();
    for (let i = 0; i < 1000; i += 1) here.access.usage.count(id, 'account');
    expect(here.statements()).toEqual([]);
    await here.access.close();
    expect(await stored()).toEqual(['2026-11-20 account 1000']);
    const { rows } = await store.pool.query("select key from store_facts where key like 'usage-batch%'");
    expect(rows).toEqual([]);
  });

  it('is written every few seconds', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const ticking = await opened(store);
    ticking.access.usage.count(id, 'account');
    vi.advanceTimersByTime(5000);
    vi.useRealTimers();
    await expect.poll(stored).toEqual(['2026-11-20 account 1']);
    await ticking.access.close();
  });

  it('is neither lost nor counted twice when writing fails, before or after it took effect', async () => {
    const { usage } = here.access;
    usage.count(id, 'account', 2);
    here.failWith(new Error('gone'));
    await usage.flush();
    usage.count(id, 'account', 3);
    await usage.flush();
    expect(await stored()).toEqual([]);
    expect(here.lines).toEqual(['warning: usage counts could not be written and will be tried again: gone']);
    here.failWith(null);
    await usage.flush();
    expect(await stored()).toEqual(['2026-11-20 account 5']);

    // The statement takes effect, and its answer is lost on the way.
    usage.count(id, 'account', 10);
    const query = store.pool.query.bind(store.pool);
    const spy = vi.spyOn(store.pool, 'query').mockImplementationOnce((async (...args: Parameters<typeof query>) => {
      await query(...args);
      throw new Error('connection lost');
    }) as never);
    await usage.flush();
    spy.mockRestore();
    usage.count(id, 'account', 100);
    await usage.flush();
    expect(await stored()).toEqual(['2026-11-20 account 115']);
  });

  it('that cannot be written when all ends is owned up to', async () => {
    here.access.usage.count(id, 'account');
    here.failWith(new Error('gone'));
    await here.access.close();
    expect(here.lines.at(-1)).toBe('warning: usage counts of the last seconds are lost');
  });
});
