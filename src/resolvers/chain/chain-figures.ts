import type { SurfaceOptions } from '../../core/analytics/chain/volatility-surface.ts';
import type { ChainCapture } from '../../core/domain/chain/chain.ts';
import { billWithout } from '../../core/domain/market/rates.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { type RequestContext, rootsOf } from '../context.ts';
import { loadCurve, loadDividends } from '../corporate.ts';

const stored: SurfaceOptions = {};

/**
 * Reads what a chain is priced with beside its quotes: nothing if that is stored with it. For minutes, and chains of
 * earlier versions, the roots, rates and dividends as they are known now.
 */
async function referenceOf(context: RequestContext, chain: ChainCapture): Promise<SurfaceOptions> {
  if (chain.pricing) return stored;
  const [roots, curve, dividends] = await Promise.all([
    rootsOf(context),
    loadCurve(context, chain.sessionDate),
    loadDividends(context, chain.underlying),
  ]);
  return { roots, curve, bill: billWithout(curve, chain.sessionDate), dividends };
}

function isSame(a: SurfaceOptions, b: SurfaceOptions): boolean {
  return a.roots === b.roots && a.curve === b.curve && a.dividends === b.dividends;
}

/** Makes a loader of what is computed from a capture, once while the capture and its reference data stay the same. */
export function chainFigures<T>(compute: (chain: ChainCapture, reference: SurfaceOptions) => T) {
  // Captures are shared and never change, so results are cached with them.
  const computed = new WeakMap<ChainCapture, { reference: SurfaceOptions; figures: T }>();
  return async (context: RequestContext, chain: ChainCapture): Promise<T> => {
    const reference = await referenceOf(context, chain);
    const known = computed.get(chain);
    if (known && isSame(known.reference, reference)) return known.figures;
    // The forwards of a large chain take about 10 ms: other requests run between two symbols.
    await yieldToEventLoop();
    const figures = compute(chain, reference);
    computed.set(chain, { reference, figures });
    return figures;
  };
}
