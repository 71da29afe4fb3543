import { expect, test } from 'vitest';
import { marketClock } from '../../../src/core/domain/market-clock.ts';
import { newYork } from '../../support/option-market.ts';

test.each([
  [
    'before the open',
    '2026-11-23',
    '09:29',
    { sessionDate: '2026-11-20', isOpen: false, next: ['2026-11-23', '09:30'] },
  ],
  ['at the open', '2026-11-23', '09:30', { sessionDate: '2026-11-23', isOpen: true, next: ['2026-11-24', '09:30'] }],
  ['at the close', '2026-11-23', '16:00', { sessionDate: '2026-11-23', isOpen: false, next: ['2026-11-24', '09:30'] }],
  ['on a Sunday', '2026-11-22', '12:00', { sessionDate: '2026-11-20', isOpen: false, next: ['2026-11-23', '09:30'] }],
  ['on a holiday', '2026-11-26', '12:00', { sessionDate: '2026-11-25', isOpen: false, next: ['2026-11-27', '09:30'] }],
  [
    'after a half day',
    '2026-11-27',
    '13:00',
    { sessionDate: '2026-11-27', isOpen: false, next: ['2026-11-30', '09:30'] },
  ],
] as const)('the market %s', (_name, date, clock, { sessionDate, isOpen, next }) => {
  const nowMs = newYork(date, clock);
  expect(marketClock(nowMs)).toMatchObject({ nowMs, sessionDate, isOpen, nextOpenMs: newYork(next[0], next[1]) });
});
