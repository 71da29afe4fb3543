import type { ArraysOf } from '../../domain/column-arrays.ts';
import { type Columns, rowBy } from '../../domain/columns.ts';
import { type Columns as Block, measures, numbers } from './codec.ts';

/**
 * The numbers of a decoded block's rows. A column that the block lacks is unknown: it came after the block was written.
 * Throws if that is one which every row has.
 */
export function storedNumbers<C extends Columns>(block: Block, columns: C): ArraysOf<C> {
  return rowBy(columns, (name) => (columns[name]!.nullable === false ? numbers : measures)(block, name));
}
