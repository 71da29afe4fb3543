import { epochDay } from '../market-time.ts';
import { compareContracts, type OptionContract } from './option-contract.ts';

/** Contracts as columns of one length, in the order of `compareContracts`. */
export interface ContractList {
  root: readonly string[];
  /** Expiries, epoch days. */
  day: Float64Array;
  /** 1 = put. */
  put: Float64Array;
  /** Integer thousandths of a dollar. */
  strike: Float64Array;
}

/** Lists contracts in order. */
export function contractList(contracts: readonly OptionContract[]): ContractList {
  const { length } = contracts;
  const root = new Array<string>(length);
  const [day, put, strike] = [new Float64Array(length), new Float64Array(length), new Float64Array(length)];
  let last: { expiry: string; day: number } = { expiry: '', day: 0 };
  for (let i = 0; i < length; i++) {
    const contract = contracts[i]!;
    if (contract.expiry !== last.expiry) last = { expiry: contract.expiry, day: epochDay(contract.expiry) };
    root[i] = contract.root;
    day[i] = last.day;
    put[i] = Number(contract.right === 'put');
    strike[i] = contract.strike;
  }
  return { root, day, put, strike };
}

/** The contracts in the order of `compareContracts`: the given ones if they are. */
export function inOrder<C extends OptionContract>(contracts: C[]): C[] {
  const isOrdered = contracts.every((each, i) => i === 0 || compareContracts(contracts[i - 1]!, each) < 0);
  return isOrdered ? contracts : contracts.toSorted(compareContracts);
}

/** Compares the contract of one list with that of another. */
function compareAt(a: ContractList, i: number, b: ContractList, j: number): number {
  const [root, other] = [a.root[i]!, b.root[j]!];
  return (
    a.day[i]! - b.day[j]! ||
    a.strike[i]! - b.strike[j]! ||
    a.put[i]! - b.put[j]! ||
    // Two comparisons of order take longer than one of equality, and most roots are equal.
    (root === other ? 0 : root < other ? -1 : 1)
  );
}

/** Calls `each` with the index of every contract of a list, and true if another list has it too. */
export function compareLists(
  of: ContractList,
  other: ContractList,
  each: (index: number, isCommon: boolean) => boolean | undefined,
): void {
  let j = 0;
  for (let i = 0; i < of.root.length; i++) {
    let order = 1;
    while (j < other.root.length) {
      order = compareAt(of, i, other, j);
      if (order <= 0) break;
      j++;
    }
    const isOver = each(i, j < other.root.length && order === 0);
    if (isOver) return;
  }
}

/** True if two lists have a contract in common. */
export function haveCommon(a: ContractList, b: ContractList): boolean {
  let found = false;
  compareLists(a, b, (_, isCommon) => {
    found = isCommon;
    return found;
  });
  return found;
}

/** Indexes of the contracts of a list that another lacks. */
export function lacking(of: ContractList, other: ContractList): number[] {
  const found: number[] = [];
  compareLists(of, other, (index, isCommon) => {
    if (!isCommon) found.push(index);
    return undefined;
  });
  return found;
}

/** Number of pairs of an expiry and a right. */
export function expiryRights({ day, put, root }: ContractList): number {
  const pairs = new Set<number>();
  for (let i = 0; i < root.length; i++) pairs.add(day[i]! * 2 + put[i]!);
  return pairs.size;
}
