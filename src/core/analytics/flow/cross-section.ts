import { minuteMs } from '../../../platform/runtime/clock.ts';
import type { TradedContract, TradedUnderlying } from '../../domain/chain/contract-book.ts';
import type { Coverage, CrossSection, PremiumMinute } from '../../domain/flow/flow.ts';
import { createFlowTotals, type FlowTotals } from '../../domain/flow/flow-totals.ts';
import { priceUnits } from '../../domain/market/print.ts';
import { longer } from './longer.ts';

/** Premium of a session's prints by underlying and minute. */
interface PremiumMinutes {
  /** Adds to the minute that begins at `startMs`: price × contracts in 1e-4 dollars, below 0 for a withdrawn print. */
  add(contract: TradedContract, startMs: number, premium: number): void;
  /** The minutes of an underlying that have premium, ascending. */
  of(underlying: TradedUnderlying): PremiumMinute[];
}

/** Empty. Sums are integers, so that the order of prints changes none. */
function createPremiumMinutes(): PremiumMinutes {
  // By underlying, then start of the minute: 1e-4 dollars of calls and of puts.
  const premiums = new Map<TradedUnderlying, Map<number, { call: number; put: number }>>();
  return {
    add({ underlying, contract, multiplier }, startMs, premium) {
      let minutes = premiums.get(underlying);
      if (!minutes) {
        minutes = new Map();
        premiums.set(underlying, minutes);
      }
      let minute = minutes.get(startMs);
      if (!minute) {
        minute = { call: 0, put: 0 };
        minutes.set(startMs, minute);
      }
      minute[contract.right] += premium * multiplier;
    },
    of: (underlying) =>
      [...(premiums.get(underlying) ?? [])]
        .filter(([, { call, put }]) => call !== 0 || put !== 0)
        .sort(([a], [b]) => a - b)
        .map(([tsMs, { call, put }]) => ({ tsMs, callPremiumUsd: call / priceUnits, putPremiumUsd: put / priceUnits })),
  };
}

/** The sums of an underlying's prints by strike, by expiry and by minute. */
type FlowSums = FlowTotals & { minutes: PremiumMinute[] };

/** A session's trading by contract, and its sums by strike and expiry (methodology 4). */
export class CrossSections {
  readonly #firstSeq: number;
  // By contract index.
  #volumes = new Float64Array(256);
  #premiums = new Float64Array(256);
  #counts = new Int32Array(256);
  readonly #contracts: TradedContract[] = [];
  readonly #contractsOf = new Map<TradedUnderlying, TradedContract[]>();
  readonly #seqOf = new Map<TradedUnderlying, number>();
  readonly #minutes = createPremiumMinutes();
  // By underlying index: 1 = changed since its last snapshot.
  readonly #touched: (0 | 1)[] = [];

  /** Empty; `firstSeq` is the number before the first snapshot's, so that a restart continues the count. */
  constructor(firstSeq = 0) {
    this.#firstSeq = firstSeq;
  }

  /** Adds a print (`sign` 1) or takes it away (−1): its instant, epoch ms, its price in 1e-4 dollars, and contracts. */
  add(contract: TradedContract, tsMs: number, price: number, size: number, sign: 1 | -1): void {
    this.addPrints(contract, sign * size, sign * price * size, sign);
    this.#minutes.add(contract, tsMs - (tsMs % minuteMs), sign * price * size);
  }

  /** Adds to the premium of a minute, which begins at `startMs`: price × contracts in 1e-4 dollars. */
  addMinute(contract: TradedContract, startMs: number, premium: number): void {
    this.#minutes.add(contract, startMs, premium);
  }

  /** Adds prints of a contract at once: contracts, their sums of price × contracts in 1e-4 dollars, and how many. */
  addPrints(contract: TradedContract, volume: number, premium: number, count: number): void {
    const { index } = contract;
    if (this.#contracts[index] === undefined) this.#meet(contract);
    this.#volumes[index]! += volume;
    this.#premiums[index]! += premium;
    this.#counts[index]! += count;
    this.#touched[contract.underlying.index] = 1;
  }

  /** The underlyings that changed since their last snapshot. */
  changed(): TradedUnderlying[] {
    return [...this.#contractsOf.keys()].filter(({ index }) => this.#touched[index] === 1);
  }

  /** The sums of an underlying's prints. */
  sums(underlying: TradedUnderlying): FlowSums {
    const totals = createFlowTotals();
    for (const { index, contract, multiplier } of this.#contractsOf.get(underlying) ?? []) {
      const count = this.#counts[index]!;
      if (count > 0) totals.add(contract, this.#volumes[index]!, this.#premiums[index]! * multiplier, count);
    }
    return { ...totals.take(), minutes: this.#minutes.of(underlying) };
  }

  /** The sums of an underlying, with a `seq` above the one before; null when nothing of it traded. */
  snapshot(underlying: TradedUnderlying, coverage: Coverage): CrossSection | null {
    const rows = this.sums(underlying);
    this.#touched[underlying.index] = 0;
    if (rows.byStrike.length === 0 && !this.#seqOf.has(underlying)) return null;
    const seq = (this.#seqOf.get(underlying) ?? this.#firstSeq) + 1;
    this.#seqOf.set(underlying, seq);
    return { symbol: underlying.symbol, seq, coverage, ...rows };
  }

  /** Contracts that traded, with their volume, for comparison with day aggregates. */
  volumes(): { contract: TradedContract; volume: number }[] {
    return this.#contracts
      .filter(({ index }) => this.#counts[index]! > 0)
      .map((contract) => ({ contract, volume: this.#volumes[contract.index]! }));
  }

  #meet(contract: TradedContract): void {
    const { index, underlying } = contract;
    this.#contracts[index] = contract;
    const siblings = this.#contractsOf.get(underlying);
    if (siblings) siblings.push(contract);
    else this.#contractsOf.set(underlying, [contract]);
    if (index < this.#volumes.length) return;
    const length = Math.max(2 * this.#volumes.length, index + 1);
    this.#volumes = longer(this.#volumes, length);
    this.#premiums = longer(this.#premiums, length);
    this.#counts = longer(this.#counts, length);
  }
}
