import { expect, test } from 'vitest';
import { createSlots } from '../../src/graphql/plugins/execution.ts';

const slots = (patienceMs = 60_000) => createSlots({ total: 3, each: 2, waiting: 2, patienceMs });

test('a caller has its share, whoever waits has the next, and more than may wait are refused', async () => {
  const { take, counts } = slots();
  const [first, second] = [await take('a'), await take('a')];
  const third = take('a');
  const fourth = take('a');
  expect(await take('a')).toBeNull();
  expect(counts()).toEqual({ taken: 2, waiting: 2 });
  const other = await take('b');
  expect(counts()).toEqual({ taken: 3, waiting: 2 });
  first!();
  first!();
  expect(counts()).toEqual({ taken: 3, waiting: 1 });
  (await third)!();
  second!();
  other!();
  (await fourth)!();
  expect(counts()).toEqual({ taken: 0, waiting: 0 });
});

test('who waits too long, or is not there any more, is told that there is none', async () => {
  const impatient = slots(5);
  await Promise.all([impatient.take('a'), impatient.take('a')]);
  expect(await impatient.take('a')).toBeNull();
  const patient = slots();
  await Promise.all([patient.take('a'), patient.take('a')]);
  let giveUp = () => {};
  const waiting = patient.take('a', (call) => {
    giveUp = call;
    return () => {};
  });
  giveUp();
  expect(await waiting).toBeNull();
  expect(patient.counts()).toEqual({ taken: 2, waiting: 0 });
});
