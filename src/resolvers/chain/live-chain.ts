import { requireSymbol } from '../../access/entitlement/entitlement.ts';
import type { ChainCapture } from '../../domain/chain/chain.ts';
import type { LiveSource } from '../../live/source.ts';
import { findSymbol, type RequestContext, requireSource } from '../context.ts';
import { requireReadable } from '../gex/gex.ts';

/** An underlying's chains: the latest, then each as it is captured. 403 when the symbol may not be read. */
export async function followChain(context: RequestContext, symbol: string): Promise<LiveSource<ChainCapture>> {
  await requireReadable(context, symbol);
  requireSource(context, 'chain');
  return context.live.chains.follow({
    keys: [symbol],
    resume: null,
    async check(caller) {
      const entry = await findSymbol(context, symbol);
      if (entry) requireSymbol(caller, entry);
    },
  });
}
