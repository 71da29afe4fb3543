import type { OutgoingMessage } from 'node:http';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type RatePool, type Rates, rateWindowSeconds, tiers } from '../../platform/config/tiers.ts';
import type { Caller } from '../caller.ts';
import type { RedisLink } from './redis-link.ts';

/** State of a caller's minute, which began with its first request. */
export interface RateState {
  allowed: boolean;
  /** The tier's requests per minute: `x-ratelimit-limit`, `rate_limit.per_min`. */
  limit: number;
  /** Requests left in it. */
  remaining: number;
  /** Whole seconds until the minute ends, at least 1: `x-ratelimit-reset`, `Retry-After`. */
  resetSeconds: number;
}

/** A client without a credential, by `ClientAddress`. */
export interface Anonymous {
  address: string;
}

/** Subject of a count: a key, an account for sessions, or an address. */
export type Counted = Pick<Caller, 'keyId' | 'accountId' | 'tier'> | Anonymous;

/** Counts requests per minute, by key, by account for sessions, or by address. */
export interface Rate {
  /**
   * Takes `cost` (a whole number, at least 1) from the caller's minute, or nothing if less is left. Estimates have a
   * minute of their own, of as many requests.
   */
  consume(who: Counted, cost: number, of?: 'requests' | 'estimates'): Promise<RateState>;
  /**
   * Corrects a charge to a request's actual cost: gives `requests` back, or takes as many more if negative. Never
   * rejects. Nothing is given back to a minute that has ended.
   */
  refund(who: Counted, requests: number): Promise<RateState>;
  /** The caller's requests per minute, without taking any: `rate_limit.per_min`. */
  limit(who: Pick<Caller, 'tier'> | Anonymous): number;
}

/** The counts of one process, by pool and caller. */
export interface RateCounts {
  /** Takes `cost` (a whole number) from the minute of `who`, or nothing if less is left. */
  take(pool: RatePool, who: string, cost: number): Promise<RateState>;
  /** Gives `requests` back to the minute of `who`, or takes as many more if negative. */
  giveBack(pool: RatePool, who: string, requests: number): Promise<RateState>;
}

type Limiter = Pick<RateLimiterMemory, 'consume' | 'get' | 'reward' | 'penalty' | 'points'>;

/** State of a minute that has not begun. */
const wholeMinuteMs = rateWindowSeconds * 1000;

function stateOf({ points }: Limiter, allowed: boolean, remaining: number, ms: number): RateState {
  return {
    allowed,
    limit: points,
    remaining: Math.min(points, Math.max(0, remaining)),
    resetSeconds: Math.max(1, Math.ceil(ms / 1000)),
  };
}

/** Charges `cost` if it fits. A rejected cost is not charged, so that smaller requests still pass. */
async function take(limiter: Limiter, who: string, cost: number): Promise<RateState> {
  const limit = limiter.points;
  if (cost > 1) {
    const now = await limiter.get(who);
    const remaining = now === null ? limit : limit - now.consumedPoints;
    if (cost > remaining) return stateOf(limiter, false, remaining, now?.msBeforeNext ?? wholeMinuteMs);
  }
  try {
    const taken = await limiter.consume(who, cost);
    return stateOf(limiter, true, taken.remainingPoints, taken.msBeforeNext);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    // Another request was charged since the check above: this charge is given back.
    if (cost > 1) await limiter.reward(who, cost);
    return stateOf(limiter, false, 0, refused.msBeforeNext);
  }
}

/** Refunds at most the charge of the current minute: charges of an earlier minute have expired. */
async function giveBack(limiter: Limiter, who: string, requests: number): Promise<RateState> {
  const now = await limiter.get(who);
  if (requests < 0) {
    const taken = await limiter.penalty(who, -requests);
    return stateOf(limiter, true, limiter.points - taken.consumedPoints, taken.msBeforeNext);
  }
  const back = Math.min(requests, Math.max(0, now?.consumedPoints ?? 0));
  if (back === 0)
    return stateOf(limiter, true, limiter.points - (now?.consumedPoints ?? 0), now?.msBeforeNext ?? wholeMinuteMs);
  const left = await limiter.reward(who, back);
  // The minute ended, or another refund arrived, since the check above: a count below zero would extend a later minute.
  const corrected = left.consumedPoints < 0 ? await limiter.penalty(who, -left.consumedPoints) : left;
  return stateOf(limiter, true, limiter.points - corrected.consumedPoints, corrected.msBeforeNext);
}

function limits(rates: Rates, pool: RatePool, keyPrefix: string) {
  return { points: rates[pool], duration: rateWindowSeconds, keyPrefix: `${keyPrefix}rate:${pool}` };
}

/** Counts in the memory of this process. */
export function ownRate(rates: Rates): RateCounts {
  const pools: readonly RatePool[] = [...tiers, 'anonymous'];
  const limiters = new Map(pools.map((pool) => [pool, new RateLimiterMemory(limits(rates, pool, ''))]));
  return {
    take: (pool, who, cost) => take(limiters.get(pool)!, who, cost),
    giveBack: (pool, who, requests) => giveBack(limiters.get(pool)!, who, requests),
  };
}

/** The pool and the id under which a caller is counted. */
export function poolOf(who: Pick<Caller, 'tier'> | Anonymous): RatePool {
  return 'address' in who ? 'anonymous' : who.tier;
}

function nameOf(who: Counted): string {
  if ('address' in who) return `address:${who.address}`;
  return who.keyId === null ? `account:${who.accountId}` : `key:${who.keyId}`;
}

/**
 * Creates the counter. With Redis one count serves all processes. Without it, or while it is not reachable, `local`
 * counts: by default the memory of this process.
 */
export function openRate(
  rates: Rates,
  shared: RedisLink | null,
  keyPrefix: string,
  local: RateCounts = ownRate(rates),
): Rate {
  const remote = new Map<RatePool, RateLimiterRedis>();

  /** Counts in Redis; undefined if there is none, or it is not reachable. */
  function inRedis(pool: RatePool, count: (limiter: Limiter) => Promise<RateState>) {
    return shared?.attempt((redis) => {
      const limiter =
        remote.get(pool) ?? new RateLimiterRedis({ ...limits(rates, pool, keyPrefix), storeClient: redis });
      remote.set(pool, limiter);
      return count(limiter);
    });
  }

  return {
    async consume(who, cost, of = 'requests') {
      const [pool, whole] = [poolOf(who), Math.max(1, Math.ceil(cost))];
      const name = of === 'requests' ? nameOf(who) : `${of}:${nameOf(who)}`;
      const counted = await inRedis(pool, (limiter) => take(limiter, name, whole));
      return counted ?? local.take(pool, name, whole);
    },
    async refund(who, requests) {
      const [pool, name] = [poolOf(who), nameOf(who)];
      const counted = await inRedis(pool, (limiter) => giveBack(limiter, name, requests));
      return counted ?? local.giveBack(pool, name, requests);
    },
    limit: (who) => rates[poolOf(who)],
  };
}

/** Requests that an answer has taken from the caller's minute so far. */
const consumedHeader = 'x-ratelimit-consumed';

/**
 * Writes the state of the caller's minute (contract-notes 1 and 7), at every endpoint and for keys and sessions alike,
 * and adds the requests `taken` to those that the answer has taken before.
 */
export function writeRateHeaders(rate: RateState, response: OutgoingMessage, taken: number): void {
  response.setHeader('x-ratelimit-limit', rate.limit);
  response.setHeader('x-ratelimit-remaining', rate.remaining);
  response.setHeader('x-ratelimit-reset', rate.resetSeconds);
  response.setHeader(consumedHeader, Number(response.getHeader(consumedHeader) ?? 0) + taken);
}

/** True if an answer already has rate headers: the request has been charged. */
export function hasRateHeaders(response: OutgoingMessage): boolean {
  return response.hasHeader('x-ratelimit-limit');
}
