import type { TradedContract } from '../../domain/chain/contract-book.ts';
import type { BarColumns } from '../../domain/market/bar.ts';
import { minuteMs } from '../../domain/units.ts';
import { type OptionLedger, printState } from '../prints/option-ledger.ts';
import type { PrintLinks } from '../prints/print-links.ts';
import { createBarRowPool } from './bar-row-pool.ts';
import { barsOfRows } from './bar-rows.ts';

/** Bars of option contracts from their prints. */
export interface OptionBars {
  /** Adds a counted print. */
  count(entry: number): void;
  /** Makes the minute of a print again after it was taken back. */
  recount(entry: number): void;
  /**
   * The minutes so far that start at or after `fromMs`, ascending; empty for a contract that is not followed or has not
   * traded. Longer bars are made of them.
   */
  minutes(contract: TradedContract, fromMs?: number): BarColumns;
  /**
   * Contracts whose bars changed since they were last taken, and the first minute that did; at most `most`, those that
   * have waited longest.
   */
  takeChanged(most?: number): { contract: TradedContract; fromMs: number }[];
  /** The first minute that changed and was not taken; null = all was. */
  changedFromMs(): number | null;
  /** Takes what changed before a minute. */
  takeBefore(fromMs: number): void;
}

/** Bars of the contracts that `followed` names, over a ledger and its links. */
export function createOptionBars(
  ledger: OptionLedger,
  links: PrintLinks,
  followed: (contract: TradedContract) => boolean,
): OptionBars {
  const { columns } = ledger;
  const pool = createBarRowPool();
  // By contract index.
  const isFollowed: (boolean | undefined)[] = [];
  // By contract index, the first minute that changed, ∞ = none did; and the contracts with a changed minute, in the
  // order in which they changed.
  let changedFrom = new Float64Array(256).fill(Infinity);
  let changed: number[] = [];
  const print = { entry: 0, price: 0, size: 0, sizeMicros: 0, traits: 0 };
  // A print that is forgotten came before every one that is not.
  const before = (a: number, b: number) => b >= ledger.oldest && ledger.before(a, b);
  const minuteOf = (entry: number) => {
    const tsMs = columns.tsMs[entry & ledger.mask]!;
    return tsMs - (tsMs % minuteMs);
  };

  function follows(index: number): boolean {
    const known = isFollowed[index];
    if (known !== undefined) return known;
    isFollowed[index] = followed(ledger.contracts[index]!);
    return isFollowed[index];
  }

  function noteChange(index: number, startMs: number) {
    if (index >= changedFrom.length) {
      const longer = new Float64Array(Math.max(2 * changedFrom.length, index + 1)).fill(Infinity);
      longer.set(changedFrom);
      changedFrom = longer;
    }
    const known = changedFrom[index]!;
    if (known === Infinity) changed.push(index);
    if (startMs < known) changedFrom[index] = startMs;
  }

  function add(index: number, startMs: number, entry: number) {
    const slot = entry & ledger.mask;
    print.entry = entry;
    print.price = columns.price[slot]!;
    print.size = columns.size[slot]!;
    print.traits = columns.traits[slot]!;
    pool.add(index, startMs, print, before);
  }

  return {
    count(entry) {
      const index = columns.contract[entry & ledger.mask]!;
      if (!follows(index)) return;
      const startMs = minuteOf(entry);
      add(index, startMs, entry);
      noteChange(index, startMs);
    },
    recount(entry) {
      const index = columns.contract[entry & ledger.mask]!;
      if (!follows(index)) return;
      const startMs = minuteOf(entry);
      pool.empty(index, startMs);
      for (let n = links.contractHead(index); n >= ledger.oldest; n = columns.previousOfContract[n & ledger.mask]!) {
        const tsMs = columns.tsMs[n & ledger.mask]!;
        if (tsMs < startMs) break;
        if (tsMs < startMs + minuteMs && columns.state[n & ledger.mask] === printState.counted) add(index, startMs, n);
      }
      noteChange(index, startMs);
    },
    minutes: ({ index }, fromMs = -Infinity) => barsOfRows(pool.rows(index, fromMs), fromMs, true),
    takeChanged(most = Infinity) {
      const taken = changed.slice(0, most);
      const contracts = taken.map((index) => ({ contract: ledger.contracts[index]!, fromMs: changedFrom[index]! }));
      for (const index of taken) changedFrom[index] = Infinity;
      changed = changed.slice(taken.length);
      return contracts;
    },
    changedFromMs() {
      const firstMs = changed.reduce((first, index) => Math.min(first, changedFrom[index]!), Infinity);
      return firstMs === Infinity ? null : firstMs;
    },
    takeBefore(fromMs) {
      for (const index of changed) changedFrom[index] = Math.max(changedFrom[index]!, fromMs);
    },
  };
}
