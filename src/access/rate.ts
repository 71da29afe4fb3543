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

type Limiter = Pick<RateLimiterMemory, 'consume' | 'get' | 'points'>;

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
    return state(false, 0, refused.msBeforeNext);
  }
}

/** Makes the counter. With Redis one count serves all processes; without it, or while it is away, this process counts for itself. */
export function openRate(rates: Record<Tier, number>, shared: RedisLink | null, keyPrefix: string): Rate {
  const options = (tier: Tier) => ({ points: rates[tier], duration: 60, keyPrefix: `${keyPrefix}rate:${tier}` });
  const local = new Map(tiers.map((tier) => [tier, new RateLimiterMemory(options(tier))]));
  const remote = new Map<Tier, RateLimiterRedis>();

  return {
    async consume(caller, cost) {
      const who = caller.keyId === null ? `account:${caller.accountId}` : `key:${caller.keyId}`;
      const whole = Math.max(1, Math.ceil(cost));
      const counted = await shared?.attempt((redis) => {
        const limiter =
          remote.get(caller.tier) ?? new RateLimiterRedis({ ...options(caller.tier), storeClient: redis });
        remote.set(caller.tier, limiter);
        return take(limiter, who, whole);
      });
      return counted ?? take(local.get(caller.tier)!, who, whole);
    },
    limit: ({ tier }) => rates[tier],
  };
}
