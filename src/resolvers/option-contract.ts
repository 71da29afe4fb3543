import { requireSymbol } from '../access/entitlement.ts';
import type { OptionContract } from '../domain/option-contract.ts';
import { underlyingOf } from '../domain/option-root.ts';
import type { SymbolEntry } from '../domain/symbol.ts';
import { type RequestContext, registeredSymbol } from './context.ts';

/** The registry entry that decides over a contract, that of its root's underlying; 404 outside the registry, 403 when not readable. */
export async function readableUnderlying(context: RequestContext, contract: OptionContract): Promise<SymbolEntry> {
  const entry = await registeredSymbol(context, underlyingOf(contract.root));
  requireSymbol(context.caller, entry);
  return entry;
}
