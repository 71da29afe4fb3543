import { type Columns, type InColumns, namesOf, rowBy } from '../../core/domain/columns.ts';
import { type Columns as Block, measures, numbers } from './codec.ts';

/**
 * The rows of a decoded block as columns. A column that the block lacks is unknown: it came after the block was
 * written. Throws if that is one of `keys`, by default the columns that every row has.
 */
export function rowColumns<C extends Columns>(
  block: Block,
  columns: C,
  keys: readonly (keyof C & string)[] = namesOf(columns).filter((name) => columns[name]!.nullable === false),
): InColumns<C> {
  return rowBy(columns, (name) => (keys.includes(name) ? numbers : measures)(block, name));
}
