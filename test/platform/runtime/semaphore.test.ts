import { expect, test } from 'vitest';
import { Semaphore } from '../../../src/platform/runtime/semaphore.ts';

test('no more hold it at a time than it allows, in the order in which they came, and one that fails leaves too', async () => {
  const semaphore = new Semaphore(2);
  const begun: number[] = [];
  const ends: ((failed?: Error) => void)[] = [];
  const works = [0, 1, 2, 3].map((each) =>
    semaphore.run(() => {
      begun.push(each);
      return new Promise<void>((resolve, reject) => {
        ends[each] = (failed) => (failed ? reject(failed) : resolve());
      });
    }),
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(begun).toEqual([0, 1]);
  ends[1]!(new Error('broken'));
  await expect(works[1]).rejects.toThrow('broken');
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  ends[0]!();
  await settle();
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]!();
  ends[3]!();
  await Promise.all([works[0], works[2], works[3]]);
});
