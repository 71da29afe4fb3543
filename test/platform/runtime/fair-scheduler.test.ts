import { setImmediate as nextLoop } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Lane } from '../../../src/platform/runtime/event-loop.ts';

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => vi.useRealTimers());

const lane = () => new Lane({ now: () => nowMs });

/** Time passes, and the loop goes round a few times. */
async function pass(ms: number): Promise<void> {
  nowMs += ms;
  vi.advanceTimersByTime(ms);
  for (let i = 0; i < 3; i++) await nextLoop();
}

/** Asks for turns and notes in `ran` whose came. */
function asks(of: ReturnType<typeof lane>, caller: string, turns: number, ran: string[]): void {
  for (let i = 0; i < turns; i++) void of.turn(caller).then(() => ran.push(caller));
}

test('one piece runs in an iteration of the event loop', async () => {
  const heavy = lane();
  const ran: string[] = [];
  asks(heavy, 'a', 5, ran);
  expect(heavy.stats()).toEqual({ waiting: 5, pieces: 0 });
  for (let i = 1; i <= 5; i++) {
    await nextLoop();
    expect(ran).toHaveLength(i);
  }
});

test('callers take turns, however much each of them asks for', async () => {
  const heavy = lane();
  const ran: string[] = [];
  asks(heavy, 'many', 6, ran);
  asks(heavy, 'few', 2, ran);
  asks(heavy, 'one', 1, ran);
  for (let i = 0; i < 10; i++) await nextLoop();
  expect(ran).toEqual(['many', 'few', 'one', 'many', 'few', 'many', 'many', 'many', 'many']);
});

test('a caller that comes back at once stands behind the others', async () => {
  const heavy = lane();
  const ran: string[] = [];
  const again = async (caller: string) => {
    for (let i = 0; i < 4; i++) {
      await heavy.turn(caller);
      ran.push(caller);
    }
  };
  await Promise.all([again('a'), again('b'), again('c')]);
  expect(ran.join('')).toBe('abcabcabcabc');
});

test('heavy pieces wait for light requests, and run as soon as those have ended', async () => {
  const heavy = lane();
  const ran: string[] = [];
  asks(heavy, 'a', 1, ran);
  await pass(1);
  expect(ran).toEqual(['a']);
  const ends = [heavy.light(), heavy.light()];
  asks(heavy, 'a', 1, ran);
  await pass(5);
  ends[0]!();
  await pass(1);
  expect(ran).toEqual(['a']);
  ends[1]!();
  ends[1]!();
  await pass(0);
  expect(ran).toEqual(['a', 'a']);
});

test('however many light requests there are, a heavy piece runs every 10 ms', async () => {
  const heavy = lane();
  const ran: string[] = [];
  asks(heavy, 'a', 1000, ran);
  for (let i = 0; i < 100; i++) {
    // One light request after the other.
    const end = heavy.light();
    await pass(1);
    end();
    heavy.light();
  }
  expect(ran.length).toBeGreaterThanOrEqual(9);
  expect(ran.length).toBeLessThanOrEqual(11);
});

test('a light request that waits for something else holds heavy work back for 50 ms, no longer', async () => {
  const heavy = lane();
  const ran: string[] = [];
  heavy.light();
  await pass(60);
  asks(heavy, 'a', 20, ran);
  for (let i = 0; i < 20; i++) await nextLoop();
  expect(ran).toHaveLength(20);
});
