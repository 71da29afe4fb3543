import { describe, expect, test } from 'vitest';
import { type Vitals, watchHealth } from '../../../src/platform/observe/health.ts';

const well: Vitals = {
  database: async () => {},
  tryWriting: async () => {},
  writeFailures: () => [],
  redis: () => true,
  loading: async () => null,
  draining: () => false,
};
const never = () => new Promise<never>(() => {});

describe('the health of a process', () => {
  test.each<[string, Partial<Vitals>, string, string]>([
    ['with all it needs', {}, 'ok', 'ready'],
    ['whose database is away', { database: () => Promise.reject(new Error('gone')) }, 'degraded', 'not_ready'],
    ['whose database does not answer', { database: never }, 'degraded', 'not_ready'],
    ['that cannot write', { writeFailures: () => ['read-only'] }, 'degraded', 'ready'],
    ['whose writes hang', { tryWriting: never }, 'degraded', 'ready'],
    // It counts limits for itself, and answers.
    ['whose Redis is away', { redis: () => false }, 'degraded', 'ready'],
    ['whose market has no session yet', { loading: async () => ({ percent: 3, hasLatest: false }) }, 'ok', 'not_ready'],
    ['whose history is loading', { loading: async () => ({ percent: 60, hasLatest: true }) }, 'ok', 'ready'],
    ['that was asked to end', { draining: () => true }, 'ok', 'draining'],
  ])('%s', async (_, vitals, status, readiness) => {
    const health = watchHealth({ ...well, ...vitals });
    expect([(await health.status()).status, await health.readiness()]).toEqual([status, readiness]);
  });

  test('says what is still loaded, and how much of it is there', async () => {
    const health = watchHealth({ ...well, loading: async () => ({ percent: 60, hasLatest: true }) });
    expect(await health.status()).toEqual({
      status: 'ok',
      loading: { what: 'history of the sample market', percent: 60 },
    });
  });

  test('puts one question at a time to a database that hangs, however many ask, and finds it again', async () => {
    let asked = 0;
    let answer = () => {};
    const database = () => {
      asked += 1;
      return new Promise<void>((resolve) => {
        answer = resolve;
      });
    };
    const health = watchHealth({ ...well, database });
    const all = await Promise.all(Array.from({ length: 20 }, () => health.status()));
    expect([new Set(all.map(({ status }) => status)), asked]).toEqual([new Set(['degraded']), 1]);
    answer();
    const again = health.status();
    answer();
    await expect.poll(() => asked).toBeGreaterThan(0);
    answer();
    expect(await again).toEqual({ status: 'ok' });
  });
});
