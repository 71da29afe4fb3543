import { previousTradingDay } from '../../core/domain/calendar.ts';
import { splitFactor } from '../../core/domain/market/splits.ts';
import type { RequestContext } from '../context.ts';
import { loadSplits } from '../corporate.ts';
import type { ServedGexCapture } from './gex.ts';

/**
 * The prior close of a capture, dollars, in shares of its session; null if unknown. On the ex-date of a split some
 * sources report it as printed, others already divided: the value nearer to the spot is used.
 */
export async function priorCloseOf(
  context: RequestContext,
  {
    underlying,
    sessionDate,
    spot,
    priorCloseSpot: stored,
  }: Pick<ServedGexCapture, 'underlying' | 'sessionDate' | 'spot' | 'priorCloseSpot'>,
): Promise<number | null> {
  if (stored === null) return null;
  const splits = await loadSplits(context, underlying);
  const divided = stored / splitFactor(splits, previousTradingDay(sessionDate), sessionDate);
  if (spot === null || !(spot > 0)) return divided;
  const distance = (price: number) => Math.abs(Math.log(price / spot));
  return distance(divided) < distance(stored) ? divided : stored;
}
