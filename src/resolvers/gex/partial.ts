import { batched } from '../../platform/runtime/batched.ts';
import { incompleteChains } from '../../store/chain/chain-captures.ts';
import type { StoredGexCapture } from '../../store/gex/captures.ts';
import { fromSource, ofAllInstants, type RequestContext } from '../context.ts';

/** True if the chain behind a capture is known to lack contracts. */
export function isPartial(
  context: RequestContext,
  { underlying, capturedAt }: Pick<StoredGexCapture, 'underlying' | 'capturedAt'>,
): Promise<boolean> {
  return batched(ofAllInstants(context), 'incomplete chains', { underlying, capturedAt }, (captures) =>
    fromSource(context, 'chain', () => incompleteChains(context.store, captures)),
  );
}
