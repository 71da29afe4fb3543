import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { failureLines, lineBudget, unadmittedLines } from '../../../src/platform/observe/request-log.ts';
import { testApp } from '../../support/app.ts';

describe('log lines that clients can cause', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const budget = (perAddress: number, inAll: number) => {
    const warn = vi.fn();
    return { warn, take: lineBudget({ warn } as never, { perAddress, inAll }) };
  };
  const taken = (take: (address: string) => boolean, address: string, times: number) =>
    Array.from({ length: times }, () => take(address)).filter(Boolean).length;

  test('are so many a minute for each address and in all; the others are one line with their number', () => {
    const { take, warn } = budget(3, 5);
    expect([taken(take, 'a', 10), taken(take, 'b', 1), taken(take, 'c', 10), taken(take, 'd', 1)]).toEqual([
      3, 1, 1, 0,
    ]);
    expect(warn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(60_000);
    expect(warn.mock.calls).toEqual([[{ suppressed: 17 }, expect.stringMatching(/suppressed/)]]);
    expect(taken(take, 'a', 10)).toBe(3);
  });

  test('say nothing of a minute in which none was suppressed', () => {
    const { take, warn } = budget(3, 5);
    expect(taken(take, 'a', 3)).toBe(3);
    vi.advanceTimersByTime(180_000);
    expect(warn).not.toHaveBeenCalled();
  });
});

async function floodedApp(LOG_LEVEL: string) {
  const logLines: string[] = [];
  const app = await testApp({ env: { LOG_LEVEL }, logLines });
  onTestFinished(() => app.close());
  const flood = async (times: number, send: () => Promise<unknown>) => {
    for (let sent = 0; sent < times; sent += 50) await Promise.all(Array.from({ length: 50 }, send));
  };
  return { app, logLines, flood };
}

test('an anonymous client writes so many lines a minute, whatever the level; admitted requests keep theirs', async () => {
  const { app, logLines, flood } = await floodedApp('debug');
  const credential = await app.key();
  await flood(unadmittedLines.perAddress + 100, () => app.get('/v2/nowhere', { credential: null }));
  await app.get('/v2/symbols/SPY', { credential });
  await expect.poll(() => logLines.some((line) => line.includes('/v2/symbols/:symbol'))).toBe(true);
  expect(logLines.filter((line) => line.includes('"route":"other"'))).toHaveLength(unadmittedLines.perAddress);
});

test('a client whose requests fail here writes so many lines a minute', async () => {
  const { app, logLines, flood } = await floodedApp('info');
  const credential = await app.session();
  await app.get('/v2/watchlists', { credential });
  await app.store.pool.query('alter table watchlists rename to watchlists_away');
  await flood(failureLines.perAddress + 50, () => app.get('/v2/watchlists', { credential }));
  expect(logLines).toHaveLength(failureLines.perAddress);
});
