import { minuteMs } from '../../../platform/runtime/clock.ts';
import type { OptionContract } from '../chain/option-contract.ts';

/** Measures of a contract's prints in a minute: columns of the engine, the store and their sums. */
export const contractMinuteMeasures = ['volume', 'premium', 'count', 'bought', 'sold', 'unsided'] as const;
export type ContractMinuteMeasure = (typeof contractMinuteMeasures)[number];

/**
 * Trading of an underlying's contracts in whole minutes of a session, as columns by contract and minute: the rows of a
 * contract follow each other, by minute, in the order of `contracts`. A minute without prints has no row. Corrections,
 * cancels and late prints count in the minute of the print that they concern.
 */
export interface ContractMinutes extends Record<ContractMinuteMeasure, Float64Array> {
  /** Ascending by contract id. */
  contracts: OptionContract[];
  /** Number of rows of each contract. */
  lengths: Float64Array;
  /** Start of the row's minute, epoch ms. */
  tsMs: Float64Array;
  /** Contracts; all sides. */
  volume: Float64Array;
  /** Price × contracts × shares per contract, 1e-4 dollars. */
  premium: Float64Array;
  /** Number of prints. */
  count: Float64Array;
  /** Contracts that the buyer or the seller initiated. */
  bought: Float64Array;
  sold: Float64Array;
  /** Contracts of prints whose side is unknown: no usable quote was in force. */
  unsided: Float64Array;
}

/** End of the last whole minute that ended by an instant, both epoch ms. */
export function lastMinuteEnd(ms: number): number {
  return Math.floor(ms / minuteMs) * minuteMs;
}

/** Sums of a contract's minutes. */
export type ContractSums = Record<ContractMinuteMeasure, number>;

/** Calls back with the sums of each contract over its minutes that began before `beforeMs`, if it has any. */
export function eachContractBefore(
  { contracts, lengths, tsMs, ...columns }: ContractMinutes,
  beforeMs: number,
  take: (contract: OptionContract, sums: ContractSums) => void,
): void {
  let first = 0;
  for (let i = 0; i < contracts.length; i++) {
    const end = first + lengths[i]!;
    let last = first;
    while (last < end && tsMs[last]! < beforeMs) last++;
    if (last > first) take(contracts[i]!, sumsOf(columns, first, last));
    first = end;
  }
}

function sumsOf(columns: Pick<ContractMinutes, ContractMinuteMeasure>, first: number, last: number): ContractSums {
  const sums: ContractSums = { volume: 0, premium: 0, count: 0, bought: 0, sold: 0, unsided: 0 };
  for (const name of contractMinuteMeasures) {
    const column = columns[name];
    let sum = 0;
    for (let row = first; row < last; row++) sum += column[row]!;
    sums[name] = sum;
  }
  return sums;
}
