import {
  type ActivityRow,
  type CompositionRow,
  disclosureThreshold,
  type ProfileRow,
} from '../../domain/off-exchange.ts';
import { priceUnits } from '../../domain/print.ts';
import { compositionCategories, isPriceForming } from '../../domain/stock-trade-conditions.ts';
import { addTotal, emptyTotal, exactDollars, exactValue, type PrintTotal } from '../prints/exact-sum.ts';
import { collapse, withholdRows } from './disclosure.ts';
import type { OffExchangeTally } from './tally.ts';

/** What is published of a symbol's session by itself (methodology 6); concentration looks over several. */
export interface OffExchangeFigures {
  /** Null under the disclosure threshold: then nothing is published. */
  activity: Omit<ActivityRow, 'date'> | null;
  composition: Omit<CompositionRow, 'date'>[];
  suppressedCategories: number;
  profile: Omit<ProfileRow, 'date'>[];
  suppressedLevels: number;
}

function sumOf(totals: readonly PrintTotal[]): PrintTotal {
  const sum = emptyTotal();
  for (const total of totals) addTotal(sum, total);
  return sum;
}

function priceOf({ notional, volume }: PrintTotal): number {
  return exactValue(notional) / exactValue(volume) / priceUnits;
}

function activityOf(tally: OffExchangeTally, all: PrintTotal): Omit<ActivityRow, 'date'> {
  const forming = sumOf(tally.categories.filter((_, i) => isPriceForming(compositionCategories[i]!)));
  const volume = exactValue(all.volume);
  const consolidated = exactValue(tally.consolidated.volume);
  return {
    offExchVolume: volume,
    notional: exactDollars(all.notional),
    tradeCount: all.count,
    avgSize: volume / all.count,
    vwap: priceOf(exactValue(forming.volume) > 0 ? forming : all),
    offExchPct: consolidated > 0 ? volume / consolidated : null,
    consolidatedVolume: consolidated,
    consolidatedNotional: exactDollars(tally.consolidated.notional),
  };
}

/** A session's price levels, ascending, before disclosure. Dollars and shares as doubles of exact sums. */
export function levelsOf({ levels }: OffExchangeTally): Omit<ProfileRow, 'date'>[] {
  return [...levels]
    .sort(([a], [b]) => a - b)
    .map(([priceThousandths, total]) => ({
      priceThousandths,
      volume: exactValue(total.volume),
      notional: exactDollars(total.notional),
      tradeCount: total.count,
    }));
}

/** What may be published of a session's off-exchange executions. */
export function offExchangeFigures(tally: OffExchangeTally): OffExchangeFigures {
  const all = sumOf(tally.categories);
  if (all.count < disclosureThreshold) {
    return { activity: null, composition: [], suppressedCategories: 0, profile: [], suppressedLevels: 0 };
  }
  const parts = compositionCategories.map((name, i) => ({ name, total: tally.categories[i]! }));
  const { published, suppressed } = collapse(parts);
  const notional = exactDollars(all.notional);
  const profile = withholdRows(levelsOf(tally), ({ tradeCount }) => tradeCount >= disclosureThreshold);
  return {
    activity: activityOf(tally, all),
    composition: published.map(({ name, total }) => ({
      category: name,
      volume: exactValue(total.volume),
      notional: exactDollars(total.notional),
      tradeCount: total.count,
      shareOfOffExchNotional: notional > 0 ? exactDollars(total.notional) / notional : 0,
    })),
    suppressedCategories: suppressed,
    profile: profile.published,
    suppressedLevels: profile.withheld,
  };
}
