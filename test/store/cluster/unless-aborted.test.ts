import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { unlessAborted } from '../../../src/store/cluster/replica.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('gives what the work gives, or fails as it does', async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
});

test('fails as soon as the signal is aborted, before or while the work is done', async () => {
  const stop = new AbortController();
  const pending = unlessAborted(new Promise(() => {}), stop.signal);
  stop.abort(new Error('gone'));
  await expect(pending).rejects.toThrow('gone');
  await expect(unlessAborted(Promise.resolve(1), stop.signal)).rejects.toThrow('gone');
});

test('keeps nothing of what the work gave while the signal lives on', async () => {
  const { signal } = new AbortController();
  const given = new WeakRef(await unlessAborted(Promise.resolve({}), signal));
  await turn();
  collect();
  expect(given.deref()).toBeUndefined();
  expect(signal.aborted).toBe(false);
});
