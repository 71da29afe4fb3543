import type { SymbolEntry } from '../../core/domain/market/symbol.ts';
import { reaches, type Tier } from '../../platform/config/tiers.ts';
import {
  attestationRequired,
  type Failure,
  knownFailure,
  notAuthenticated,
  notEntitledTier,
  siteSessionRequired,
} from '../../platform/wire/failure.ts';
import type { Authentication, Caller } from '../caller.ts';

/** Properties of a caller that decide about entitlement. */
type Entitled = Pick<Caller, 'tier' | 'attested'>;

/**
 * Properties of a registry entry that decide about entitlement. For options it is the entry of the root's underlying
 * (`SPXW` → `SPX`).
 */
export type Guarded = Pick<SymbolEntry, 'symbol' | 'minTier' | 'requiresAttestation'>;

/** Result of checking a caller's access to a symbol. */
interface SymbolAccess {
  allowed: boolean;
  /** Reason for denial; null if allowed. The tier is checked first. */
  reason: null | 'not_entitled_tier' | 'attestation_required';
  /** Required tier; null unless the caller's tier is too low. */
  requiredTier: Tier | null;
}

/**
 * The rule for a symbol's data: the tier reaches the symbol's floor, and the caller is attested if the symbol requires
 * it.
 */
export function symbolAccess(caller: Entitled, entry: Guarded): SymbolAccess {
  if (!reaches(caller.tier, entry.minTier)) {
    return { allowed: false, reason: 'not_entitled_tier', requiredTier: entry.minTier };
  }
  if (entry.requiresAttestation && !caller.attested) {
    return { allowed: false, reason: 'attestation_required', requiredTier: null };
  }
  return { allowed: true, reason: null, requiredTier: null };
}

/** Throws 403 if the caller may not read the symbol's data. Null = an unknown ticker, which has no restriction. */
export function requireReadable(caller: Entitled, entry: Guarded | null): void {
  if (entry === null) return;
  const { reason } = symbolAccess(caller, entry);
  if (reason === 'not_entitled_tier') throw notEntitledTier(entry.symbol, entry.minTier);
  if (reason === 'attestation_required') throw attestationRequired(entry.symbol);
}

/** Data with a rule of its own besides that of the symbol: a tier, and the declaration. */
const guardedData = {
  flow: { what: 'Option flow', floor: 'pro' },
  offExchange: { what: 'Off-exchange data', floor: 'basic' },
} as const satisfies Record<string, { what: string; floor: Tier }>;
export type GuardedData = keyof typeof guardedData;

/** True if the caller may read such data, of symbols that it may read. */
export function mayRead({ tier, attested }: Entitled, data: GuardedData): boolean {
  return reaches(tier, guardedData[data].floor) && attested;
}

function requireTierAndAttestation(caller: Entitled, data: GuardedData): void {
  const { what, floor } = guardedData[data];
  if (!reaches(caller.tier, floor)) throw notEntitledTier(what, floor);
  if (!caller.attested) throw attestationRequired(what);
}

/** Throws 403 unless the caller may read option flow (spec 4.8–4.10). The symbol's own rule is checked afterwards. */
export function requireFlow(caller: Entitled): void {
  requireTierAndAttestation(caller, 'flow');
}

/** Throws 403 unless the caller may read off-exchange data (spec 4.18). The symbol's own rule is checked afterwards. */
export function requireOffExchange(caller: Entitled): void {
  requireTierAndAttestation(caller, 'offExchange');
}

/** Throws 403 for an API key: keys are managed by people, not by keys (contract-notes 3). */
export function requireSiteSession(caller: Pick<Caller, 'kind'>, what: string): void {
  if (caller.kind !== 'session') throw siteSessionRequired(what);
}

/** Throws 403 unless the account has declared itself non-professional. */
export function requireAttestation(caller: Pick<Caller, 'attested'>, what: string): void {
  if (!caller.attested) throw attestationRequired(what);
}

/** `meta.caps.flow` (spec 2.1): site Pro and attested. It concerns the site, so a key's own tier does not matter. */
export function flowCapability(caller: Pick<Caller, 'siteTier' | 'attested'>): boolean {
  return reaches(caller.siteTier, 'pro') && caller.attested;
}

/** `meta.caps.darkpool` (spec 2.1): true if the account can use off-exchange features in the site. */
export function offExchangeCapability(caller: Pick<Caller, 'siteTier' | 'attested'>): boolean {
  return reaches(caller.siteTier, 'basic') && caller.attested;
}

/** Properties of a caller that an answer depends on, as a text. */
export function rightsOf({ kind, tier, siteTier, attested }: Pick<Caller, 'kind'> & Partial<Caller>): string {
  return JSON.stringify([kind, tier, siteTier, attested]);
}

/** The current state of a caller, or the failure that ends its access. */
type Rechecked = { caller: Caller } | { refused: Failure };

/**
 * Identifies a caller again, and checks that they may still read (`check` throws if not): the rights of the account,
 * and the rules of a symbol, may have changed. Throws if that cannot be determined now.
 */
export async function recheckCaller(
  authenticate: () => Promise<Authentication>,
  check: (caller: Caller) => Promise<void>,
): Promise<Rechecked> {
  const authentication = await authenticate();
  if (authentication.state !== 'ok') return { refused: notAuthenticated(authentication.state) };
  const { caller } = authentication;
  try {
    await check(caller);
    return { caller };
  } catch (error) {
    const refused = knownFailure(error);
    if (!refused || refused.status >= 500) throw error;
    return { refused };
  }
}
