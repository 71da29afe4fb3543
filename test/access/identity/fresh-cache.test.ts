import { beforeEach, describe, expect, it } from 'vitest';
import { freshCache } from '../../../src/access/identity/credential-cache.ts';

let time = 0;
let loads: string[] = [];
const rows = new Map<string, { n: number }>();
beforeEach(() => {
  time = 1000;
  loads = [];
  rows.clear();
});

const load = async (key: string) => {
  loads.push(key);
  await Promise.resolve();
  return rows.get(key) ?? null;
};
const cache = (max = 10) => freshCache({ max, ttlMs: 4000, absentTtlMs: 1000, elapsed: () => time }, load);

describe('a cache of what the store says', () => {
  it('asks once while a value is fresh, and again after', async () => {
    const { get } = cache();
    rows.set('a', { n: 1 });
    expect(await get('a')).toEqual({ n: 1 });
    rows.set('a', { n: 2 });
    time += 4000;
    expect(await get('a')).toEqual({ n: 1 });
    time += 1;
    expect(await get('a')).toEqual({ n: 2 });
    expect(loads).toEqual(['a', 'a']);
  });

  it('remembers for a shorter time that there is none', async () => {
    const { get } = cache();
    expect(await get('a')).toBeNull();
    expect(await get('a')).toBeNull();
    expect(loads).toHaveLength(1);
    rows.set('a', { n: 1 });
    time += 1001;
    expect(await get('a')).toEqual({ n: 1 });
  });

  it('asks once for callers at the same time', async () => {
    const { get } = cache();
    rows.set('a', { n: 1 });
    expect(await Promise.all([get('a'), get('a'), get('a')])).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
    expect(loads).toHaveLength(1);
  });

  it('forgets at once what is dropped', async () => {
    const { get, drop } = cache();
    rows.set('a', { n: 1 });
    await get('a');
    rows.delete('a');
    drop('a');
    expect(await get('a')).toBeNull();
  });

  it('does not remember what was being read while it was dropped', async () => {
    let finish: (value: { n: number }) => void = () => {};
    const slow = freshCache<{ n: number }>({ max: 10, ttlMs: 4000, absentTtlMs: 1000, elapsed: () => time }, (key) => {
      loads.push(key);
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    const before = slow.get('a');
    slow.drop('a');
    finish({ n: 1 });
    expect(await before).toEqual({ n: 1 });
    const after = slow.get('a');
    finish({ n: 2 });
    expect(await after).toEqual({ n: 2 });
    expect(loads).toHaveLength(2);
  });

  it('counts a value’s age from before it was read', async () => {
    const slow = freshCache<{ n: number }>(
      { max: 10, ttlMs: 4000, absentTtlMs: 1000, elapsed: () => time },
      async (key) => {
        loads.push(key);
        time += 3000;
        return { n: 1 };
      },
    );
    await slow.get('a');
    time += 1500;
    await slow.get('a');
    expect(loads).toHaveLength(2);
  });

  it('does not remember a failure', async () => {
    let fail = true;
    const broken = freshCache<{ n: number }>(
      { max: 10, ttlMs: 4000, absentTtlMs: 1000, elapsed: () => time },
      async () => {
        if (fail) throw new Error('gone');
        return { n: 1 };
      },
    );
    await expect(broken.get('a')).rejects.toThrow('gone');
    fail = false;
    expect(await broken.get('a')).toEqual({ n: 1 });
  });

  it('is bounded, and keys that do not exist evict none that do', async () => {
    const { get } = cache(3);
    rows.set('real', { n: 1 });
    await get('real');
    for (let i = 0; i < 100; i += 1) await get(`made-up-${i}`);
    loads = [];
    await get('real');
    expect(loads).toEqual([]);
    await get('made-up-0');
    expect(loads).toEqual(['made-up-0']);
  });
});
