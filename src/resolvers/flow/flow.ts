import { requireFlow, requireSymbol } from '../../access/entitlement/entitlement.ts';
import { invalidParameter } from '../../domain/failure.ts';
import { type RequestContext, registeredSymbol } from '../context.ts';

/** What `meta.retention` says of live flow: about the last 24 hours are held (contract-notes 2). */
export const flowRetention = 'intraday_24h';

/** What narrows a request for flow. */
interface FlowFilter {
  symbol?: string | null | undefined;
  /** Dollars. */
  minPremiumUsd?: number | null | undefined;
}

/** Throws 400 unless the filter can be served to the caller: an API key must send `symbol` or `min_premium_usd` (spec 8). */
export function requireFlowFilter({ caller }: RequestContext, { symbol, minPremiumUsd }: FlowFilter): void {
  if (minPremiumUsd != null && minPremiumUsd < 0)
    throw invalidParameter('min_premium_usd', 'expected 0 or more dollars');
  if (caller.kind === 'key' && symbol == null && minPremiumUsd == null)
    throw invalidParameter('symbol', 'with an API key, symbol or min_premium_usd is required');
}

/** Throws 403 or 404 unless the caller may read an underlying's flow: flow's own rule first, then the symbol's. */
export async function requireFlowOf(context: RequestContext, symbol: string): Promise<void> {
  requireFlow(context.caller);
  requireSymbol(context.caller, await registeredSymbol(context, symbol));
}
