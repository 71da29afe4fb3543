import { type Column, type Columns, namesOf } from '../core/domain/columns.ts';
import type { InColumns } from '../core/domain/rows-in-columns.ts';
import { yieldToEventLoop } from '../platform/runtime/event-loop.ts';
import { type GraphTypes, graphType } from './column-fields.ts';
import type { FieldSize } from './cost.ts';

/** Longer columns are completed one an iteration of the event loop. */
const longColumn = 5000;

const known = (value: number) => (Number.isNaN(value) ? null : value);

/** The fields of rows that are served as columns: a list each, of one length. */
export function columnLists<C extends Columns, Rows extends InColumns<C>>(
  t: PothosSchemaTypes.ObjectFieldBuilder<GraphTypes, Rows>,
  columns: C,
  size: FieldSize,
) {
  const fields = namesOf(columns).map((name) => {
    const { nullable, description }: Column = columns[name]!;
    const list = (values: Float64Array): (number | null)[] =>
      nullable === false ? Array.from(values) : Array.from(values, known);
    const options = {
      type: [graphType(columns[name]!)],
      nullable: { list: false, items: nullable ?? true },
      description,
      size,
      resolve: ({ [name]: values }: Rows) =>
        values.length <= longColumn ? list(values) : yieldToEventLoop().then(() => list(values)),
    };
    return [name, t.field(options as never)] as const;
  });
  return Object.fromEntries(fields);
}
