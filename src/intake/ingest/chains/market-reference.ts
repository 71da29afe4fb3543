import type { MarketReference } from '../../../core/analytics/pricing/group-rate.ts';
import { billWithout } from '../../../core/domain/market/rates.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { readDividends } from '../../../store/market/dividends.ts';
import { readCurve } from '../../../store/market/rates.ts';
import type { Reader } from '../../../store/rows/reader.ts';

/**
 * Pricing inputs of an underlying's chains in a session: its stored curve and dividends, without a curve the rate of US
 * bills, and the configured rate, which is used without either.
 */
export async function readReference(
  from: Pick<Reader, 'prisma'>,
  { underlying, sessionDate }: { underlying: string; sessionDate: SessionDate },
  rate: number,
): Promise<MarketReference> {
  const curve = await readCurve(from, sessionDate);
  const bill = billWithout(curve, sessionDate);
  return { rate, curve, bill, dividends: await readDividends(from, underlying) };
}
