import { priceUnits } from '../../domain/market/print.ts';
import { compositionCategories, isPriceForming } from '../../domain/market/stock-trade-conditions.ts';
import {
  type ActivityRow,
  type CompositionRow,
  disclosureThreshold,
  type ProfileRow,
} from '../../domain/offexchange/off-exchange.ts';
import { addTotal, emptyTotal, exactDollars, exactValue, type PrintTotal } from '../prints/exact-sum.ts';
import { collapse, withholdRows } from './disclosure.ts';
import { levelOf, type OffExchangeTally } from './tally.ts';

/** Published figures of a symbol's single session (methodology 6); concentration spans several. */
export interface OffExchangeFigures {
  /** Null below the disclosure threshold: then nothing is published. */
  activity: Omit<ActivityRow, 'date'> | null;
  composition: Omit<CompositionRow, 'date'>[];
  suppressedCategories: number;
  profile: Omit<ProfileRow, 'date'>[];
  suppressedLevels: number;
  /** The price levels, ascending, before disclosure: the input of concentration. */
  levels: Omit<ProfileRow, 'date'>[];
}

function sumOf(totals: readonly PrintTotal[]): PrintTotal {
  const sum = emptyTotal();
  for (const total of totals) addTotal(sum, total);
  return sum;
}

function priceOf({ notional, volume }: PrintTotal): number {
  return exactValue(notional) / exactValue(volume) / priceUnits;
}

const hasEnough = (executions: number) => executions === 0 || executions >= disclosureThreshold;

/**
 * For each category, whether its prints count in figures of price-forming prints. The difference between such a figure
 * and the categories published under their own name is the price-forming part of `other`. If this part, or the rest of
 * `other`, has one or two executions, all these figures omit the part.
 */
function pricedCategories(tally: OffExchangeTally, published: ReadonlySet<string>): boolean[] {
  const hidden = { forming: 0, others: 0 };
  for (const [i, name] of compositionCategories.entries()) {
    if (name !== 'other' && published.has(name)) continue;
    hidden[isPriceForming(name) ? 'forming' : 'others'] += tally.categories[i]!.count;
  }
  const tellsHidden = hasEnough(hidden.forming) && hasEnough(hidden.others);
  return compositionCategories.map((name) => isPriceForming(name) && (tellsHidden || published.has(name)));
}

function activityOf(tally: OffExchangeTally, all: PrintTotal, priced: readonly boolean[]): Omit<ActivityRow, 'date'> {
  const forming = sumOf(tally.categories.filter((_, i) => priced[i]));
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
function levelsOf(tally: OffExchangeTally, priced: readonly boolean[]): Omit<ProfileRow, 'date'>[] {
  const byPrice = new Map<number, PrintTotal>();
  for (const [key, total] of tally.levels) {
    const { priceThousandths, category } = levelOf(key);
    if (!priced[category]) continue;
    const level = byPrice.get(priceThousandths) ?? emptyTotal();
    byPrice.set(priceThousandths, level);
    addTotal(level, total);
  }
  return [...byPrice]
    .sort(([a], [b]) => a - b)
    .map(([priceThousandths, total]) => ({
      priceThousandths,
      volume: exactValue(total.volume),
      notional: exactDollars(total.notional),
      tradeCount: total.count,
    }));
}

/** Selects the figures of a session's off-exchange executions that may be published. */
export function offExchangeFigures(tally: OffExchangeTally): OffExchangeFigures {
  const all = sumOf(tally.categories);
  if (all.count < disclosureThreshold) {
    return { activity: null, composition: [], suppressedCategories: 0, profile: [], suppressedLevels: 0, levels: [] };
  }
  const parts = compositionCategories.map((name, i) => ({ name, total: tally.categories[i]! }));
  const { published, suppressed } = collapse(parts);
  const notional = exactDollars(all.notional);
  const priced = pricedCategories(tally, new Set(published.map(({ name }) => name)));
  const levels = levelsOf(tally, priced);
  const profile = withholdRows(levels, ({ tradeCount }) => tradeCount >= disclosureThreshold);
  return {
    activity: activityOf(tally, all, priced),
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
    levels,
  };
}
