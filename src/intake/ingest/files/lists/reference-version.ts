import { hash } from 'node:crypto';
import type { MarketReference } from '../../../../core/analytics/pricing/group-rate.ts';
import { nextTradingDay } from '../../../../core/domain/calendar.ts';
import type { OptionRoots } from '../../../../core/domain/chain/option-root.ts';
import type { SessionDate } from '../../../../core/domain/market-time.ts';

/** Hash of all reference data of a session's captures. Their figures change only if it does. */
export function referenceVersion(
  { roots: names, sessionDate }: { roots: Iterable<string>; sessionDate: SessionDate },
  { curve = [], bill = null, dividends = [] }: MarketReference,
  roots: OptionRoots,
): string {
  const terms = [...new Set(names)].sort().map((root) => {
    const { style, settlement, multiplier, sharesPerContract, followsSpot, adjusted } = roots.of(root, sessionDate);
    return [root, style, settlement, multiplier, sharesPerContract, followsSpot, adjusted];
  });
  // A capture of a weekend belongs to the session before; declarations up to the capture count.
  const next = nextTradingDay(sessionDate);
  const coming = dividends.filter(({ exDate, declared }) => exDate > sessionDate && !(declared && declared >= next));
  const facts = {
    terms,
    curve: curve.map(({ days, rate }) => [days, rate]),
    bill: bill?.rate,
    dividends: coming.map(({ exDate, declared, amount, ratio }) => [exDate, declared, amount, ratio]),
  };
  return hash('sha256', JSON.stringify(facts), 'base64url').slice(0, 16);
}
