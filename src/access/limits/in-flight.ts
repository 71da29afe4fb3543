import { setImmediate } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { oncePerRequest, type SharedWork } from '../../platform/runtime/once-per-request.ts';
import { rateLimited } from '../../platform/wire/failure.ts';
import type { Caller } from '../caller.ts';
import type { RedisLink } from './redis-link.ts';

/** Maximum number of stock-bar requests that one API key may have in flight (spec 8). */
export const maxInFlight = 2;

/** A slot expires when its process has not renewed it for this long, ms, so that a killed process frees its slots. */
const leaseMs = 15_000;
const renewMs = 5_000;

/** Counts the stock-bar requests in flight, over REST, GraphQL and all processes together. */
export interface InFlight {
  /**
   * Takes a slot. Returns the function that frees it, which is idempotent; call it also when the client disconnects.
   * Null = over the limit: answer 429. Sessions have no limit.
   */
  acquire(caller: Caller): Promise<(() => void) | null>;
  close(): void;
}

/** A request that may take a slot. */
export interface SlotRequest {
  caller: Caller;
  /** Slots that it takes once. */
  taken: SharedWork;
  access: { inFlight: Pick<InFlight, 'acquire'> };
  /** Registers a clean-up that runs when the request ends in any way. */
  onEnd: (undo: () => void) => void;
}

/**
 * Takes a slot for a request of an API key, once, until the request ends (spec 8). Throws 429 if none is free. Sessions
 * have no limit.
 */
export async function takeInFlightSlot(request: SlotRequest): Promise<void> {
  const { caller, access, taken, onEnd } = request;
  if (caller.kind !== 'key') return;
  await oncePerRequest(taken, 'stock-bars-in-flight', async () => {
    const release = await access.inFlight.acquire(caller);
    if (!release) throw tooManyInFlight();
    onEnd(release);
    // Requests that arrived together count as in flight together, even if an answer is cached: the others are read
    // first.
    await setImmediate();
  });
}

/** 429 with `Retry-After: 1` (spec 7). */
function tooManyInFlight() {
  return rateLimited(`At most ${maxInFlight} stock-bar requests at a time with one API key.`, 1);
}

// One atomic step, by Redis's own clock: removes expired slots, and takes one if there is room.
const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;

const renewScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

interface Lease {
  key: string;
  id: string;
}

/** Leases in Redis, which all processes share. */
function sharedLeases(link: RedisLink, keyPrefix: string) {
  const held = new Set<Lease>();
  const renew = async (redis: Redis): Promise<object> =>
    Promise.all([...held].map(({ key, id }) => redis.eval(renewScript, 1, key, id, leaseMs)));
  const timer = setInterval(() => {
    if (held.size > 0) void link.attempt(renew);
  }, renewMs);
  timer.unref();

  return {
    /** Takes a lease; `full` if there is no room; null if Redis is not reachable. */
    async take(keyId: string): Promise<Lease | 'full' | null> {
      const lease = { key: `${keyPrefix}in-flight:${keyId}`, id: crypto.randomUUID() };
      const answer = await link.attempt(async (redis) => ({
        taken: await redis.eval(takeScript, 1, lease.key, lease.id, maxInFlight, leaseMs),
      }));
      if (answer === null) return null;
      if (answer.taken !== 1) return 'full';
      held.add(lease);
      return lease;
    },
    give(lease: Lease): void {
      held.delete(lease);
      // If this is lost, the lease expires because it is no longer renewed.
      void link.attempt(async (redis) => ({ removed: await redis.zrem(lease.key, lease.id) }));
    },
    close: () => clearInterval(timer),
  };
}

/** Takes a slot for a key. Returns the function that frees it, which is idempotent. Null = no slot is free. */
export type TakeSlot = (keyId: string) => Promise<(() => void) | null>;

/** Counts slots in the memory of this process. */
export function ownSlots(): TakeSlot {
  const held = new Map<string, number>();
  return async (keyId) => {
    const count = held.get(keyId) ?? 0;
    if (count >= maxInFlight) return null;
    held.set(keyId, count + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const left = (held.get(keyId) ?? 1) - 1;
      if (left > 0) held.set(keyId, left);
      else held.delete(keyId);
    };
  };
}

/**
 * Creates the counter. The `local` count, by default that of this process, always applies; Redis, if reachable, adds
 * the other processes.
 */
export function openInFlight(link: RedisLink | null, keyPrefix: string, local: TakeSlot = ownSlots()): InFlight {
  const shared = link && sharedLeases(link, keyPrefix);
  return {
    async acquire({ keyId }) {
      if (keyId === null) return () => {};
      const leave = await local(keyId);
      if (!leave) return null;
      const lease = (await shared?.take(keyId)) ?? null;
      if (lease === 'full') {
        leave();
        return null;
      }
      let released = false;
      return () => {
        if (released) return;
        released = true;
        leave();
        if (lease) shared?.give(lease);
      };
    },
    close: () => shared?.close(),
  };
}

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
