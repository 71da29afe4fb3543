import type { ExpiryInputs } from '../../domain/chain/capture-inputs.ts';
import { batched } from '../../runtime/batched.ts';
import { gexInputsOf } from '../../store/gex/inputs.ts';
import { fromSource, type RequestContext } from '../context.ts';
import { type QuoteTime, quoteTimeOf } from '../quote-time.ts';
import type { ServedGexCapture } from './gex.ts';

/** A file as it is shown to a caller. */
export interface ShownFile {
  /** Null when the caller may not know it. */
  name: string | null;
  sha256: string;
}

/** Inputs of a capture. */
export interface GexInputs extends QuoteTime {
  methodologyVersion: string;
  productVersion: string;
  /** Empty when the chain was not read from a file, or from one of which nothing was stored. */
  files: ShownFile[];
  expiries: ExpiryInputs[];
}

function seesNames({ provenance, caller }: Pick<RequestContext, 'provenance' | 'caller'>): boolean {
  return provenance === 'public' || (provenance === 'account' && caller.attested);
}

/** Inputs of a capture; null for one that was stored without them. */
export async function gexInputs(context: RequestContext, capture: ServedGexCapture): Promise<GexInputs | null> {
  const { underlying, capturedAt, methodologyVersion } = capture;
  const stored = await batched(context, 'gex inputs', { underlying, capturedAt }, (captures) =>
    fromSource(context, 'chain', () => gexInputsOf(context.store, captures)),
  );
  if (stored === null) return null;
  const { file, productVersion, expiries } = stored;
  const shown = file && { ...file, name: seesNames(context) ? file.name : null };
  return { ...quoteTimeOf(capture), methodologyVersion, productVersion, files: shown ? [shown] : [], expiries };
}
