import { expect, test } from 'vitest';
import { comparableAnswers, firstDifference } from '../../scripts/generate/comparable-answers.ts';

const clock = '2026-11-20T07:30:00-05:00';
const answer = {
  headers: { etag: '"Cbs0Ca-43JthcQ-P9zSBewK7arp"', 'x-ratelimit-reset': '52', 'x-ratelimit-limit': '600' },
  id: '01M7WF106881TVZA1QAPRDQRXQ',
  prefix: 'tg_live_TeDc',
  asOf: Date.parse(clock) + 52_982,
  cost: { actual: 4, remaining: 5430 },
  spot: 636.75,
  sessionStart: Date.parse(clock) - 86_400_000,
};
const differences = (changes: object) =>
  firstDifference(
    comparableAnswers(JSON.stringify(answer), clock),
    comparableAnswers(JSON.stringify({ ...answer, ...changes }), clock),
  );

test('answers of two runs compare equal but for their ids, tags, rates and times', () => {
  expect(
    differences({
      headers: { etag: '"2jdI6D236EB8HYgVhP57eDbgkMc"', 'x-ratelimit-reset': '9', 'x-ratelimit-limit': '600' },
      id: '01M7WF20JA49QP6FWM4G4ZR1X2',
      prefix: 'tg_live_CxCa',
      asOf: Date.parse(clock) + 83_816,
      cost: { actual: 4, remaining: 5980 },
    }),
  ).toBeNull();
});

test.each([
  ['a figure', { spot: 636.76 }, '"spot": 636.75,', '"spot": 636.76,'],
  [
    'a time of the market',
    { sessionStart: 1795091400001 },
    '"sessionStart": 1795091400000',
    '"sessionStart": 1795091400001',
  ],
  [
    'a limit',
    { headers: { ...answer.headers, 'x-ratelimit-limit': '60' } },
    '"x-ratelimit-limit": "600"',
    '"x-ratelimit-limit": "60"',
  ],
  ['a field more', { more: 1 }, '"sessionStart": 1795091400000', '"sessionStart": 1795091400000,'],
])('%s is a difference', (_, changes, before, after) => {
  expect(differences(changes)).toEqual({ before, after });
});
