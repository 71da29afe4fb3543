/** The highest number on each line of prints, a line being a (contract, exchange). */
export interface PrintLines {
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
