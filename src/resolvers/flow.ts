import { requireFlow, requireSymbol } from '../access/entitlement.ts';
import { type RequestContext, registeredSymbol } from './context.ts';

/** What `meta.retention` says of live flow: about the last 24 hours are held (contract-notes 2). */
export const flowRetention = 'intraday_24h';

/** Throws 403 or 404 unless the caller may read an underlying's flow: flow's own rule first, then the symbol's. */
export async function requireFlowOf(context: RequestContext, symbol: string): Promise<void> {
  requireFlow(context.caller);
  requireSymbol(context.caller, await registeredSymbol(context, symbol));
}
