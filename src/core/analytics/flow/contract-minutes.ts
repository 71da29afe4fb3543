import { minuteMs } from '../../../platform/runtime/clock.ts';
import type { TradedContract, TradedUnderlying } from '../../domain/chain/contract-book.ts';
import { type ContractMinutes, contractMinuteMeasures } from '../../domain/flow/contract-minutes.ts';
import { sideIndex } from '../prints/quote-book.ts';
import { longer } from './longer.ts';

/** Number of rows from which on a part ends with its minute. It bounds the bytes that a commit writes again. */
const rowsAPart = 4096;

/** A part of an underlying's session, from 0; it begins and ends with a minute. */
export interface ContractMinutesPart {
  part: number;
  minutes: ContractMinutes;
}

/** Parts of an underlying's session that changed. */
export interface ChangedParts {
  parts: ContractMinutesPart[];
  /** True if these are all parts of the session. */
  isWhole: boolean;
}

interface Underlying {
  contracts: TradedContract[];
  /** Number of rows with prints by minute, in minutes since 1970. */
  rows: Map<number, number>;
  /** Minutes at which the parts from the second on begin, when parts were last taken. */
  bounds: number[];
  /** Minutes that have changed since then. */
  changed: Set<number>;
  isTaken: boolean;
}

const noRow = -1;

/**
 * Trading of a session by contract and minute. Sums are integers, so that the order of prints changes none. Memory is
 * bounded by the traded minutes of the contracts.
 */
export class ContractMinuteSums {
  /** Minutes since 1970. */
  #minute = new Int32Array(256);
  /** The row before it of the same contract, by time. */
  #previous = new Int32Array(256);
  readonly #measures = {
    volume: new Float64Array(256),
    premium: new Float64Array(256),
    count: new Float64Array(256),
    bought: new Float64Array(256),
    sold: new Float64Array(256),
    unsided: new Float64Array(256),
  };
  #rows = 0;
  /** By contract index: its latest row. */
  #heads = new Int32Array(256).fill(noRow);
  readonly #underlyings = new Map<TradedUnderlying, Underlying>();

  /**
   * Adds prints of one contract, minute and side (an index into `flowSides`), or takes them away (below 0): contracts,
   * their sums of price × contracts in 1e-4 dollars, and how many.
   */
  add(contract: TradedContract, tsMs: number, side: number, volume: number, premium: number, count: number): void {
    const minute = Math.floor(tsMs / minuteMs);
    const row = this.#rowOf(contract, minute);
    const measures = this.#measures;
    const before = measures.count[row]!;
    measures.volume[row]! += volume;
    measures.premium[row]! += premium * contract.multiplier;
    measures.count[row]! += count;
    this.#addSide(row, side, volume);
    if ((before === 0) === (before + count === 0)) return;
    const { rows } = this.#underlyings.get(contract.underlying)!;
    rows.set(minute, (rows.get(minute) ?? 0) + (before === 0 ? 1 : -1));
  }

  /** Moves contracts of a print from one side to another. */
  changeSide(contract: TradedContract, tsMs: number, size: number, from: number, to: number): void {
    const row = this.#rowOf(contract, Math.floor(tsMs / minuteMs));
    this.#addSide(row, from, -size);
    this.#addSide(row, to, size);
  }

  /** The underlyings with changes since their parts were last taken. */
  changed(): TradedUnderlying[] {
    return [...this.#underlyings].filter(([, { changed }]) => changed.size > 0).map(([underlying]) => underlying);
  }

  /** Takes the changed parts of an underlying's session: at first, all of them. A part may have become empty. */
  take(underlying: TradedUnderlying): ChangedParts {
    const state = this.#underlyings.get(underlying);
    if (!state) return { parts: [], isWhole: true };
    const { bounds: before, changed, isTaken } = state;
    const bounds = boundsOf(state.rows);
    const numbers = new Set(Array.from(changed, (minute) => partOf(bounds, minute)));
    let same = 0;
    while (same < bounds.length && bounds[same] === before[same]) same++;
    // The part that ends at the first bound that moved, and all later ones.
    if (same < Math.max(bounds.length, before.length))
      for (let part = same; part <= Math.max(bounds.length, before.length); part++) numbers.add(part);
    const parts = [...numbers].sort((a, b) => a - b);
    state.bounds = bounds;
    state.changed = new Set();
    state.isTaken = true;
    return { isWhole: !isTaken, parts: parts.map((part) => ({ part, minutes: this.#columns(state, part) })) };
  }

  /** The minutes of a contract with prints, from `fromMs` on and ascending: their starts and volumes. */
  volumes({ index }: TradedContract, fromMs = -Infinity): { tsMs: number[]; volume: number[] } {
    const found: { tsMs: number[]; volume: number[] } = { tsMs: [], volume: [] };
    const from = Math.floor(fromMs / minuteMs);
    let row = index < this.#heads.length ? this.#heads[index]! : noRow;
    for (; row !== noRow && this.#minute[row]! >= from; row = this.#previous[row]!) {
      if (this.#measures.count[row] === 0) continue;
      found.tsMs.push(this.#minute[row]! * minuteMs);
      found.volume.push(this.#measures.volume[row]!);
    }
    return { tsMs: found.tsMs.reverse(), volume: found.volume.reverse() };
  }

  #addSide(row: number, side: number, contracts: number): void {
    const { bought, sold, unsided } = this.#measures;
    if (side === sideIndex.buy) bought[row]! += contracts;
    else if (side === sideIndex.sell) sold[row]! += contracts;
    else if (side === sideIndex.unknown) unsided[row]! += contracts;
  }

  /** The row of a contract's minute, which is changed; a new one on first use. */
  #rowOf(contract: TradedContract, minute: number): number {
    const state = this.#stateOf(contract);
    state.changed.add(minute);
    let later = noRow;
    let row = this.#heads[contract.index]!;
    while (row !== noRow && this.#minute[row]! > minute) {
      later = row;
      row = this.#previous[row]!;
    }
    if (row !== noRow && this.#minute[row] === minute) return row;
    this.#makeRoom();
    const added = this.#rows++;
    this.#minute[added] = minute;
    this.#previous[added] = row;
    if (later === noRow) this.#heads[contract.index] = added;
    else this.#previous[later] = added;
    return added;
  }

  #stateOf(contract: TradedContract): Underlying {
    const { underlying, index } = contract;
    let state = this.#underlyings.get(underlying);
    if (!state) {
      state = { contracts: [], rows: new Map(), bounds: [], changed: new Set(), isTaken: false };
      this.#underlyings.set(underlying, state);
    }
    if (index >= this.#heads.length) {
      const heads = new Int32Array(Math.max(2 * this.#heads.length, index + 1)).fill(noRow);
      heads.set(this.#heads);
      this.#heads = heads;
    }
    if (this.#heads[index] === noRow) state.contracts.push(contract);
    return state;
  }

  #makeRoom(): void {
    if (this.#rows < this.#minute.length) return;
    const length = 2 * this.#rows;
    this.#minute = longer(this.#minute, length);
    this.#previous = longer(this.#previous, length);
    for (const name of contractMinuteMeasures) this.#measures[name] = longer(this.#measures[name], length);
  }

  /** The rows of a part, without those whose prints were all taken away. */
  #columns({ contracts, bounds }: Underlying, part: number): ContractMinutes {
    const from = part === 0 ? -Infinity : (bounds[part - 1] ?? Infinity);
    const end = bounds[part] ?? Infinity;
    const found: { traded: TradedContract; rows: number[] }[] = [];
    for (const traded of contracts) {
      const rows: number[] = [];
      for (
        let row = this.#heads[traded.index]!;
        row !== noRow && this.#minute[row]! >= from;
        row = this.#previous[row]!
      )
        if (this.#minute[row]! < end && this.#measures.count[row] !== 0) rows.push(row);
      if (rows.length > 0) found.push({ traded, rows: rows.reverse() });
    }
    found.sort((a, b) => (a.traded.id < b.traded.id ? -1 : 1));
    const rows = found.flatMap((each) => each.rows);
    const column = (values: ArrayLike<number>) => Float64Array.from(rows, (row) => values[row]!);
    const measures = Object.fromEntries(contractMinuteMeasures.map((name) => [name, column(this.#measures[name])]));
    return {
      contracts: found.map(({ traded }) => traded.contract),
      lengths: Float64Array.from(found, (each) => each.rows.length),
      tsMs: Float64Array.from(rows, (row) => this.#minute[row]! * minuteMs),
      ...(measures as Record<(typeof contractMinuteMeasures)[number], Float64Array>),
    };
  }
}

/** The minutes at which a session's parts from the second on begin: by its rows alone, however they came. */
function boundsOf(rows: ReadonlyMap<number, number>): number[] {
  const bounds: number[] = [];
  let held = 0;
  for (const [minute, count] of [...rows].sort(([a], [b]) => a - b)) {
    if (held >= rowsAPart && count > 0) {
      bounds.push(minute);
      held = 0;
    }
    held += count;
  }
  return bounds;
}

function partOf(bounds: readonly number[], minute: number): number {
  let part = bounds.length;
  while (part > 0 && bounds[part - 1]! > minute) part--;
  return part;
}
