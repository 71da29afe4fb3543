import type { BarColumns } from '../domain/bar.ts';
import type { TradedContract } from '../domain/contract-book.ts';
import { minuteMs } from '../domain/units.ts';
import { addToBar, type BarRows, barsOfRows, createBarRows, emptyBar, foldRows } from './bar-rows.ts';
import { type OptionLedger, printState } from './option-ledger.ts';
import type { PrintLinks } from './print-links.ts';

/** Bars of option contracts from their prints. */
export interface OptionBars {
  /** Adds a counted print. */
  count(entry: number): void;
  /** Makes the minute of a print anew after it was taken back. */
  recount(entry: number): void;
  /** The bars so far that start at or after `fromMs`, ascending; empty for a contract that is not followed or has not traded. */
  bars(contract: TradedContract, timeframe: '1m' | '5m', fromMs?: number): BarColumns;
  /** Contracts whose bars changed since the last call, and the first minute that did. */
  takeChanged(): { contract: TradedContract; fromMs: number }[];
}

const fiveMinutesMs = 5 * minuteMs;

/** Bars of the contracts that `followed` names, over a ledger and its links. */
export function createOptionBars(
  ledger: OptionLedger,
  links: PrintLinks,
  followed: (contract: TradedContract) => boolean,
): OptionBars {
  const { columns } = ledger;
  // Null: not followed. By contract index.
  const rowsOf: (BarRows | null | undefined)[] = [];
  let changed = new Map<number, number>();
  const print = { entry: 0, price: 0, size: 0, sizeMicros: 0, traits: 0 };
  // A print that is forgotten came before every one that is not.
  const before = (a: number, b: number) => b >= ledger.oldest && ledger.before(a, b);
  const minuteOf = (entry: number) => {
    const tsMs = columns.tsMs[entry & ledger.mask]!;
    return tsMs - (tsMs % minuteMs);
  };

  function rowsFor(index: number): BarRows | null {
    let rows = rowsOf[index];
    if (rows === undefined) rowsOf[index] = rows = followed(ledger.contracts[index]!) ? createBarRows() : null;
    return rows;
  }

  function noteChange(index: number, startMs: number) {
    const known = changed.get(index);
    if (known === undefined || startMs < known) changed.set(index, startMs);
  }

  function add(rows: BarRows, entry: number) {
    const slot = entry & ledger.mask;
    print.entry = entry;
    print.price = columns.price[slot]!;
    print.size = columns.size[slot]!;
    print.traits = columns.traits[slot]!;
    addToBar(rows, minuteOf(entry), print, before);
  }

  return {
    count(entry) {
      const index = columns.contract[entry & ledger.mask]!;
      const rows = rowsFor(index);
      if (!rows) return;
      add(rows, entry);
      noteChange(index, minuteOf(entry));
    },
    recount(entry) {
      const index = columns.contract[entry & ledger.mask]!;
      const rows = rowsFor(index);
      if (!rows) return;
      const startMs = minuteOf(entry);
      emptyBar(rows, startMs);
      for (let n = links.contractHead(index); n >= ledger.oldest; n = columns.previousOfContract[n & ledger.mask]!) {
        const tsMs = columns.tsMs[n & ledger.mask]!;
        if (tsMs < startMs) break;
        if (tsMs < startMs + minuteMs && columns.state[n & ledger.mask] === printState.counted) add(rows, n);
      }
      noteChange(index, startMs);
    },
    bars({ index }, timeframe, fromMs = -Infinity) {
      const rows = rowsOf[index] ?? createBarRows();
      if (timeframe === '1m') return barsOfRows(rows, fromMs);
      const startOf = (ms: number) => ms - (ms % fiveMinutesMs);
      return barsOfRows(foldRows(rows, startOf, true, startOf(fromMs)), fromMs);
    },
    takeChanged() {
      const contracts = [...changed].map(([index, fromMs]) => ({ contract: ledger.contracts[index]!, fromMs }));
      changed = new Map();
      return contracts;
    },
  };
}
