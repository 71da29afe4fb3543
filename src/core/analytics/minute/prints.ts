import type { TradedContract } from '../../domain/chain/contract-book.ts';
import { optionTraits, optionTraitsOf } from '../../domain/flow/option-trade-conditions.ts';
import { correctionMessage, isWithdrawn, type OptionPrint, priceUnits } from '../../domain/market/print.ts';
import { methodologySettings } from '../methodology.ts';
import { createReorder } from '../prints/reorder.ts';
import { doubleRing } from '../prints/ring.ts';

const [stands, setsNoLast, cancelled] = [0, 1, 2];

/**
 * A contract's last trades in event time, as far back as they may give a mark. Memory holds a quarter of an hour of
 * prints, and a number per contract.
 */
export class MinutePrints {
  readonly #columns = {
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
  readonly #contracts: TradedContract[] = [];
  #heads = new Int32Array(256).fill(-1);
  #oldest = 0;
  #next = 0;
  #mask = 511;
  readonly #waiting = createReorder((a, b) => this.#before(a, b));

  /** Adds a print; it counts once `pass` has passed its instant. */
  add({ contract, tsMs, tsNanos, sequence, price, size, exchange, conditions, correction }: OptionPrint): void {
    const columns = this.#columns;
    const traits = optionTraitsOf(conditions);
    const isOut = (traits & optionTraits.compression) !== 0 || isWithdrawn(correction);
    if (isOut || correction === correctionMessage) return;
    const { index } = contract;
    if (index >= this.#heads.length) {
      const longer = new Int32Array(Math.max(2 * this.#heads.length, index + 1)).fill(-1);
      longer.set(this.#heads);
      this.#heads = longer;
    }
    this.#contracts[index] = contract;
    this.#makeRoom();
    const entry = this.#next++;
    const slot = entry & this.#mask;
    columns.tsMs[slot] = tsMs;
    columns.tsNanos[slot] = tsNanos;
    columns.sequence[slot] = sequence;
    columns.contract[slot] = index;
    columns.price[slot] = price;
    columns.size[slot] = size;
    columns.exchange[slot] = exchange;
    columns.traits[slot] = traits;
    columns.previous[slot] = -1;
    this.#waiting.push(entry);
  }

  /** Makes everything before an instant count; traded contracts are reported in order, each time they trade. */
  pass(beforeMs: number, traded: (contract: TradedContract) => void): void {
    for (let entry = this.#waiting.peek(); entry >= 0; entry = this.#waiting.peek()) {
      if (this.#columns.tsMs[entry & this.#mask]! >= beforeMs) break;
      this.#take(this.#waiting.shift(), traded);
    }
    // An older print gives no mark any more, and its cancel changes none.
    const since = beforeMs - methodologySettings.maximumTradeAgeMs;
    while (this.#oldest < this.#next && this.#columns.tsMs[this.#oldest & this.#mask]! < since) this.#oldest++;
  }

  /** The last valid trade that may set a last price; null if it is too old for a mark, or there was none. */
  last({ index }: TradedContract): { price: number; tsMs: number } | null {
    const columns = this.#columns;
    if (index >= this.#heads.length) return null;
    for (let n = this.#heads[index]!; n >= this.#oldest; n = this.#previousOf(n)) {
      const slot = n & this.#mask;
      if (columns.state[slot] === stands)
        return { price: columns.price[slot]! / priceUnits, tsMs: columns.tsMs[slot]! };
    }
    return null;
  }

  /** Event-time order as in the tape engine: indices depend on the order of arrival, ids do not. */
  #before(a: number, b: number): boolean {
    const columns = this.#columns;
    const [i, j] = [a & this.#mask, b & this.#mask];
    if (columns.tsMs[i] !== columns.tsMs[j]) return columns.tsMs[i]! < columns.tsMs[j]!;
    if (columns.tsNanos[i] !== columns.tsNanos[j]) return columns.tsNanos[i]! < columns.tsNanos[j]!;
    if (columns.sequence[i] !== columns.sequence[j]) return columns.sequence[i]! < columns.sequence[j]!;
    if (columns.contract[i] !== columns.contract[j])
      return this.#contracts[columns.contract[i]!]!.id < this.#contracts[columns.contract[j]!]!.id;
    return columns.exchange[i]! < columns.exchange[j]!;
  }

  #previousOf(entry: number): number {
    return this.#columns.previous[entry & this.#mask]!;
  }

  /** True if another record of the same print counts already. */
  #isRepeated(entry: number, index: number): boolean {
    const slot = entry & this.#mask;
    for (
      let n = this.#heads[index]!;
      n >= this.#oldest && this.#columns.tsMs[n & this.#mask]! >= this.#columns.tsMs[slot]!;
      n = this.#previousOf(n)
    )
      if (!this.#before(n, entry) && !this.#before(entry, n)) return true;
    return false;
  }

  #link(entry: number, index: number) {
    const columns = this.#columns;
    const head = this.#heads[index]!;
    if (head < this.#oldest || !this.#before(entry, head)) {
      columns.previous[entry & this.#mask] = head;
      this.#heads[index] = entry;
      return;
    }
    // Later than the lateness bound: it is at its position from now on.
    let later = head;
    while (this.#previousOf(later) >= this.#oldest && this.#before(entry, this.#previousOf(later)))
      later = this.#previousOf(later);
    columns.previous[entry & this.#mask] = this.#previousOf(later);
    columns.previous[later & this.#mask] = entry;
  }

  #cancel(entry: number, index: number) {
    const columns = this.#columns;
    const slot = entry & this.#mask;
    for (let n = this.#heads[index]!; n >= this.#oldest; n = this.#previousOf(n)) {
      const other = n & this.#mask;
      const same =
        columns.price[other] === columns.price[slot] &&
        columns.size[other] === columns.size[slot] &&
        columns.exchange[other] === columns.exchange[slot];
      if (!same || columns.state[other] === cancelled || this.#before(entry, n)) continue;
      columns.state[other] = cancelled;
      return;
    }
  }

  #take(entry: number, traded: (contract: TradedContract) => void) {
    const columns = this.#columns;
    const slot = entry & this.#mask;
    const index = columns.contract[slot]!;
    if (this.#isRepeated(entry, index)) return;
    const traits = columns.traits[slot]!;
    if ((traits & optionTraits.cancel) !== 0) {
      this.#cancel(entry, index);
      // It stays among the others, to detect repetitions.
      columns.state[slot] = cancelled;
      this.#link(entry, index);
      return;
    }
    columns.state[slot] = (traits & optionTraits.openClose) !== 0 ? stands : setsNoLast;
    this.#link(entry, index);
    traded(this.#contracts[index]!);
  }

  #makeRoom() {
    if (this.#next - this.#oldest <= this.#mask) return;
    doubleRing(this.#columns, this.#oldest, this.#next);
    this.#mask = this.#columns.tsMs.length - 1;
  }
}
