import { finraExchange } from '../../domain/market/exchanges.ts';
import { priceUnits } from '../../domain/market/print.ts';
import { compositionCategories, isPriceForming, stockTraits } from '../../domain/market/stock-trade-conditions.ts';
import {
  type ActivityRow,
  type CompositionRow,
  disclosureThreshold,
  type ProfileRow,
} from '../../domain/offexchange/off-exchange.ts';
import { addPrint, addTotal, emptyTotal, exactDollars, exactValue, type PrintTotal } from '../prints/exact-sum.ts';
import type { StockLedger } from '../prints/stock-ledger.ts';
import { type CountedLevel, collapse, withholdLevels } from './disclosure.ts';

/** Published figures of a symbol's single session (methodology 6); concentration spans several. */
export interface OffExchangeFigures {
  /** Null below the disclosure threshold: then nothing is published. */
  activity: Omit<ActivityRow, 'date'> | null;
  composition: Omit<CompositionRow, 'date'>[];
  suppressedCategories: number;
  /** Price levels, ascending: also all that concentration is made from. */
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

type PriceLevel = Omit<ProfileRow, 'date'> & CountedLevel;

/**
 * A session's price levels, ascending, before disclosure. The executions of each are counted by category, those of
 * categories in `other` together: their sum is what the levels have more than the categories.
 */
function levelsOf(tally: OffExchangeTally, priced: readonly boolean[], published: ReadonlySet<string>): PriceLevel[] {
  const named = compositionCategories.filter((name, i) => priced[i] && published.has(name));
  const byPrice = new Map<number, { total: PrintTotal; counts: number[] }>();
  for (const [key, total] of tally.levels) {
    const { priceThousandths, category } = levelOf(key);
    if (!priced[category]) continue;
    const level = byPrice.get(priceThousandths) ?? { total: emptyTotal(), counts: Array(named.length + 1).fill(0) };
    byPrice.set(priceThousandths, level);
    addTotal(level.total, total);
    const slot = named.indexOf(compositionCategories[category]!);
    level.counts[slot === -1 ? named.length : slot]! += total.count;
  }
  return [...byPrice]
    .sort(([a], [b]) => a - b)
    .map(([priceThousandths, { total, counts }]) => ({
      priceThousandths,
      volume: exactValue(total.volume),
      notional: exactDollars(total.notional),
      tradeCount: total.count,
      counts,
    }));
}

/** Number of price-forming executions of a session. */
function formingCount(tally: OffExchangeTally): number {
  return compositionCategories.reduce(
    (sum, name, i) => (isPriceForming(name) ? sum + tally.categories[i]!.count : sum),
    0,
  );
}

/** Selects the figures of a session's off-exchange executions that may be published. */
export function offExchangeFigures(tally: OffExchangeTally): OffExchangeFigures {
  const all = sumOf(tally.categories);
  if (all.count < disclosureThreshold) {
    return { activity: null, composition: [], suppressedCategories: 0, profile: [], suppressedLevels: 0 };
  }
  const parts = compositionCategories.map((name, i) => ({ name, total: tally.categories[i]! }));
  const { published, suppressed } = collapse(parts);
  const notional = exactDollars(all.notional);
  const names = new Set<string>(published.map(({ name }) => name));
  const priced = pricedCategories(tally, names);
  const levels = levelsOf(tally, priced, names);
  const inLevels = levels.reduce((sum, { tradeCount }) => sum + tradeCount, 0);
  const profile = withholdLevels(levels, formingCount(tally) - inLevels);
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
    profile: profile.map(({ counts: _, ...row }) => row),
    suppressedLevels: levels.length - profile.length,
  };
}

/** A session's off-exchange executions of a symbol before disclosure: never served, never logged. */
export interface OffExchangeTally {
  /** By index in `compositionCategories`. */
  categories: PrintTotal[];
  /** Everything that counts in volume, on and off exchange. */
  consolidated: PrintTotal;
  /** Price-forming prints, by `levelKey`. */
  levels: Map<number, PrintTotal>;
}

/** A price in thousandths of a dollar, rounded down, and an index in `compositionCategories`. */
const levelKey = (thousandths: number, category: number) => thousandths * compositionCategories.length + category;

/** Splits a key of `levels` into its parts. */
function levelOf(key: number): { priceThousandths: number; category: number } {
  const priceThousandths = Math.floor(key / compositionCategories.length);
  return { priceThousandths, category: key - levelKey(priceThousandths, 0) };
}

/** A tally without executions. */
export function emptyTally(): OffExchangeTally {
  return { categories: compositionCategories.map(emptyTotal), consolidated: emptyTotal(), levels: new Map() };
}

const priceForming = compositionCategories.map(isPriceForming);

/**
 * Adds a print to a tally (1) or removes it (−1). Official prices, and other prints without volume, are not executions.
 */
export function tallyPrint(tally: OffExchangeTally, { columns, mask }: StockLedger, entry: number, sign: 1 | -1): void {
  const slot = entry & mask;
  if ((columns.traits[slot]! & stockTraits.volume) === 0) return;
  const [price, size, micros] = [columns.price[slot]!, columns.size[slot]!, columns.sizeMicros[slot]!];
  addPrint(tally.consolidated, price, size, micros, sign);
  if (columns.exchange[slot] !== finraExchange) return;
  const category = columns.category[slot]!;
  addPrint(tally.categories[category]!, price, size, micros, sign);
  if (!priceForming[category]) return;
  const key = levelKey(Math.floor(price / 10), category);
  let level = tally.levels.get(key);
  if (!level) {
    level = emptyTotal();
    tally.levels.set(key, level);
  }
  addPrint(level, price, size, micros, sign);
  if (level.count === 0) tally.levels.delete(key);
}
