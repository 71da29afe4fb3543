import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { type Tier, tiers } from '../domain/tier.ts';
import type { Caller } from './caller.ts';
import type { RedisLink } from './redis-link.ts';

/** How a caller stands in the minute that began with its first request. */
export interface RateState {
  allowed: boolean;
  /** The tier's requests a minute: `x-ratelimit-limit`, `rate_limit.per_min`. */
  limit: number;
  /** What is left of it. */
  remaining: number;
  /** Whole seconds until the minute is over, at least 1: `x-ratelimit-reset`, `Retry-After`. */
  resetSeconds: number;
}

/** Counts requests a minute, by key, or by account for sessions. */
export interface Rate {
  /** Takes `cost` (a whole number, at least 1) from the caller's minute, or nothing when that is more than is left. */
  consume(caller: Caller, cost: number): Promise<RateState>;
  /** The caller's requests a minute, taking none: `rate_limit.per_min`. */
  limit(caller: Pick<Caller, 'tier'>): number;
}

/** Takes `cost` (a whole number) from the minute of `who` in a tier, or nothing when that is more than is left. */
export type TakeRate = (tier: Tier, who: string, cost: number) => Promise<RateState>;

type Limiter = Pick<RateLimiterMemory, 'consume' | 'get' | 'reward' | 'points'>;

/** Tries to take `cost`. What does not fit is refused without being charged, so that smaller requests still pass. */
async function take(limiter: Limiter, who: string, cost: number): Promise<RateState> {
  const limit = limiter.points;
  const state = (allowed: boolean, remaining: number, ms: number): RateState => ({
    allowed,
    limit,
    remaining: Math.max(0, remaining),
    resetSeconds: Math.max(1, Math.ceil(ms / 1000)),
  });
  if (cost > 1) {
    const now = await limiter.get(who);
    const remaining = now === null ? limit : limit - now.consumedPoints;
    if (cost > remaining) return state(false, remaining, now?.msBeforeNext ?? 60_000);
  }
  try {
    const taken = await limiter.consume(who, cost);
    return state(true, taken.remainingPoints, taken.msBeforeNext);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    // Another request was quicker since the look above: what this one was charged is given back.
    if (cost > 1) await limiter.reward(who, cost);
    return state(false, 0, refused.msBeforeNext);
  }
}

function limits(rates: Record<Tier, number>, tier: Tier, keyPrefix: string) {
  return { points: rates[tier], duration: 60, keyPrefix: `${keyPrefix}rate:${tier}` };
}

/** Counts in the memory of this process. */
export function ownRate(rates: Record<Tier, number>): TakeRate {
  const limiters = new Map(tiers.map((tier) => [tier, new RateLimiterMemory(limits(rates, tier, ''))]));
  return (tier, who, cost) => take(limiters.get(tier)!, who, cost);
}

/**
 * Makes the counter. With Redis one count serves all processes; without it, or while it is away, `local` counts: this process's memory,
 * unless it is given.
 */
export function openRate(
  rates: Record<Tier, number>,
  shared: RedisLink | null,
  keyPrefix: string,
  local: TakeRate = ownRate(rates),
): Rate {
  const remote = new Map<Tier, RateLimiterRedis>();

  return {
    async consume({ keyId, accountId, tier }, cost) {
      const who = keyId === null ? `account:${accountId}` : `key:${keyId}`;
      const whole = Math.max(1, Math.ceil(cost));
      const counted = await shared?.attempt((redis) => {
        const limiter =
          remote.get(tier) ?? new RateLimiterRedis({ ...limits(rates, tier, keyPrefix), storeClient: redis });
        remote.set(tier, limiter);
        return take(limiter, who, whole);
      });
      return counted ?? local(tier, who, whole);
    },
    limit: ({ tier }) => rates[tier],
  };
}
