import { tapeSettings } from '../methodology.ts';
import type { OptionColumns, OptionLedger } from './option-ledger.ts';
import type { PrintLinks } from './print-links.ts';

/** The highest number on each line of prints, a line being a (contract, exchange). */
interface PrintLines {
  /** True if `sequence` is above all earlier ones of its line; it becomes the highest. */
  ascends(contract: number, exchange: number, sequence: number): boolean;
}

/**
 * Creates an empty table: open addressing, so that a print costs no string and no object; a line's key and number are
 * adjacent, so that it costs one memory access.
 */
export function createPrintLines(): PrintLines {
  let table = new Float64Array(1024).fill(-1);
  let mask = 511;
  let count = 0;

  /** Slot of a line's key, or its insertion slot. */
  function entryOf(contract: number, exchange: number, key: number): number {
    // Multiplicative hashing of the contract and the exchange separately; the key itself has up to 47 bits.
    let slot = ((Math.imul(contract, 0x9e3779b1) ^ Math.imul(exchange, 0x85ebca6b)) >>> 7) & mask;
    while (table[2 * slot] !== -1 && table[2 * slot] !== key) slot = (slot + 1) & mask;
    return 2 * slot;
  }

  function grow() {
    const old = table;
    mask = 2 * mask + 1;
    table = new Float64Array(2 * (mask + 1)).fill(-1);
    for (let i = 0; i < old.length; i += 2) {
      const key = old[i]!;
      if (key === -1) continue;
      const entry = entryOf(Math.floor(key / 65_536), key % 65_536, key);
      table[entry] = key;
      table[entry + 1] = old[i + 1]!;
    }
  }

  return {
    ascends(contract, exchange, sequence) {
      const key = contract * 65_536 + exchange;
      const entry = entryOf(contract, exchange, key);
      if (table[entry] === -1) {
        table[entry] = key;
        table[entry + 1] = sequence;
        count++;
        if (2 * count > mask) grow();
        return true;
      }
      if (sequence <= table[entry + 1]!) return false;
      table[entry + 1] = sequence;
      return true;
    },
  };
}

/**
 * Finds prints that repeat a linked one. Contract, exchange and sequence identify a print (methodology 3) until two
 * prints of an underlying and exchange have all three and differ in time, price or size. From then on sequences are
 * ignored there: an equal print is the same one only in another run of the tape, the n-th of one is the n-th of the
 * other.
 */
export class PrintRepeats {
  readonly #ledger: OptionLedger;
  readonly #columns: OptionColumns;
  readonly #links: PrintLinks;
  readonly #lines = createPrintLines();
  // By underlying and exchange: the repeats so far; null = sequences are ignored.
  readonly #venues = new Map<number, number[] | null>();
  #revealed: number[] = [];

  constructor(ledger: OptionLedger, links: PrintLinks) {
    this.#ledger = ledger;
    this.#columns = ledger.columns;
    this.#links = links;
  }

  /** True if a print about to be linked repeats a linked one. */
  isRepeat(entry: number): boolean {
    const slot = entry & this.#ledger.mask;
    const { contract, exchange, sequence } = this.#columns;
    // Numbers ascend on a tape, so for nearly every print one comparison with the highest of its line suffices.
    const ascends = this.#lines.ascends(contract[slot]!, exchange[slot]!, sequence[slot]!);
    if (this.#venues.size === 0 && ascends) return false;
    const { underlying } = this.#ledger.contracts[contract[slot]!]!;
    const venue = underlying.index * 65_536 + exchange[slot]!;
    const repeats = this.#venues.get(venue);
    if (repeats === null) return this.#isOfEarlierRun(entry);
    if (ascends) return false;
    const namesake = this.#namesake(entry);
    if (namesake < 0) return false;
    if (this.#isSame(namesake & this.#ledger.mask, slot)) {
      if (repeats) repeats.push(entry);
      else this.#venues.set(venue, [entry]);
      return true;
    }
    this.#venues.set(venue, null);
    this.#revealed.push(...(repeats ?? []).filter((repeat) => repeat >= this.#ledger.oldest));
    return this.#isOfEarlierRun(entry);
  }

  /** Takes the prints that were repeats before sequences were ignored: they are to be examined again. */
  takeRevealed(): number[] {
    const revealed = this.#revealed;
    if (revealed.length > 0) this.#revealed = [];
    return revealed;
  }

  /**
   * The linked print with the contract, exchange and sequence of one; −1 = none. A repeated print has the instant of
   * the first: prints of the contract well before it need not be checked, whatever their numbers.
   */
  #namesake(entry: number): number {
    const { mask, oldest } = this.#ledger;
    const { contract, exchange, sequence, tsMs, previousOfContract } = this.#columns;
    const slot = entry & mask;
    const head = this.#links.contractHead(contract[slot]!);
    for (let n = head; n >= oldest; n = previousOfContract[n & mask]!) {
      const other = n & mask;
      if (sequence[other] === sequence[slot] && exchange[other] === exchange[slot]) return n;
      if (tsMs[other]! < tsMs[slot]! - tapeSettings.latenessMs) return -1;
    }
    return -1;
  }

  /** True if two prints, by slot, are equal in time, price and size. */
  #isSame(i: number, j: number): boolean {
    const { tsMs, tsNanos, price, size } = this.#columns;
    return tsMs[i] === tsMs[j] && tsNanos[i] === tsNanos[j] && price[i] === price[j] && size[i] === size[j];
  }

  /** True if another run has an equal print that this run has not had so far. */
  #isOfEarlierRun(entry: number): boolean {
    const { mask, oldest } = this.#ledger;
    const { contract, exchange, conditionSet, tsMs, run, equalRun, previousOfContract } = this.#columns;
    const slot = entry & mask;
    if (run[slot] === 0) return false;
    const head = this.#links.contractHead(contract[slot]!);
    for (let n = head; n >= oldest && tsMs[n & mask]! >= tsMs[slot]!; n = previousOfContract[n & mask]!) {
      const other = n & mask;
      const isEqual = exchange[other] === exchange[slot] && conditionSet[other] === conditionSet[slot];
      if (!isEqual || equalRun[other] === run[slot] || !this.#isSame(other, slot)) continue;
      equalRun[other] = run[slot]!;
      return true;
    }
    return false;
  }
}
