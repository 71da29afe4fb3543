import type { Clock } from '../../platform/runtime/clock.ts';

/** A clock that reads `startMs` now and advances with `now`. */
export function clockFrom(startMs: number, now: Clock): Clock {
  const offset = startMs - now();
  return () => now() + offset;
}
