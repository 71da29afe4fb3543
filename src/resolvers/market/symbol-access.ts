import { symbolAccess } from '../../access/entitlement/entitlement.ts';
import type { SymbolEntry, TenorFrame } from '../../domain/symbol.ts';
import type { Tier } from '../../domain/tier.ts';
import { findSymbol, type RequestContext, realTicker } from '../context.ts';

/** What of a symbol's expiries the option chain covers (spec 2.3). */
export interface ChainPolicy {
  symbol: string;
  /** Expiries covered: the number of days from today. */
  windowDays: number;
  tenorFrame: TenorFrame;
}

/** The chain policy of an entry. */
export function chainPolicy({ symbol, windowDays, tenorFrame }: SymbolEntry): ChainPolicy {
  return { symbol, windowDays, tenorFrame };
}

/** Whether the caller may read a symbol's data, and what is lacking. */
export interface AccessAnswer {
  symbol: string;
  allowed: boolean;
  reason: 'not_entitled_tier' | 'attestation_required' | null;
  requiredTier: Tier | null;
}

/** The entitlement of the caller to a real ticker's data; 404 for a string that is none. */
export async function accessTo(context: RequestContext, symbol: string): Promise<AccessAnswer> {
  return { symbol, ...symbolAccess(context.caller, await realTicker(context, symbol)) };
}

/** Whether the ticker is in the registry, rather than in the ticker directory only or nowhere. */
export async function isRegistered(context: RequestContext, symbol: string): Promise<boolean> {
  return (await findSymbol(context, symbol))?.registered ?? false;
}
