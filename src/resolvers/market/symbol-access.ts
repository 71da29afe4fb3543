import { symbolAccess } from '../../access/entitlement/entitlement.ts';
import type { SymbolEntry, TenorFrame } from '../../core/domain/market/symbol.ts';
import type { Tier } from '../../platform/config/tiers.ts';
import { type MaybePromise, whenThere } from '../../platform/runtime/maybe-promise.ts';
import { findSymbol, type RequestContext, realTicker } from '../context.ts';

/** The part of a symbol's expiries that the option chain covers (spec 2.3). */
export interface ChainPolicy {
  symbol: string;
  /** Covered expiries: the number of days from today. */
  windowDays: number;
  tenorFrame: TenorFrame;
}

/** The chain policy of an entry. */
export function chainPolicy({ symbol, windowDays, tenorFrame }: SymbolEntry): ChainPolicy {
  return { symbol, windowDays, tenorFrame };
}

/** Result of checking the caller's access to a symbol's data. */
export interface AccessAnswer {
  symbol: string;
  allowed: boolean;
  reason: 'not_entitled_tier' | 'attestation_required' | null;
  requiredTier: Tier | null;
}

/** The entitlement of the caller to a real ticker's data; 404 for any other string. */
export function accessTo(context: RequestContext, symbol: string): MaybePromise<AccessAnswer> {
  return whenThere(realTicker(context, symbol), (entry) => ({ symbol, ...symbolAccess(context.caller, entry) }));
}

/** True if the ticker is in the registry, rather than in the ticker directory only or nowhere. */
export function isRegistered(context: RequestContext, symbol: string): MaybePromise<boolean> {
  return whenThere(findSymbol(context, symbol), (entry) => entry?.registered ?? false);
}
