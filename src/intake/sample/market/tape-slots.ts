import { minuteMs } from '../../../platform/runtime/clock.ts';
import { minuteWeight } from './prices.ts';
import type { Random } from './random.ts';

/**
 * Length of a slot, ms: simultaneous prints have one to themselves. Plans end in the slot's first half, so that prints
 * of two slots never form one event.
 */
export const slotMs = 2000;
const slotsInMinute = minuteMs / slotMs;

/** The session's time, assigned in slots: a holder (a contract, an underlying) gets each of its slots once. */
export interface TapeSlots {
  /** Creates a holder and returns its id. */
  holder(): number;
  /**
   * Takes a slot that is free for all of `holders`, weighted by trading volume, and returns its start, epoch ms; null
   * if none was found.
   */
  take(random: Random, holders: readonly number[]): number | null;
  /** Takes the first one free from 20 s to 4 min after an instant; null also if the session ends before. */
  takeAfter(random: Random, atMs: number, holders: readonly number[]): number | null;
}

/** The slots of a session of `minutes` that opens at `openMs`. */
export function tapeSlots(openMs: number, minutes: number): TapeSlots {
  const taken = new Set<number>();
  const cumulative = new Float64Array(minutes);
  let total = 0;
  for (let i = 0; i < minutes; i++) {
    total += minuteWeight(i, minutes);
    cumulative[i] = total;
  }
  const slots = minutes * slotsInMinute;
  let holders = 0;

  function minuteAt(share: number): number {
    let [low, high] = [0, minutes - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle]! > share * total) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  function reserve(slot: number, of: readonly number[]): number | null {
    for (const holder of of) if (taken.has(holder * slots + slot)) return null;
    for (const holder of of) taken.add(holder * slots + slot);
    return openMs + slot * slotMs;
  }

  return {
    holder: () => holders++,
    take(random, of) {
      for (let attempt = 0; attempt < 12; attempt++) {
        const slot = minuteAt(random.next()) * slotsInMinute + Math.floor(random.next() * slotsInMinute);
        const start = reserve(slot, of);
        if (start !== null) return start;
      }
      return null;
    },
    takeAfter(random, atMs, of) {
      const from = Math.ceil((atMs - openMs) / slotMs) + 10 + Math.floor(random.next() * 100);
      for (let slot = from; slot < Math.min(from + 20, slots); slot++) {
        const start = reserve(slot, of);
        if (start !== null) return start;
      }
      return null;
    },
  };
}
