import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { dayMs } from '../../../src/platform/runtime/clock.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { type Opened, opened } from '../opened.ts';

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
    expect(here.lines).toEqual(['warning: usage counts could not be written; retrying: gone']);
    here.failWith(null);
    await usage.flush();
    expect(await stored()).toEqual(['2026-11-20 account 5']);

    // The transaction takes effect, and the answer to its commit is lost on the way.
    usage.count(id, 'account', 10);
    const query = pg.Client.prototype.query as (...args: unknown[]) => Promise<unknown>;
    let isLost = false;
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const answered = query.apply(this, args);
      if (args[0] !== 'commit' || isLost) return answered;
      isLost = true;
      return answered.then(() => Promise.reject(new Error('connection lost')));
    } as never);
    await usage.flush();
    spy.mockRestore();
    expect(isLost).toBe(true);
    usage.count(id, 'account', 100);
    await usage.flush();
    expect(await stored()).toEqual(['2026-11-20 account 115']);
  });

  it('waits in a bounded number of rows while it cannot be written; known rows go on counting', () => {
    const { usage } = here.access;
    const most = 100_000;
    for (let account = 0; account <= most; account += 1) usage.count(`many-${account}`, 'account');
    usage.count('many-0', 'account');
    expect(usage.waiting()).toEqual({ rows: most, lost: 1 });
    expect(here.lines).toHaveLength(1);
    // They are not for the store.
    here.failWith(new Error('gone'));
  });

  it('that cannot be written when all ends is owned up to', async () => {
    here.access.usage.count(id, 'account');
    here.failWith(new Error('gone'));
    await here.access.close();
    expect(here.lines.at(-1)).toBe('warning: usage counts of the last seconds are lost');
  });
});
