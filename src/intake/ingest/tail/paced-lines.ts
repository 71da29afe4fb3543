import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../../platform/runtime/clock.ts';

const lineFeed = 0x0a;
const stampKey = Buffer.from('"sip_timestamp":"');
// Number of digits of a nanosecond stamp that are epoch ms.
const msDigits = 13;
/** Lines that are due within this time are sent together, ms. */
const stepMs = 50;
/** Maximum interval of clock reads, ms: the clock may be set, or the machine suspended. */
const longestWaitMs = 1000;

function stampMs(bytes: Buffer, start: number): number {
  const at = bytes.indexOf(stampKey, start) + stampKey.length;
  return Number(bytes.toString('latin1', at, at + msDigits));
}

/** End offset of the lines with stamps up to `nowMs`. Lines are in the order of their stamps. */
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
 * Replays lines of a recorded live tape as the clock reaches their stamps; earlier ones immediately. Every line has a
 * stamp, in ascending order. Ends when stopped.
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
