import type { ChainCapture } from '../domain/chain/chain.ts';
import { batched } from '../runtime/batched.ts';
import { chainCapturesAt } from '../store/chain/chain-captures.ts';
import { fromSource, ofAllInstants, type RequestContext } from './context.ts';

/** The last chain captured as of `atMs`; null if there is none. */
export function chainAt(context: RequestContext, underlying: string, atMs: number): Promise<ChainCapture | null> {
  return batched(ofAllInstants(context), 'chains', { underlying, atMs }, (asked) =>
    fromSource(context, 'chain', () => chainCapturesAt(context.store, asked)),
  );
}
