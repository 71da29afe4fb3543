import { createSecretKey } from 'node:crypto';
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import * as errors from 'jose/errors';
import { createRemoteJWKSet, customFetch } from 'jose/jwks/remote';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import { isId, maxIdLength } from '../../core/domain/account.ts';
import { fetchBounded } from '../../platform/http/fetch-bounded.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { RandomBytes } from '../../platform/runtime/ulid.ts';
import { Failure, invalidParameter, invalidRequest, notFound, sourceFailed } from '../../platform/wire/failure.ts';
import { findAccount } from '../../store/account/accounts.ts';
import type { Store } from '../../store/rows/connection.ts';
import { ensureMetadata } from '../../store/rows/metadata.ts';

/** Result of checking a session token. */
type SiteSession = { state: 'ok'; accountId: string } | { state: 'invalid' | 'expired' };

/**
 * Checks session tokens (JWT). A token has `sub` (the account's id) and `exp`; other claims are ignored. A token with a
 * lifetime over `maxLifeMs` is invalid.
 */
export type SiteSessionVerifier = (token: string) => Promise<SiteSession>;

/** Accepted issuers and audience of tokens, and their maximum lifetime. */
interface SessionClaims {
  /** Null = any issuer with the right key. */
  issuer: string | null;
  /** Null = any audience. */
  audience: string | null;
  /** Maximum lifetime, ms, from `iat` (or now, if that is later or absent) to `exp`. */
  maxLifeMs: number;
}

const anyClaims: SessionClaims = { issuer: null, audience: null, maxLifeMs: 30 * 86_400_000 };

/**
 * True if a token's lifetime is within the limit. An `iat` in the future counts as now, so that it cannot extend the
 * lifetime.
 */
function isWithinLife({ exp, iat }: JWTPayload, maxLifeMs: number, atMs: number): boolean {
  const nowSeconds = atMs / 1000;
  return exp! - Math.min(iat ?? nowSeconds, nowSeconds) <= maxLifeMs / 1000;
}

type Verify = (token: string, options: JWTVerifyOptions) => Promise<{ payload: JWTPayload }>;

/** A cached verified token: checking a signature takes a thread of the pool and half a millisecond. */
interface Verified {
  accountId: string;
  expiresAtMs: number;
  verifiedAtMs: number;
}

/** Maximum number of cached tokens, and their maximum age: it delays noticing that the issuer withdrew a key. */
const mostVerified = 10_000;
const verifiedForMs = 60_000;

function verifier(
  verify: Verify,
  algorithms: string[],
  { issuer, audience, maxLifeMs }: SessionClaims,
  now: Clock,
): SiteSessionVerifier {
  const fixed = {
    algorithms,
    requiredClaims: ['sub', 'exp'],
    ...(issuer !== null && { issuer }),
    ...(audience !== null && { audience }),
  };
  const verified = new LRUCache<string, Verified>({ max: mostVerified });
  const isStillGood = ({ expiresAtMs, verifiedAtMs }: Verified, atMs: number) =>
    atMs >= verifiedAtMs && atMs < Math.min(expiresAtMs, verifiedAtMs + verifiedForMs);
  return async (token) => {
    const atMs = now();
    const known = verified.get(token);
    if (known && isStillGood(known, atMs)) return { state: 'ok', accountId: known.accountId };
    try {
      const { payload } = await verify(token, { ...fixed, currentDate: new Date(atMs) });
      const { sub, exp } = payload;
      if (typeof sub !== 'string' || !isId(sub) || !isWithinLife(payload, maxLifeMs, atMs)) return { state: 'invalid' };
      verified.set(token, { accountId: sub, expiresAtMs: exp! * 1000, verifiedAtMs: atMs });
      return { state: 'ok', accountId: sub };
    } catch (error) {
      if (error instanceof Failure) throw error;
      // Expiry is checked after signature, issuer and audience, so only a token that was once valid is reported as
      // expired.
      return { state: error instanceof errors.JWTExpired ? 'expired' : 'invalid' };
    }
  };
}

/** Maximum size of a published key set; providers publish a few kB. */
const maxKeySetBytes = 256 * 1024;

/** True if the published keys were read and none fits this token; false if they could not be read. */
function isTokensFault(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}

/** Verifies tokens signed with a shared secret: HS256 only. */
export function secretVerifier(secret: string, now: Clock, claims = anyClaims): SiteSessionVerifier {
  // Imported once: a key in any other form is imported again for every token, which takes longer than verifying it.
  const imported = crypto.subtle.importKey('raw', Buffer.from(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
  return verifier(async (token, options) => jwtVerify(token, await imported, options), ['HS256'], claims, now);
}

/**
 * Verifies tokens against the public keys published at `url` (JWKS): RS256, ES256, EdDSA. No symmetric algorithm is
 * accepted, so a public key can never serve as a secret. Keys are fetched on first use, cached for ten minutes, and
 * fetched again at most every 30 s for a token with an unknown key. No other address is ever used: `jku`, `x5u` and
 * `jwk` are ignored, and redirects are not followed. Throws 502 if the keys cannot be fetched.
 */
export function jwksVerifier(url: string, now: Clock, claims = anyClaims): SiteSessionVerifier {
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: 3000,
    [customFetch]: (address, options) => fetchBounded(address, options, maxKeySetBytes),
  });
  const keyOf: JWTVerifyGetKey = async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      // "unauthenticated" would sign everybody out because of a failure on this side.
      throw isTokensFault(error) ? error : sourceFailed('session key', error);
    }
  };
  return verifier((token, options) => jwtVerify(token, keyOf, options), ['RS256', 'ES256', 'EdDSA'], claims, now);
}

/** Signs a session token for an account, as a site with the shared secret does. `expiresInMs` from now on. */
export async function createSiteSession(
  secret: string,
  accountId: string,
  expiresInMs: number,
  now: Clock,
  { issuer, audience }: Pick<SessionClaims, 'issuer' | 'audience'> = anyClaims,
): Promise<string> {
  const issuedAt = Math.floor(now() / 1000);
  return new SignJWT({ ...(issuer !== null && { iss: issuer }), ...(audience !== null && { aud: audience }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(accountId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(Math.floor((now() + expiresInMs) / 1000))
    .sign(createSecretKey(secret, 'utf8'));
}

/** Sources of site sessions; at most one is set. */
export interface SessionSettings {
  sessionSecret: string | null;
  sessionJwksUrl: string | null;
  /** Required issuer of a token; null = any. */
  sessionIssuer: string | null;
  /** Required audience of a token; null = any. */
  sessionAudience: string | null;
  /** Maximum lifetime of a token, hours. */
  sessionMaxHours: number;
}

/** Site sessions of this server. */
export interface SessionTokens {
  verify: SiteSessionVerifier;
  /** Signs a token for an existing account. Throws 404 for another, 400 if tokens are signed elsewhere (JWKS). */
  create(accountId: string, expiresInMs: number): Promise<string>;
}

const hourMs = 3_600_000;
/** RFC 7518, 3.2: a key of HS256 has at least as many bytes as its hash. */
const minSecretBytes = 32;

/**
 * Opens site sessions. With neither a secret nor a JWKS URL, a stored random secret is used, so that the command line
 * and every process agree. For trials only: a reader of the store can sign in as any account.
 */
export async function openSessionTokens(
  store: Store,
  settings: SessionSettings,
  now: Clock,
  random: RandomBytes,
  log: (line: string) => void,
): Promise<SessionTokens> {
  const { sessionSecret, sessionJwksUrl, sessionIssuer: issuer, sessionAudience: audience } = settings;
  const claims = { issuer, audience, maxLifeMs: settings.sessionMaxHours * hourMs };
  if (sessionJwksUrl !== null) {
    const missing = [issuer === null && 'SESSION_ISSUER', audience === null && 'SESSION_AUDIENCE'].filter(Boolean);
    if (missing.length > 0)
      log(
        `warning: without ${missing.join(' and ')} every token signed by the keys at SESSION_JWKS_URL is accepted, including tokens issued for another service`,
      );
    return {
      verify: jwksVerifier(sessionJwksUrl, now, claims),
      create: async () => {
        throw invalidRequest('Session tokens are signed by the site behind SESSION_JWKS_URL, not by this server.');
      },
    };
  }
  if (sessionSecret !== null && Buffer.byteLength(sessionSecret) < minSecretBytes) {
    log(
      `warning: SESSION_SECRET is shorter than ${minSecretBytes} bytes; tokens signed with it can be forged by guessing it`,
    );
  }
  const secret =
    sessionSecret ?? (await ensureMetadata(store, 'session_secret', Buffer.from(random(48)).toString('base64url')));
  return {
    verify: secretVerifier(secret, now, claims),
    async create(accountId, expiresInMs) {
      if (!isId(accountId)) {
        throw invalidParameter('account', `expected 1 to ${maxIdLength} characters without control characters`);
      }
      if (expiresInMs > claims.maxLifeMs)
        throw invalidParameter('expires-in', `expected at most ${settings.sessionMaxHours} hours (SESSION_MAX_HOURS)`);
      if ((await findAccount(store, accountId)) === null) throw notFound(`Account ${accountId}`);
      return createSiteSession(secret, accountId, expiresInMs, now, claims);
    },
  };
}
