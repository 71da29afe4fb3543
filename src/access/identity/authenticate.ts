import type { Account } from '../../core/domain/account.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { ensureAccount } from '../../store/account/accounts.ts';
import type { ApiKeyRow } from '../../store/account/api-keys.ts';
import type { Store } from '../../store/rows/connection.ts';
import type { Authentication, Caller } from '../caller.ts';
import { hashApiKey, isWellFormedApiKey, looksLikeApiKey } from './api-keys.ts';
import { maxCredentialLength } from './credential.ts';
import { type CredentialCache, fromStore } from './credential-cache.ts';
import type { SiteSessionVerifier } from './site-session.ts';

/** Dependencies of authentication. */
export interface AuthenticateDeps {
  store: Store;
  credentialCache: CredentialCache;
  verifySession: SiteSessionVerifier;
  /** Called for every use of a key. */
  used: (keyId: string, atMs: number) => void;
  now: Clock;
}

function callerOf(account: Account, key: Pick<ApiKeyRow, 'id' | 'trustedOnly'> | null): Caller {
  const keyId = key?.id ?? null;
  return {
    accountId: account.id,
    kind: keyId === null ? 'session' : 'key',
    keyId,
    tier: keyId === null ? account.siteTier : account.apiTier,
    siteTier: account.siteTier,
    apiTier: account.apiTier,
    classification: account.classification,
    attested: account.classification === 'non_professional',
    ...(key?.trustedOnly && { trustedOnly: true }),
  };
}

async function byKey(deps: AuthenticateDeps, key: string): Promise<Authentication> {
  if (!isWellFormedApiKey(key)) return { state: 'invalid' };
  const row = await deps.credentialCache.keys.get(hashApiKey(key));
  if (row === null || row.revokedAt !== null) return { state: 'invalid' };
  const nowMs = deps.now();
  if (row.expiresAt !== null && row.expiresAt <= nowMs) return { state: 'expired' };
  const account = await deps.credentialCache.accounts.get(row.accountId);
  if (account === null) return { state: 'invalid' };
  deps.used(row.id, nowMs);
  return { state: 'ok', caller: callerOf(account, row) };
}

async function bySession(deps: AuthenticateDeps, token: string): Promise<Authentication> {
  const session = await deps.verifySession(token);
  if (session.state !== 'ok') return session;
  const known = await deps.credentialCache.accounts.get(session.accountId);
  if (known) return { state: 'ok', caller: callerOf(known, null) };
  // docs/decisions/0006-accounts-at-first-sight.md
  const made = await fromStore(ensureAccount(deps.store, session.accountId, deps.now()));
  deps.credentialCache.accounts.drop(session.accountId);
  return { state: 'ok', caller: callerOf(made, null) };
}

/**
 * Identifies the owner of a credential (an API key or a session token; null = none was sent). A cached key costs no
 * database round trip; a garbled one never does. A revoked key or token is `invalid`, an expired one `expired`. Throws
 * 502 if the store or the key set cannot be reached.
 */
export async function authenticate(deps: AuthenticateDeps, credential: string | null): Promise<Authentication> {
  if (credential === null) return { state: 'missing' };
  if (credential.length > maxCredentialLength) return { state: 'invalid' };
  return looksLikeApiKey(credential) ? byKey(deps, credential) : bySession(deps, credential);
}
