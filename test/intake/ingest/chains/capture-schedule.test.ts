import { describe, expect, it } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import {
  backOffMs,
  type CaptureSchedule,
  isCaptureTime,
  nextCapture,
} from '../../../../src/intake/ingest/chains/capture-chains.ts';
import { minuteMs } from '../../../../src/platform/runtime/clock.ts';

const schedule: CaptureSchedule = { everyMs: 5 * minuteMs, delayMs: 0, always: false };
const at = (date: string, hour: number, minute = 0) => exchangeInstant(date, hour * 60 + minute);

/** Every capture from `fromMs` before `untilMs`. */
function captures(fromMs: number, untilMs: number, given: Partial<CaptureSchedule> = {}): number[] {
  const found: number[] = [];
  for (let due = nextCapture(fromMs, { ...schedule, ...given }); due < untilMs; ) {
    found.push(due);
    due = nextCapture(due + 1, { ...schedule, ...given });
  }
  return found;
}

describe('the times of captures', () => {
  it('are 78 from the open of a session, 42 of a half day, none of a holiday and a weekend', () => {
    const day = (date: string) => captures(at(date, 0), at(date, 23, 59));
    const full = day('2024-11-27');
    expect(full).toHaveLength(78);
    expect([full[0], full.at(-1)]).toEqual([at('2024-11-27', 9, 30), at('2024-11-27', 15, 55)]);
    expect(day('2024-11-28')).toEqual([]);
    expect(day('2024-11-29')).toHaveLength(42);
    expect(day('2024-11-30')).toEqual([]);
  });

  it('go on at the next session’s open, over a clock change', () => {
    expect(nextCapture(at('2024-11-01', 15, 55) + 1, schedule)).toBe(at('2024-11-04', 9, 30));
    expect(nextCapture(at('2024-03-08', 16), schedule)).toBe(at('2024-03-11', 9, 30));
  });

  it('come as much later as the source is late', () => {
    const late = captures(at('2024-11-27', 0), at('2024-11-27', 23, 59), { delayMs: 15 * minuteMs });
    expect(late).toHaveLength(78);
    expect([late[0], late.at(-1)]).toEqual([at('2024-11-27', 9, 45), at('2024-11-27', 16, 10)]);
    expect(isCaptureTime(at('2024-11-27', 16, 10), { ...schedule, delayMs: 15 * minuteMs })).toBe(true);
    expect(isCaptureTime(at('2024-11-27', 16, 10), schedule)).toBe(false);
    expect(isCaptureTime(at('2024-11-27', 9, 40), { ...schedule, delayMs: 15 * minuteMs })).toBe(false);
  });

  it('are at every multiple, whatever the hour, when asked for always', () => {
    const sunday = at('2024-11-24', 3, 2);
    expect(isCaptureTime(sunday, { ...schedule, always: true })).toBe(true);
    expect(nextCapture(sunday, { ...schedule, always: true })).toBe(at('2024-11-24', 3, 5));
  });
});

describe('the pause after failures', () => {
  it('doubles to five minutes, less up to half of it by chance', () => {
    expect([1, 2, 3, 4].map((failures) => backOffMs(failures, 0))).toEqual([2000, 4000, 8000, 16_000]);
    expect(backOffMs(1000, 0)).toBe(300_000);
    expect(backOffMs(1000, 1)).toBe(150_000);
  });
});
