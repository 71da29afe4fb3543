import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { ChainCapture } from '../../core/domain/chain/chain.ts';
import type { ChainState } from '../../live/chains.ts';
import type { Following } from '../../live/topics.ts';
import { findSymbol, type RequestContext, requireSource } from '../context.ts';
import { resumption, type Since } from '../since.ts';

/** Following an underlying's chains: the latest, then each new one. 403 if the symbol may not be read. */
export async function chainFollowing(
  context: RequestContext,
  symbol: string,
  since: Since,
): Promise<Following<ChainState, ChainCapture>> {
  requireReadable(context.caller, await findSymbol(context, symbol));
  requireSource(context, 'chain');
  return {
    keys: [symbol],
    resume: resumption(context, since, {
      after: async ({ latest }) => (latest ? [latest] : []),
      since: async ({ latest }, sinceMs) => (latest && latest.value.capturedAt > sinceMs ? [latest] : []),
    }),
    async check(caller) {
      const entry = await findSymbol(context, symbol);
      requireReadable(caller, entry);
    },
  };
}
