import { randomBytes } from 'node:crypto';
import type { Rates } from '../platform/config/tiers.ts';
import type { Clock } from '../platform/runtime/clock.ts';
import type { RandomBytes } from '../platform/runtime/ulid.ts';
import type { Store } from '../store/rows/connection.ts';
import type { Authentication } from './caller.ts';
import { type Accounts, openAccounts } from './identity/accounts.ts';
import { type ApiKeys, openApiKeys, openKeyUse } from './identity/api-keys.ts';
import { authenticate } from './identity/authenticate.ts';
import { openCredentialCache } from './identity/credential-cache.ts';
import { openSessionTokens, type SessionSettings, type SessionTokens } from './identity/site-session.ts';
import { openStreamTickets, type StreamTickets } from './identity/stream-tickets.ts';
import { type InFlight, openInFlight, openStreamSlots, type StreamSlots } from './limits/in-flight.ts';
import type { LocalLimits } from './limits/limits-by-message.ts';
import { openRate, type Rate } from './limits/rate.ts';
import { Usage } from './usage/usage.ts';

/** The settings of access, a part of `Config`. */
export interface AccessSettings extends SessionSettings {
  redisUrl: string | null;
  /** Requests per minute. */
  rates: Rates;
  /** Maximum number of concurrent streams of one key, or of one account for sessions. */
  maxStreams: number;
}

/** Dependencies of access. */
export interface AccessOptions {
  store: Store;
  config: AccessSettings;
  now: Clock;
  /** Called with a line to log; warnings begin with `warning:`. */
  log?: (line: string) => void;
  /** Monotonic time, ms. */
  elapsed?: () => number;
  random?: RandomBytes;
  /** Prefix of every key in Redis; servers with the same prefix count together. */
  redisPrefix?: string;
  /** Counters of limits without Redis, or while it is not reachable; by default this process's memory. */
  limits?: LocalLimits;
}

/** Identity of callers, their rates and limits. Entitlement is in `entitlement.ts`: it has no state. */
export interface Access {
  /** Identifies the owner of a credential; `credentialOf` finds it in the headers. */
  authenticate(credential: string | null): Promise<Authentication>;
  rate: Rate;
  inFlight: Pick<InFlight, 'acquire'>;
  streams: StreamSlots;
  usage: Pick<Usage, 'count' | 'read' | 'flush' | 'waiting'>;
  keys: ApiKeys;
  accounts: Accounts;
  sessions: Pick<SessionTokens, 'create'>;
  tickets: Pick<StreamTickets, 'issue' | 'redeem' | 'succeed'>;
  /** False while a configured Redis is not reachable, and this process counts on its own. */
  sharesLimits(): boolean;
  /** Writes the usage counts and closes the connection to Redis; the store stays open. Idempotent. */
  close(): Promise<void>;
}

/** Redis by the settings. Its modules are loaded only for servers that have one. */
async function redisOf(url: string | null, log: (line: string) => void) {
  if (url === null) return null;
  const { RedisLink } = await import('./limits/redis-link.ts');
  return new RedisLink(url, log);
}

/** Opens access over an open store. */
export async function openAccess(options: AccessOptions): Promise<Access> {
  const { store, config, now, log = () => {}, elapsed = () => performance.now() } = options;
  const { random = randomBytes, redisPrefix = 'tapegraph:' } = options;
  const sessions = await openSessionTokens(store, config, now, random, log);
  const credentialCache = openCredentialCache(store, elapsed);
  const link = await redisOf(config.redisUrl, log);
  const inFlight = openInFlight(link, redisPrefix, options.limits?.slots);
  const usage = new Usage(store, now, log);
  const keyUse = openKeyUse(store, log);
  const tickets = openStreamTickets(store, now, random);
  const deps = { store, credentialCache, verifySession: sessions.verify, used: keyUse.used, now };

  async function close(): Promise<void> {
    inFlight.close();
    await Promise.all([usage.close(), keyUse.close(), link?.close()]);
  }
  let closed: Promise<void> | null = null;

  return {
    async authenticate(credential) {
      const found = await authenticate(deps, credential);
      if (found.state === 'ok') tickets.remember(found.caller, credential!);
      return found;
    },
    rate: openRate(config.rates, link, redisPrefix, options.limits?.rate),
    inFlight,
    streams: openStreamSlots(config.maxStreams),
    usage,
    keys: openApiKeys(store, credentialCache, now, random),
    accounts: openAccounts(store, credentialCache, now),
    sessions,
    tickets,
    sharesLimits: () => link?.isUp ?? true,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
