// The two prices at which dealer gamma changes sign, the one that says more first.
import type { GexCapture } from '../../../../../generated/pages/operation-types.ts';

/** A price at which gamma changes sign, dollars; null if there is none. */
export interface Crossing {
  name: 'Flip' | 'Zero gamma';
  at: number | null;
  what: string;
}

/** Why a flip point says less than zero gamma; absent of those that do not. */
const reasons: Partial<Record<NonNullable<GexCapture['flipStatus']>, string>> = {
  partial: 'part of the chain is missing',
  remote: 'more than 20% from the spot',
  fragile: 'net gex is less than 1% of gross gex',
};

/** Flip point and zero gamma of a capture; zero gamma is first if the flip point says less. */
export function crossingsOf(
  capture: Pick<GexCapture, 'flipPoint' | 'flipStatus' | 'zeroGamma'> | null,
): readonly [Crossing, Crossing] {
  const reason = capture?.flipStatus ? reasons[capture.flipStatus] : undefined;
  const what = 'Price at which the cumulative net curve crosses zero';
  const flip: Crossing = {
    name: 'Flip',
    at: capture?.flipPoint ?? null,
    what: reason ? `${what}; zero gamma says more: ${reason}` : what,
  };
  const zeroGamma: Crossing = {
    name: 'Zero gamma',
    at: capture?.zeroGamma ?? null,
    what: 'Price at which re-priced net gamma changes sign',
  };
  return reason ? [zeroGamma, flip] : [flip, zeroGamma];
}
