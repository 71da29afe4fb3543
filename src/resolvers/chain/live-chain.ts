import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { ChainCapture } from '../../domain/chain/chain.ts';
import type { LiveSource } from '../../live/source.ts';
import { findSymbol, type RequestContext, requireSource } from '../context.ts';

/** An underlying's chains: the latest, then each new one. 403 if the symbol may not be read. */
export async function followChain(context: RequestContext, symbol: string): Promise<LiveSource<ChainCapture>> {
  requireReadable(context.caller, await findSymbol(context, symbol));
  requireSource(context, 'chain');
  return context.live.chains.follow({
    keys: [symbol],
    resume: null,
    async check(caller) {
      const entry = await findSymbol(context, symbol);
      requireReadable(caller, entry);
    },
  });
}
