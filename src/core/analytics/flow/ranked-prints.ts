import {
  type CoverageStatus,
  type RankedList,
  type RankedListName,
  type RankedPrint,
  rankedListNames,
  rankedListSize,
} from '../../domain/flow/flow.ts';

/** A print that may enter a list. */
export type RankedCandidate = Omit<RankedPrint, 'rank' | 'sessionDate' | 'coverageStatus'>;

/** The prints of largest premium by underlying, updated as prints arrive and are cancelled. */
export interface RankedPrints {
  /**
   * The minimum premium, dollars, with which a print of the underlying could still enter; −∞ while the list is not
   * full.
   */
  floor(underlying: string): number;
  add(print: RankedCandidate): void;
  withdraw(underlying: string, printId: string): void;
  /** Underlyings with prints, in alphabetical order, and their largest in rank order. */
  tops(): { underlying: string; prints: RankedCandidate[] }[];
}

// More are stored than are listed, so that a list stays exact while up to 50 of an underlying's largest prints are
// cancelled.
const capacity = 1.5 * rankedListSize;

/** Order of the lists (methodology 4): premium descending, then event time, sequence, print id. */
export function compareRanked(a: RankedCandidate, b: RankedCandidate): number {
  return (
    b.premiumUsd - a.premiumUsd ||
    a.eventTsMs - b.eventTsMs ||
    a.sequence - b.sequence ||
    (a.printId < b.printId ? -1 : a.printId > b.printId ? 1 : 0)
  );
}

/** The index at which `print` belongs in an ordered list. */
function indexOf(prints: readonly RankedCandidate[], print: RankedCandidate): number {
  let low = 0;
  let high = prints.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareRanked(prints[middle]!, print) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Creates empty lists. */
export function createRankedPrints(): RankedPrints {
  const byUnderlying = new Map<string, RankedCandidate[]>();
  return {
    floor(underlying) {
      const prints = byUnderlying.get(underlying);
      return prints !== undefined && prints.length === capacity ? prints[capacity - 1]!.premiumUsd : -Infinity;
    },
    add(print) {
      const prints = byUnderlying.get(print.underlying) ?? [];
      if (prints.length === 0) byUnderlying.set(print.underlying, prints);
      prints.splice(indexOf(prints, print), 0, print);
      if (prints.length > capacity) prints.pop();
    },
    withdraw(underlying, printId) {
      const prints = byUnderlying.get(underlying) ?? [];
      const at = prints.findIndex((print) => print.printId === printId);
      if (at >= 0) prints.splice(at, 1);
    },
    tops: () =>
      [...byUnderlying]
        .filter(([, prints]) => prints.length > 0)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([underlying, prints]) => ({ underlying, prints: prints.slice(0, rankedListSize) })),
  };
}

/** Properties that all lists of a session share. */
export interface RankedStamp {
  sessionDate: string;
  coverageStatus: CoverageStatus;
  scannedAtMs: number;
  source: string;
}

/**
 * Every list of a session: `free` of equity options, `pro` of all; each by underlying, and over all of its underlyings
 * (`*`). The largest over all are among the largest of each.
 */
export function rankedLists(
  tops: ReturnType<RankedPrints['tops']>,
  isIndex: (underlying: string) => boolean,
  stamp: RankedStamp,
): RankedList[] {
  const { sessionDate, coverageStatus } = stamp;
  const listOf = (scope: string, list: RankedListName, prints: readonly RankedCandidate[]): RankedList => ({
    scope,
    list,
    ...stamp,
    prints: prints.slice(0, rankedListSize).map((print, i) => ({ ...print, sessionDate, coverageStatus, rank: i + 1 })),
  });
  return rankedListNames.flatMap((list) => {
    const listed = list === 'free' ? tops.filter(({ underlying }) => !isIndex(underlying)) : tops;
    const all = listed.flatMap(({ prints }) => prints).sort(compareRanked);
    return [listOf('*', list, all), ...listed.map(({ underlying, prints }) => listOf(underlying, list, prints))];
  });
}
