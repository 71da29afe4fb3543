import { isId, maxIdLength } from '../../core/domain/account.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { RandomBytes } from '../../platform/runtime/ulid.ts';
import { invalidParameter, invalidRequest, notFound } from '../../platform/wire/failure.ts';
import { findAccount } from '../../store/account/accounts.ts';
import type { Store } from '../../store/rows/connection.ts';
import { ensureMetadata } from '../../store/rows/metadata.ts';
import { createSiteSession, jwksVerifier, type SiteSessionVerifier, secretVerifier } from './site-session.ts';

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
