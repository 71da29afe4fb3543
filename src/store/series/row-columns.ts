import { type Columns, rowBy } from '../../domain/columns.ts';
import type { InColumns } from '../../domain/rows-in-columns.ts';
import { type Columns as Block, measures, numbers } from './codec.ts';

/**
 * The rows of a decoded block as columns: unknown is what came after the block was written. Throws if it lacks one of
 * `keys`, which say what a row is of.
 */
export function rowColumns<C extends Columns>(
  block: Block,
  columns: C,
  keys: readonly (keyof C & string)[],
): InColumns<C> {
  return rowBy(columns, (name) => (keys.includes(name) ? numbers : measures)(block, name));
}
