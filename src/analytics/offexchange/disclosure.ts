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

/**
 * The rows that may be published, if their total can be derived from other published figures: when one or two
 * executions are withheld in total, the smallest publishable row is withheld too.
 */
export function withholdRows<T extends { tradeCount: number; notional: number }>(
  rows: readonly T[],
  mayPublish: (row: T) => boolean,
): { published: T[]; withheld: number } {
  const published = rows.filter(mayPublish);
  const hidden = rows.filter((row) => !mayPublish(row)).reduce((sum, { tradeCount }) => sum + tradeCount, 0);
  if (hidden > 0 && hidden < disclosureThreshold && published.length > 0) {
    const smallest = published.reduce((least, row) =>
      (row.tradeCount - least.tradeCount || row.notional - least.notional) < 0 ? row : least,
    );
    published.splice(published.indexOf(smallest), 1);
  }
  return { published, withheld: rows.length - published.length };
}
