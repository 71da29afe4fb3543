import { flipStatusOfRows, isRemote } from '../../core/analytics/gex/flip-status.ts';
import type { FlipStatus } from '../../core/domain/gex/flip-status.ts';
import { type MaybePromise, whenThere } from '../../platform/runtime/maybe-promise.ts';
import type { RequestContext } from '../context.ts';
import type { ServedGexCapture } from './gex.ts';
import { isPartial } from './partial.ts';

const priceOf = ({ spot, priorCloseSpot }: Pick<ServedGexCapture, 'spot' | 'priorCloseSpot'>) => spot ?? priorCloseSpot;

/** True if a capture's flip point is far from its price; null without either. */
export function flipIsRemote(capture: ServedGexCapture): boolean | null {
  return isRemote(capture.flipPoint, priceOf(capture));
}

/**
 * Status of a capture's flip point; computed from its rows if it was stored without one. Null if they do not determine
 * it.
 */
export function flipStatusOf(context: RequestContext, capture: ServedGexCapture): MaybePromise<FlipStatus | null> {
  if (capture.flipStatus !== null) return capture.flipStatus;
  const { flipPoint, netGex, columns } = capture;
  const figures = { strikeCount: columns.strike.length, flipPoint, price: priceOf(capture), netGex };
  const crosses = columns.strike.length > 0 && flipPoint !== null;
  return whenThere(crosses && isPartial(context, capture), (partial) =>
    flipStatusOfRows({ ...figures, isPartial: partial }, columns.gex),
  );
}
