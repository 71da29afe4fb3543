// The two prices at which dealer gamma changes sign, the more informative first.
import type { GexCapture } from '../../../../../generated/pages/operation-types.ts';

/** A price at which gamma changes sign, dollars; null if there is none. */
export interface Crossing {
  name: 'Flip' | 'Zero gamma';
  at: number | null;
  what: string;
}

/** Reasons for which a flip point is less informative than zero gamma; absent for statuses without one. */
const reasons: Partial<Record<NonNullable<GexCapture['flipStatus']>, string>> = {
  partial: 'part of the chain is missing',
  remote: 'more than 20% from the spot',
  fragile: 'net gex is less than 1% of gross gex',
};

/** Flip point and zero gamma of a capture; zero gamma is first if the flip point is less informative. */
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
