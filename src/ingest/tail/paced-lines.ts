import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';

const lineFeed = 0x0a;
const stampKey = Buffer.from('"sip_timestamp":"');
// Digits of an instant in epoch ms, of the nanoseconds that the stamp is.
const msDigits = 13;
/** Lines that are due within this time go on together. */
const stepMs = 50;
/** The clock is asked at least so often: it may be set, or the machine asleep. */
const longestWaitMs = 1000;

function stampMs(bytes: Buffer, start: number): number {
  const at = bytes.indexOf(stampKey, start) + stampKey.length;
  return Number(bytes.toString('latin1', at, at + msDigits));
}

/** Where the lines end whose stamps are not after `nowMs`. Lines are in the order of their stamps. */
function dueEnd(bytes: Buffer, nowMs: number): number {
  const last = bytes.lastIndexOf(lineFeed);
  if (last < 0) return 0;
  const startOfLast = last === 0 ? 0 : bytes.lastIndexOf(lineFeed, last - 1) + 1;
  if (stampMs(bytes, startOfLast) <= nowMs) return last + 1;
  let end = 0;
  while (end <= last && stampMs(bytes, end) <= nowMs) end = bytes.indexOf(lineFeed, end) + 1;
  return end;
}

/**
 * Lines of a live tape that is written already, let through as the clock passes their stamps: those that lie behind it
 * at once. Every line has a stamp, and they are in its order. Ends when stopped.
 */
export async function* pacedLines(
  source: AsyncIterable<Buffer>,
  { now, stop }: { now: Clock; stop: AbortSignal },
): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.includes(lineFeed)) {
      if (stop.aborted) return;
      const nowMs = now();
      const end = dueEnd(held, nowMs);
      if (end > 0) {
        yield held.subarray(0, end);
        held = held.subarray(end);
      } else {
        const waitMs = Math.min(longestWaitMs, Math.max(stepMs, stampMs(held, 0) - nowMs));
        await delay(waitMs, undefined, { signal: stop }).catch(() => {});
      }
    }
  }
}
