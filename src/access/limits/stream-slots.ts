import { rateLimited } from '../../wire/failure.ts';
import type { Caller } from '../caller.ts';

/** Counts the streams open to each key, or account for sessions, in this process. */
export interface StreamSlots {
  /** Takes a slot, and returns the function that frees it; 429 when none is free. */
  take(caller: Pick<Caller, 'keyId' | 'accountId'>): () => void;
}

/** Makes the counter; `max` streams at a time. */
export function openStreamSlots(max: number): StreamSlots {
  const open = new Map<string, number>();
  return {
    take({ keyId, accountId }) {
      const who = keyId === null ? `account:${accountId}` : `key:${keyId}`;
      const count = open.get(who) ?? 0;
      if (count >= max) throw rateLimited(`At most ${max} streams at a time with one credential.`, 5);
      open.set(who, count + 1);
      let given = false;
      return () => {
        if (given) return;
        given = true;
        const left = open.get(who)! - 1;
        if (left > 0) open.set(who, left);
        else open.delete(who);
      };
    },
  };
}
