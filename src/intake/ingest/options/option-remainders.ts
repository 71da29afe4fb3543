import { recordAt as at, recordWidth as width } from '../../tape/prints/option-records.ts';
import { inOrder, type KeptPrints, numbered, packPrints } from '../files/packed-prints.ts';
import type { Partition, TapePartitions } from './tape-partitions.ts';
import { storedRecords } from './tape-records.ts';

/** Location of records: an open file, and offset and length of their parts. */
export type RecordsAt = { fd: number } & Pick<Partition, 'parts'>;

/** Packs an underlying's prints of one day. */
export function packedRecords(
  from: RecordsAt,
  { contracts, conditions }: Pick<KeptPrints, 'contracts' | 'conditions'>,
) {
  const records = new Uint32Array(from.parts.reduce((sum, value, i) => sum + (i % 2 === 1 ? value / 4 : 0), 0));
  let offset = 0;
  for (const some of storedRecords(from)) {
    records.set(some, offset);
    offset += some.length;
  }
  const [ids, lists] = [new Set<string>(), new Set<readonly number[]>()];
  for (let i = 0; i < records.length; i += width) {
    ids.add(contracts[records[i + at.contract]!]!);
    lists.add(conditions[records[i + at.exchangeAndConditions]! >>> 16]!);
  }
  const [idNumbers, listNumbers] = [numbered(ids, (id) => id), numbered(lists, (list) => list.join())];
  for (let i = 0; i < records.length; i += width) {
    const both = records[i + at.exchangeAndConditions]!;
    records[i + at.contract] = idNumbers.of(contracts[records[i + at.contract]!]!);
    records[i + at.exchangeAndConditions] = (both & 0xffff) | (listNumbers.of(conditions[both >>> 16]!) << 16);
  }
  const bytes = new Uint8Array(inOrder(records, width).buffer);
  return packPrints({ contracts: idNumbers.names, conditions: listNumbers.names, records: bytes });
}

/** Counts the contracts of records. */
export function contractsIn(from: RecordsAt): number {
  const contracts = new Set<number>();
  for (const records of storedRecords(from))
    for (let i = 0; i < records.length; i += width) contracts.add(records[i + at.contract]!);
  return contracts.size;
}

const keyOf = (records: Uint32Array, i: number) => records.subarray(i, i + width).join();

/** Number of occurrences of some records in a partition. */
async function countsIn(partitions: TapePartitions, underlying: number, records: Uint32Array) {
  const counts = new Map<string, number>();
  const written = await partitions.written(underlying, records[at.day]! | 0);
  if (!written) return counts;
  for (let i = 0; i < records.length; i += width) counts.set(keyOf(records, i), 0);
  for (const there of storedRecords({ fd: written.fd, parts: written.partition.parts })) {
    for (let i = 0; i < there.length; i += width) {
      const key = keyOf(there, i);
      const known = counts.get(key);
      if (known !== undefined) counts.set(key, known + 1);
    }
  }
  return counts;
}

/** Numbers of the tape's contracts and conditions, and their meanings. */
export interface TapeNumbers {
  /** The numbers of a contract's underlying, and of the contract among those of its underlying. */
  contract(id: string): { underlying: number; number: number };
  conditions(list: readonly number[]): number;
}

/**
 * Adds stored remainders of an underlying's day to those of the tape: a print on both is counted as often as in the one
 * with more. Returns the number of added prints.
 */
export async function joinRecords(kept: KeptPrints, numbers: TapeNumbers, partitions: TapePartitions): Promise<number> {
  const records = new Uint32Array(kept.records.buffer, 0, kept.records.length / 4);
  if (records.length === 0) return 0;
  const contracts = kept.contracts.map(numbers.contract);
  const conditions = kept.conditions.map(numbers.conditions);
  const { underlying } = contracts[records[at.contract]!]!;
  for (let i = 0; i < records.length; i += width) {
    const both = records[i + at.exchangeAndConditions]!;
    records[i + at.contract] = contracts[records[i + at.contract]!]!.number;
    records[i + at.exchangeAndConditions] = (both & 0xffff) | (conditions[both >>> 16]! << 16);
  }
  const there = await countsIn(partitions, underlying, records);
  let added = 0;
  for (let i = 0; i < records.length; i += width) {
    const left = there.get(keyOf(records, i)) ?? 0;
    if (left > 0) there.set(keyOf(records, i), left - 1);
    else {
      partitions.put(underlying, records, i);
      added++;
    }
  }
  await partitions.flush();
  return added;
}
