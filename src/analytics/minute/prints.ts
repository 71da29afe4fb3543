import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { optionTraits, optionTraitsOf } from '../../domain/flow/option-trade-conditions.ts';
import { correctionMessage, isWithdrawn, type OptionPrint, priceUnits } from '../../domain/print.ts';
import { methodologySettings } from '../methodology.ts';
import { createReorder } from '../prints/reorder.ts';
import { doubleRing } from '../prints/ring.ts';

/** A contract's last trades in event time, as far back as one may give a mark. */
export interface MinutePrints {
  /** Takes a print in; it counts once `pass` has gone beyond its instant. */
  add(print: OptionPrint): void;
  /**
   * Everything before an instant counts from now on; the contracts that traded are reported in order, each time they
   * trade.
   */
  pass(beforeMs: number, traded: (contract: TradedContract) => void): void;
  /**
   * The last trade that stands and may set a last price; null when it is older than a mark's may be, or there was none.
   */
  last(contract: TradedContract): { price: number; tsMs: number } | null;
}

const [stands, setsNoLast, cancelled] = [0, 1, 2];

/** No prints yet. Memory holds a quarter of an hour of them, and a number a contract. */
export function createMinutePrints(): MinutePrints {
  const columns = {
    tsMs: new Float64Array(512),
    tsNanos: new Int32Array(512),
    sequence: new Float64Array(512),
    contract: new Int32Array(512),
    price: new Uint32Array(512),
    size: new Int32Array(512),
    exchange: new Uint16Array(512),
    traits: new Uint8Array(512),
    state: new Uint8Array(512),
    previous: new Int32Array(512),
  };
  const contracts: TradedContract[] = [];
  let heads = new Int32Array(256).fill(-1);
  let [oldest, next, mask] = [0, 0, 511];

  /** Event time as the tape engine has it: indices depend on the order of arrival, ids do not. */
  function before(a: number, b: number): boolean {
    const [i, j] = [a & mask, b & mask];
    if (columns.tsMs[i] !== columns.tsMs[j]) return columns.tsMs[i]! < columns.tsMs[j]!;
    if (columns.tsNanos[i] !== columns.tsNanos[j]) return columns.tsNanos[i]! < columns.tsNanos[j]!;
    if (columns.sequence[i] !== columns.sequence[j]) return columns.sequence[i]! < columns.sequence[j]!;
    if (columns.contract[i] !== columns.contract[j])
      return contracts[columns.contract[i]!]!.id < contracts[columns.contract[j]!]!.id;
    return columns.exchange[i]! < columns.exchange[j]!;
  }
  const waiting = createReorder(before);

  const previousOf = (entry: number) => columns.previous[entry & mask]!;

  /** True if another record of the same print counts already. */
  function isRepeated(entry: number, index: number): boolean {
    const slot = entry & mask;
    for (let n = heads[index]!; n >= oldest && columns.tsMs[n & mask]! >= columns.tsMs[slot]!; n = previousOf(n))
      if (!before(n, entry) && !before(entry, n)) return true;
    return false;
  }

  function link(entry: number, index: number) {
    const head = heads[index]!;
    if (head < oldest || !before(entry, head)) {
      columns.previous[entry & mask] = head;
      heads[index] = entry;
      return;
    }
    // Later than the bound: it stands where it belongs from now on.
    let later = head;
    while (previousOf(later) >= oldest && before(entry, previousOf(later))) later = previousOf(later);
    columns.previous[entry & mask] = previousOf(later);
    columns.previous[later & mask] = entry;
  }

  function cancel(entry: number, index: number) {
    const slot = entry & mask;
    for (let n = heads[index]!; n >= oldest; n = previousOf(n)) {
      const other = n & mask;
      const same =
        columns.price[other] === columns.price[slot] &&
        columns.size[other] === columns.size[slot] &&
        columns.exchange[other] === columns.exchange[slot];
      if (!same || columns.state[other] === cancelled || before(entry, n)) continue;
      columns.state[other] = cancelled;
      return;
    }
  }

  function take(entry: number, traded: (contract: TradedContract) => void) {
    const slot = entry & mask;
    const index = columns.contract[slot]!;
    if (isRepeated(entry, index)) return;
    const traits = columns.traits[slot]!;
    if ((traits & optionTraits.cancel) !== 0) {
      cancel(entry, index);
      // It stays among the others, for the one that says the same again.
      columns.state[slot] = cancelled;
      link(entry, index);
      return;
    }
    columns.state[slot] = (traits & optionTraits.openClose) !== 0 ? stands : setsNoLast;
    link(entry, index);
    traded(contracts[index]!);
  }

  function makeRoom() {
    if (next - oldest <= mask) return;
    doubleRing(columns, oldest, next);
    mask = columns.tsMs.length - 1;
  }

  return {
    add({ contract, tsMs, tsNanos, sequence, price, size, exchange, conditions, correction }) {
      const traits = optionTraitsOf(conditions);
      const isOut = (traits & optionTraits.compression) !== 0 || isWithdrawn(correction);
      if (isOut || correction === correctionMessage) return;
      const { index } = contract;
      if (index >= heads.length) {
        const longer = new Int32Array(Math.max(2 * heads.length, index + 1)).fill(-1);
        longer.set(heads);
        heads = longer;
      }
      contracts[index] = contract;
      makeRoom();
      const entry = next++;
      const slot = entry & mask;
      columns.tsMs[slot] = tsMs;
      columns.tsNanos[slot] = tsNanos;
      columns.sequence[slot] = sequence;
      columns.contract[slot] = index;
      columns.price[slot] = price;
      columns.size[slot] = size;
      columns.exchange[slot] = exchange;
      columns.traits[slot] = traits;
      columns.previous[slot] = -1;
      waiting.push(entry);
    },
    pass(beforeMs, traded) {
      for (let entry = waiting.peek(); entry >= 0; entry = waiting.peek()) {
        if (columns.tsMs[entry & mask]! >= beforeMs) break;
        take(waiting.shift(), traded);
      }
      // An older one gives no mark any more, and its cancel changes none.
      const since = beforeMs - methodologySettings.maximumTradeAgeMs;
      while (oldest < next && columns.tsMs[oldest & mask]! < since) oldest++;
    },
    last({ index }) {
      if (index >= heads.length) return null;
      for (let n = heads[index]!; n >= oldest; n = previousOf(n)) {
        const slot = n & mask;
        if (columns.state[slot] === stands)
          return { price: columns.price[slot]! / priceUnits, tsMs: columns.tsMs[slot]! };
      }
      return null;
    },
  };
}
