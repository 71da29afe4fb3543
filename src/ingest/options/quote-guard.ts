/*
 * Limits of what a file of quotes may write: a contract's session that is stored is replaced by one that has no fewer
 * quotes in any minute.
 */

import { minuteMs } from '../../domain/units.ts';
import {
  decodedPart,
  type QuotePart,
  quotesOfParts,
  type StoredQuotePart,
  storedQuoteParts,
} from '../../store/chain/option-quotes.ts';
import type { QuoteColumns } from '../../store/chain/quote-block.ts';
import type { Transaction } from '../../store/rows/transaction.ts';
import { keyedChanges, type SessionTally } from '../files/session-tally.ts';

const keyOf = ({ sessionDate, contract }: Pick<QuotePart, 'sessionDate' | 'contract'>) => `${sessionDate} ${contract}`;
const countOf = (parts: readonly { count: number }[]) => parts.reduce((sum, { count }) => sum + count, 0);

/** Adds the quotes of each minute to `counts`. */
function countMinutes({ tsMs }: QuoteColumns, counts: Map<number, number>, each: 1 | -1): void {
  for (const ms of tsMs) {
    const minute = Math.floor(ms / minuteMs);
    counts.set(minute, (counts.get(minute) ?? 0) + each);
  }
}

/** Total by which the stored quotes per minute exceed those of the parts. */
async function lackOf(tx: Transaction, parts: readonly QuotePart[], stored: readonly StoredQuotePart[]) {
  const counts = new Map<number, number>();
  for await (const quotes of quotesOfParts(tx, stored)) countMinutes(quotes, counts, 1);
  for (const part of parts) countMinutes(decodedPart(part), counts, -1);
  return [...counts.values()].reduce((sum, count) => sum + Math.max(0, count), 0);
}

/** True if the parts equal the stored ones. */
function areStored(parts: readonly QuotePart[], stored: readonly StoredQuotePart[]): boolean {
  const versions = new Map(stored.map(({ part, version }) => [part, version]));
  return parts.length === stored.length && parts.every(({ part, version }) => versions.get(part) === version);
}

/**
 * Creates a function that returns the parts that may be written. Pass all parts of a contract's session together. The
 * others are counted as left, these as changed.
 */
export function quoteGuard(tx: Transaction, tally: SessionTally, replace: boolean) {
  const ofKey = keyedChanges(tally);
  return async (given: readonly QuotePart[]): Promise<QuotePart[]> => {
    const stored = Map.groupBy(
      await storedQuoteParts(
        tx,
        given.filter(({ last }) => last),
      ),
      keyOf,
    );
    const allowed: QuotePart[] = [];
    for (const [key, parts] of Map.groupBy(given, keyOf)) {
      const before = stored.get(key) ?? [];
      if (areStored(parts, before)) continue;
      const { sessionDate: session, underlying: symbol } = parts[0]!;
      const missing = replace || before.length === 0 ? 0 : await lackOf(tx, parts, before);
      const [count, held] = [countOf(parts), countOf(before)];
      if (missing > 0) tally.left(session, 'fewer', { symbol, count, stored: held, missing });
      else {
        ofKey({ session, symbol, key, before: held, after: count });
        allowed.push(...parts);
      }
    }
    return allowed;
  };
}
