import { disclosureThreshold } from '../../domain/offexchange/off-exchange.ts';
import { addTotal, emptyTotal, type PrintTotal } from '../prints/exact-sum.ts';

/** Executions of one kind. */
export interface NamedTotal {
  name: string;
  total: PrintTotal;
}

const bySize = (a: NamedTotal, b: NamedTotal) =>
  a.total.count - b.total.count || a.total.notional.whole - b.total.notional.whole || (a.name < b.name ? -1 : 1);

/**
 * Parts of a published total such that none has fewer than three executions, nor can be derived by subtraction
 * (methodology 6): smaller ones are merged into `other`; if `other` then has one or two, the smallest remaining part is
 * merged too. The parts still add up to the total. `suppressed`: parts not published under their own name.
 */
export function collapse(parts: readonly NamedTotal[]): { published: NamedTotal[]; suppressed: number } {
  const other: NamedTotal = { name: 'other', total: emptyTotal() };
  let published: NamedTotal[] = [];
  let suppressed = 0;
  for (const part of parts) {
    if (part.name !== other.name && part.total.count >= disclosureThreshold) {
      published.push(part);
      continue;
    }
    if (part.name !== other.name && part.total.count > 0) suppressed++;
    addTotal(other.total, part.total);
  }
  while (other.total.count > 0 && other.total.count < disclosureThreshold && published.length > 0) {
    const smallest = published.reduce((least, part) => (bySize(part, least) < 0 ? part : least));
    published = published.filter((part) => part !== smallest);
    addTotal(other.total, smallest.total);
    suppressed++;
  }
  return { published: other.total.count > 0 ? [...published, other] : published, suppressed };
}

/** A price level before disclosure, with its executions by the published sum they count in. */
export interface CountedLevel {
  tradeCount: number;
  notional: number;
  counts: readonly number[];
}

/** Number of executions that are in the sums of `group`, a bit each. */
function within(counts: readonly number[], group: number): number {
  return counts.reduce((sum, count, i) => (group & (1 << i) ? sum + count : sum), 0);
}

const isTooFew = (executions: number) => executions > 0 && executions < disclosureThreshold;

/**
 * The price levels that may be published beside sums of their executions (methodology 6). Levels and sums are the nodes
 * of a graph, and each execution is an edge between its sum and its level; if the level is withheld, between its sum
 * and the ground. The executions that a combination of published figures leaves are a cut of the graph. So the smallest
 * level that enlarges a cut of one or two executions is withheld, until no such cut is left. Each sum has three
 * executions or more. `omitted`: number of price-forming executions that are in no level.
 */
export function withholdLevels<T extends CountedLevel>(levels: readonly T[], omitted: number): T[] {
  const sums = levels[0]?.counts.length ?? 0;
  const ground = Array<number>(sums).fill(0);
  const withhold = ({ counts }: T) => {
    for (const [i, count] of counts.entries()) ground[i]! += count;
  };
  const published = levels.filter(({ tradeCount }) => tradeCount >= disclosureThreshold);
  for (const level of levels) if (level.tradeCount < disclosureThreshold) withhold(level);
  const cutOf = (group: number) =>
    published.reduce(
      (cut, { counts, tradeCount }) => cut + Math.min(within(counts, group), tradeCount - within(counts, group)),
      within(ground, group),
    );
  const all = (1 << sums) - 1;
  const groups = Array.from({ length: all }, (_, i) => i + 1);
  for (;;) {
    const group = isTooFew(cutOf(all) + omitted) ? all : groups.find((each) => isTooFew(cutOf(each)));
    const enlarging = published.filter((level) => 2 * within(level.counts, group ?? 0) > level.tradeCount);
    if (enlarging.length === 0) return published;
    const smallest = enlarging.reduce((least, level) =>
      (level.tradeCount - least.tradeCount || level.notional - least.notional) < 0 ? level : least,
    );
    withhold(smallest);
    published.splice(published.indexOf(smallest), 1);
  }
}
