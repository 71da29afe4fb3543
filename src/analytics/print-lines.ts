/** The highest number met on each line of prints, a line being a (contract, exchange). */
export interface PrintLines {
  /** Whether `sequence` is above all before it on its line, which it then is the highest of. */
  ascends(contract: number, exchange: number, sequence: number): boolean;
}

/** An empty table: open addressing over columns, so that a print costs no string and no object. */
export function createPrintLines(): PrintLines {
  let keys = new Float64Array(512).fill(-1);
  let highest = new Float64Array(512);
  let mask = 511;
  let count = 0;

  function slotOf(key: number): number {
    // Multiplicative hashing of the contract and the exchange apart; the key itself has up to 47 bits.
    let slot = (Math.imul(Math.floor(key / 65_536), 0x9e3779b1) ^ Math.imul(key & 65_535, 0x85ebca6b)) >>> 7;
    for (slot &= mask; keys[slot] !== -1 && keys[slot] !== key; slot = (slot + 1) & mask);
    return slot;
  }

  function grow() {
    const [oldKeys, oldHighest] = [keys, highest];
    mask = 2 * mask + 1;
    keys = new Float64Array(mask + 1).fill(-1);
    highest = new Float64Array(mask + 1);
    for (let i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] === -1) continue;
      const slot = slotOf(oldKeys[i]!);
      keys[slot] = oldKeys[i]!;
      highest[slot] = oldHighest[i]!;
    }
  }

  return {
    ascends(contract, exchange, sequence) {
      const key = contract * 65_536 + exchange;
      const slot = slotOf(key);
      if (keys[slot] === -1) {
        keys[slot] = key;
        highest[slot] = sequence;
        count++;
        if (2 * count > mask) grow();
        return true;
      }
      if (sequence <= highest[slot]!) return false;
      highest[slot] = sequence;
      return true;
    },
  };
}
