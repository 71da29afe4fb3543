import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Account } from '../../core/domain/account.ts';
import type { Tier } from '../../platform/config/tiers.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { isStorableText } from '../../platform/runtime/storable-text.ts';
import { type RandomBytes, ulid } from '../../platform/runtime/ulid.ts';
import { invalidParameter, invalidRequest, notFound } from '../../platform/wire/failure.ts';
import { findAccount, listAccounts } from '../../store/account/accounts.ts';
import { type ApiKeyRow, insertApiKey, listApiKeys, revokeApiKey, touchApiKeys } from '../../store/account/api-keys.ts';
import type { Store } from '../../store/rows/connection.ts';
import type { Caller } from '../caller.ts';
import { requireAttestation, requireSiteSession } from '../entitlement/entitlement.ts';
import { startBatchWriter } from '../usage/usage.ts';
import type { CredentialCache } from './credential-cache.ts';

/**
 * Maximum number of live keys that an account can create. Each key has its own rate, so without a bound an account
 * would have no rate limit.
 */
export const maxLiveKeys = 25;
/** Longest name of a key, in characters. */
export const maxKeyNameLength = 200;

/** Metadata of a key, without the key itself. */
export interface ApiKeyInfo {
  id: string;
  accountId: string;
  name: string;
  /** The account's current API tier. */
  tier: Tier;
  /** The key's first characters. */
  prefix: string;
  /** Epoch ms. */
  createdAt: number;
  /** Epoch ms; null = never used. */
  lastUsedAt: number | null;
  /** Epoch ms; null = never. */
  expiresAt: number | null;
  revoked: boolean;
  /** True if the graph runs only trusted documents for it. */
  trustedOnly: boolean;
}

/** Properties of a key to create. */
export interface KeyRequest {
  accountId: string;
  /** Null = the default, `API key`. */
  name: string | null;
  /** Epoch ms, in the future; null = never expires. */
  expiresAt: number | null;
  /** True = the graph runs only trusted documents for it. False by default. */
  trustedOnly?: boolean;
}

/** A new key: `key` is shown once and not stored. */
export interface CreatedKey {
  key: string;
  meta: ApiKeyInfo;
}

/** Creates and revokes keys as the operator. */
export interface ApiKeys {
  /** Throws 404 for an unknown account, 400 for an invalid request. */
  create(request: KeyRequest): Promise<CreatedKey>;
  /** Keys of an account, or of all with null, oldest first, including revoked ones. Empty for an unknown account. */
  list(accountId: string | null): Promise<ApiKeyInfo[]>;
  /**
   * Revokes a key (of that account, or of any with null), immediately in this process, within 5 s in others. Throws 404
   * if it is unknown or revoked.
   */
  revoke(id: string, accountId: string | null): Promise<void>;
  /** Drops a key from the cache, because another process may have revoked it. */
  forget(key: string): void;
  /**
   * The same operations for people (contract-notes 3): only with a site session. Creating a key requires the
   * declaration; at most 25 live keys.
   */
  createFor(caller: Caller, name: string | null): Promise<CreatedKey>;
  listFor(caller: Caller): Promise<ApiKeyInfo[]>;
  revokeFor(caller: Caller, id: string): Promise<void>;
}

function info(row: ApiKeyRow, tier: Tier): ApiKeyInfo {
  const { id, accountId, name, prefix, createdAt, lastUsedAt, expiresAt, revokedAt, trustedOnly } = row;
  const revoked = revokedAt !== null;
  return { id, accountId, name, tier, prefix, createdAt, lastUsedAt, expiresAt, revoked, trustedOnly };
}

function checkedName(name: string | null): string {
  if (name === null || name.trim() === '') return 'API key';
  if (name.length > maxKeyNameLength || !isStorableText(name)) {
    throw invalidParameter('name', `expected text of at most ${maxKeyNameLength} characters`);
  }
  return name;
}

function newRow(request: KeyRequest, made: ReturnType<typeof generateApiKey>, id: string, nowMs: number): ApiKeyRow {
  if (request.expiresAt !== null && request.expiresAt <= nowMs) {
    throw invalidParameter('expires', 'expected a time in the future');
  }
  return {
    id,
    accountId: request.accountId,
    name: checkedName(request.name),
    hash: made.hash,
    prefix: made.prefix,
    createdAt: nowMs,
    lastUsedAt: null,
    expiresAt: request.expiresAt,
    revokedAt: null,
    trustedOnly: request.trustedOnly ?? false,
  };
}

/** Opens the API keys of a store. */
export function openApiKeys(store: Store, credentialCache: CredentialCache, now: Clock, random: RandomBytes): ApiKeys {
  async function create(request: KeyRequest, maxLive = Number.MAX_SAFE_INTEGER): Promise<CreatedKey> {
    const nowMs = now();
    const made = generateApiKey(random);
    const row = newRow(request, made, ulid(nowMs, random), nowMs);
    const result = await insertApiKey(store, row, maxLive);
    if (result === 'no-account') throw notFound(`Account ${request.accountId}`);
    if (result === 'full') throw invalidRequest(`The account has ${maxLive} API keys already; revoke one first.`);
    const account = await findAccount(store, request.accountId);
    return { key: made.key, meta: info(row, account?.apiTier ?? 'free') };
  }

  async function list(accountId: string | null): Promise<ApiKeyInfo[]> {
    const owners: (Account | null)[] =
      accountId === null ? await listAccounts(store) : [await findAccount(store, accountId)];
    const tiers = new Map(owners.map((account) => [account?.id, account?.apiTier]));
    return (await listApiKeys(store, accountId)).map((row) => info(row, tiers.get(row.accountId) ?? 'free'));
  }

  async function revoke(id: string, accountId: string | null): Promise<void> {
    const hash = isStorableText(id) ? await revokeApiKey(store, id, accountId, now()) : null;
    if (hash === null) throw notFound('The API key');
    credentialCache.keys.drop(hash);
  }

  return {
    create: (request) => create(request),
    list,
    revoke,
    forget: (key) => credentialCache.keys.drop(hashApiKey(key)),
    async createFor(caller, name) {
      requireSiteSession(caller, 'Creating an API key');
      requireAttestation(caller, 'An API key');
      return create({ accountId: caller.accountId, name, expiresAt: null }, maxLiveKeys);
    },
    async listFor(caller) {
      requireSiteSession(caller, 'Listing API keys');
      return list(caller.accountId);
    },
    async revokeFor(caller, id) {
      requireSiteSession(caller, 'Revoking an API key');
      await revoke(id, caller.accountId);
    },
  };
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyStart = 'tg_live_';
const keyPattern = /^tg_live_[0-9A-Za-z]{26}_[0-9A-Za-z]{6}$/;

/** Number of characters of a key that are stored in clear text, to identify it: the prefix and four of the 26. */
const shownLength = keyStart.length + 4;

/** A new key: the part shown once to its owner, and the stored part. */
interface NewApiKey {
  /** The key itself. Never stored, never logged. */
  key: string;
  /** SHA-256 of the key, hex, by which it is looked up. */
  hash: string;
  /** Its first characters. */
  prefix: string;
}

/**
 * Six base-62 digits over the text before them, to detect typing errors and invented keys without the database. Not a
 * secret.
 */
function checksum(text: string): string {
  let digits = '';
  for (let rest = crc32(text), i = 0; i < 6; i += 1) {
    digits = base62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function randomDigits(length: number, random: RandomBytes): string {
  let digits = '';
  while (digits.length < length) {
    // 248 = 4·62: larger bytes would make the first eight digits more likely than the rest.
    for (const byte of random(length)) if (byte < 248 && digits.length < length) digits += base62[byte % 62];
  }
  return digits;
}

/** SHA-256 of a key, hex. A key has 154 random bits, so a fast hash without salt is enough. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Generates a key `tg_live_<26 random>_<6 checksum>`, base 62. */
export function generateApiKey(random: RandomBytes): NewApiKey {
  const body = keyStart + randomDigits(26, random);
  const key = `${body}_${checksum(body)}`;
  return { key, hash: hashApiKey(key), prefix: key.slice(0, shownLength) };
}

/** True if a credential has the prefix of an API key, unlike a session token. */
export function looksLikeApiKey(credential: string): boolean {
  return credential.startsWith('tg_');
}

/** True if `text` has the form of a key and its checksum is correct. Such a key may never have been issued. */
export function isWellFormedApiKey(text: string): boolean {
  return keyPattern.test(text) && checksum(text.slice(0, -7)) === text.slice(-6);
}

/** Records when keys were last used. */
interface KeyUse {
  used(keyId: string, atMs: number): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Interval of writes, ms: all keys in use cost one statement per interval. */
const flushMs = 3000;

/** Starts recording, with a write every 3 s. */
export function openKeyUse(store: Store, log: (line: string) => void): KeyUse {
  let gathered = new Map<string, number>();
  async function write(): Promise<boolean> {
    if (gathered.size === 0) return false;
    const taken = gathered;
    gathered = new Map();
    try {
      await touchApiKeys(store, taken);
      return true;
    } catch (error) {
      for (const [id, at] of taken) if (!gathered.has(id)) gathered.set(id, at);
      throw error;
    }
  }
  const batchWriter = startBatchWriter({
    what: 'last uses of API keys',
    everyMs: flushMs,
    write,
    log,
    wrote: store.writes.wrote,
  });
  return {
    used: (keyId, atMs) => {
      gathered.set(keyId, atMs);
    },
    ...batchWriter,
  };
}
