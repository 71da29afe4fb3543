import { rateLimited } from '../../platform/wire/failure.ts';
import type { Caller } from '../caller.ts';

/** Counts the open streams of each key, or account for sessions, in this process. */
export interface StreamSlots {
  /** Takes a slot. Returns the function that frees it. Throws 429 if none is free. */
  take(caller: Pick<Caller, 'keyId' | 'accountId'>): () => void;
}

/** Creates the counter of at most `max` concurrent streams. */
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
