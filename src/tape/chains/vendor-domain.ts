import type { ChainRow } from '../../domain/chain/chain.ts';
import { greekNames, sourceColumns } from '../../domain/chain/chain-columns.ts';

/** Name of a source's number of a contract. */
export type SourceName = keyof typeof sourceColumns;
export const sourceNames = Object.keys(sourceColumns) as SourceName[];

/** Reads a number of a source's record; NaN = absent. */
export type ReadNumber<Name extends SourceName> = (name: Name) => number;

/**
 * The one check of sources' values: fills in a row of unknown numbers from a source with the given ones. A number
 * outside its column's range, or a fractional count, stays unknown (methodology 2). So does an iv of 0. A greek that
 * equals another one outside its range is the source's way to write no value, such as a delta of −1 beside a gamma of
 * −1.
 */
export function withinDomain<Name extends SourceName>(names: readonly Name[]) {
  const ranges = names.map((name) => {
    const { type, from, to } = sourceColumns[name];
    return { name, from, to, isWhole: type !== 'float64', isGreek: greekNames.some((greek) => greek === name) };
  });
  return (row: ChainRow, read: ReadNumber<Name>): void => {
    let outside: Set<number | null> | null = null;
    for (const { name, from, to, isWhole, isGreek } of ranges) {
      const value = read(name);
      if (value >= from && value <= to && (!isWhole || Number.isInteger(value))) row[name] = value;
      else if (isGreek && !Number.isNaN(value)) outside = (outside ?? new Set()).add(value);
    }
    if (outside !== null) for (const name of greekNames) if (outside.has(row[name])) row[name] = null;
    if (row.iv === 0) row.iv = null;
  };
}
