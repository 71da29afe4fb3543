import { tradeDate } from '../../core/domain/calendar.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';

/**
 * Assertions on the blocks that this program computes: what must hold of every block of a kind. They are made when a
 * block is written, and again when it is read. What vendors report is not asserted; it is checked when it is ingested.
 */
type When = 'write' | 'read';

const failures = new Map<string, number>();

/** Number of failed assertions in this process, by kind of block and `write` or `read`. */
export function failedAssertions(): { kind: string; when: string; count: number }[] {
  return Array.from(failures, ([key, count]) => {
    const [kind, when] = key.split('\n') as [string, When];
    return { kind, when, count };
  });
}

/**
 * An assertion failed: a block to write is wrong, and its transaction must not be committed; or a stored one is wrong,
 * and must not be served.
 */
export class BlockAssertionError extends Error {
  constructor(kind: string, when: When, condition: string, block: string) {
    super(`${when === 'write' ? 'a block to write' : 'a stored block'} of ${kind} is wrong (${block}): ${condition}`);
    this.name = 'BlockAssertionError';
  }
}

/** The assertions on a kind of block. Both functions throw `BlockAssertionError`. */
export interface BlockAssertions<T> {
  onWrite(block: T): void;
  onRead(block: T): void;
}

/**
 * Declares what holds of a kind of block. `nameOf` identifies a block for the log. A condition is named by what holds,
 * and is true if it does; it is not evaluated if one before it does not hold.
 */
export function blockAssertions<T>(
  kind: string,
  nameOf: (block: T) => string,
  conditions: Readonly<Record<string, (block: T) => boolean>>,
): BlockAssertions<T> {
  const named = Object.entries(conditions);
  const assertOn = (when: When) => (block: T) => {
    for (const [condition, holds] of named) {
      if (holds(block)) continue;
      const key = `${kind}\n${when}`;
      failures.set(key, (failures.get(key) ?? 0) + 1);
      throw new BlockAssertionError(kind, when, condition, nameOf(block));
    }
  };
  return { onWrite: assertOn('write'), onRead: assertOn('read') };
}

/**
 * True if an instant is of a session that `isIt` accepts: that of its New York date, as earlier releases divided
 * sessions, or that of its trade date. Nearly all are of both, and the first is quickly found.
 */
function isOfSession(tsMs: number, isIt: (session: SessionDate) => boolean): boolean {
  return isIt(exchangeDate(tsMs)) || isIt(tradeDate(tsMs));
}

/** True if the first and the last of ascending instants are of a session, as `isOfSession` determines. */
export function areOfSession(tsMs: ArrayLike<number>, isIt: (session: SessionDate) => boolean): boolean {
  return tsMs.length === 0 || (isOfSession(tsMs[0]!, isIt) && isOfSession(tsMs[tsMs.length - 1]!, isIt));
}

/** True if numbers ascend, each above the one before; false if one is unknown. */
export function ascends(values: ArrayLike<number>): boolean {
  let before = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!(value > before)) return false;
    before = value;
  }
  return true;
}

/**
 * True if `sum` is that of `count` terms whose absolute values add up to `gross`, in whichever order they were added:
 * the results of two orders differ by at most (count − 1)·2⁻⁵²·gross, however small the sum itself is.
 */
export function isSumOf(
  sum: number,
  { total, gross, count }: { total: number; gross: number; count: number },
): boolean {
  return Math.abs(sum - total) <= count * Number.EPSILON * gross;
}
