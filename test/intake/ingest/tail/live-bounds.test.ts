import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { methodologySettings, tapeSettings } from '../../../../src/core/analytics/methodology.ts';
import { OptionTape } from '../../../../src/core/analytics/session/option-tape.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { liveHoldMs, visibleWithinMs } from '../../../../src/intake/ingest/tail/live-session.ts';
import { storeForThisTest } from '../../../support/store.ts';
import { print, tapeSession, tapeStart } from '../../../support/tapes/option-tape.ts';

/*
 * That a print is visible within a second is the sum of bounds that each are held, none of them by the wall clock of
 * the machine that runs the tests: how long a print waits by event time, when the follower writes by its own clock, and
 * what is left for a write, which the benchmarks measure.
 */

test('what a print waits for, and two writes, are a second together', () => {
  expect(visibleWithinMs).toBeLessThanOrEqual(1000);
});

test('a print is in its bar and its cross-section when event time is the hold beyond it', () => {
  const tape = new OptionTape({ session: tapeSession, onChange: () => {}, holdMs: liveHoldMs });
  tape.print(print(0, 1000, 1, 302));
  tape.advance(tapeStart + liveHoldMs);
  expect(tape.crossSections.changed()).toEqual([]);
  tape.advance(tapeStart + liveHoldMs + 1);
  expect(tape.crossSections.changed()).toHaveLength(1);
  expect(tape.bars.takeChanged()).toHaveLength(1);
});

test('an event is told when event time is the hold and the longest gap beyond its last print, of every kind', () => {
  for (const conditions of [[209], [219], [232]]) {
    const told: number[] = [];
    const tape = new OptionTape({
      session: tapeSession,
      onChange: () => told.push(tape.reachedMs - tapeStart),
      holdMs: liveHoldMs,
    });
    tape.print(print(0, 1000, 1, 302, { conditions }));
    tape.print(print(40, 1000, 1, 316, { conditions }));
    for (let ms = 41; ms < 1000; ms++) tape.advance(tapeStart + ms);
    expect(told.length).toBeGreaterThan(0);
    expect(Math.max(...told)).toBeLessThanOrEqual(40 + liveHoldMs + tapeSettings.sweepGapMs + 1);
  }
});

test('what came is written when the clock is the interval beyond the first line that waits, and with it all that came since', async () => {
  const store = await storeForThisTest();
  const minuteMs = 60_000;
  const start = exchangeInstant('2026-11-16', 600);
  let nowMs = start;
  let asked = 0;
  const now = () => {
    asked++;
    return nowMs;
  };
  const committed: number[] = [];
  const stop = new AbortController();
  const tape = new Readable({ read() {} });
  const line = (ms: number) => `${JSON.stringify({ type: 'time', sip_timestamp: `${start + ms}000000` })}\n`;
  const following = follow(store, tape, {
    source: 'test',
    fromStart: true,
    everyMs: minuteMs,
    stop: stop.signal,
    now,
    onBadLine: () => {},
    gammaSource: 'solve',
    rate: methodologySettings.usualRate,
    solveMost: 0,
    onCommit: async (pieces) => void committed.push(pieces),
  });
  tape.push(line(1));
  // Asked twice for the bounds of times, then for the first line's date, for when a write is due, and whether it is.
  await vi.waitFor(() => expect(asked).toBeGreaterThanOrEqual(5), 20_000);
  // The interval is a minute: on the machine's clock it does not pass in this test.
  expect(committed).toEqual([]);
  nowMs += minuteMs;
  tape.push(line(2));
  await vi.waitFor(() => expect(committed).toHaveLength(1), 20_000);
  stop.abort();
  expect((await following).throughLine).toBe(2);
});
