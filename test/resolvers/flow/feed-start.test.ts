import { describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { feedStartMs } from '../../../src/resolvers/flow/flow.ts';

// 2026-11-20 is a Friday, 2026-11-26 Thanksgiving, 2026-11-01 the end of daylight saving time.
describe('the live feed of large trades begins', () => {
  test.each([
    ['on a trading day at the same time on the one before', '2026-11-20', 720, '2026-11-19', 720],
    ['on Monday at the same time on Friday', '2026-11-23', 660, '2026-11-20', 660],
    ['on Monday before the open at the same time on Friday', '2026-11-23', 480, '2026-11-20', 480],
    ['on Saturday no later than Friday’s open', '2026-11-21', 660, '2026-11-20', 570],
    ['on Sunday night no later than Friday’s open', '2026-11-22', 1439, '2026-11-20', 570],
    ['on Saturday before the open at the same time on Friday', '2026-11-21', 480, '2026-11-20', 480],
    ['on a holiday no later than the open of the day before', '2026-11-26', 720, '2026-11-25', 570],
    ['after a holiday at the same time on the last trading day', '2026-11-27', 600, '2026-11-25', 600],
    ['over the end of daylight saving time at the same clock time', '2026-11-02', 600, '2026-10-30', 600],
  ])('%s', (_, date, minute, startDate, startMinute) => {
    const start = feedStartMs(exchangeInstant(date, minute));
    expect(new Date(start).toISOString()).toBe(new Date(exchangeInstant(startDate, startMinute)).toISOString());
  });
});
