import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startBatchWriter } from '../../../src/access/usage/usage.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('what is gathered is written in a rhythm, a last time at the end, and never after it', async () => {
  const write = vi.fn(async () => true);
  const writer = startBatchWriter({ what: 'counts', everyMs: 2000, write, log: () => {}, wrote: () => {} });
  await vi.advanceTimersByTimeAsync(4000);
  expect(write).toHaveBeenCalledTimes(2);
  await writer.close();
  expect(write).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(write).toHaveBeenCalledTimes(3);
});
