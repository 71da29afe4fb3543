import {
  type Column,
  type Columns,
  type ColumnType,
  type InColumns,
  namesOf,
  type RowOf,
} from '../core/domain/columns.ts';
import { yieldToEventLoop } from '../platform/runtime/event-loop.ts';
import type { builder } from './builder.ts';
import type { FieldSize } from './cost.ts';

/** The types of the graph's builder. */
type GraphTypes = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never;

const graphTypes: Record<ColumnType, string> = { int32: 'Int', int64: 'Long', float64: 'Float', text: 'String' };

/** Type of a column's values in the graph. */
const graphType = ({ type, graph }: Column): string => graph ?? graphTypes[type];

/** The fields of columns that are served as they are stored; `describe` completes each description. */
export function columnFields<C extends Columns, Row extends RowOf<C>, Kind extends 'Object' | 'Interface'>(
  t: PothosSchemaTypes.FieldBuilder<GraphTypes, Row, Kind>,
  columns: C,
  describe = (description: string) => description,
) {
  const fields = namesOf(columns).map((name) => {
    const { nullable, description }: Column = columns[name]!;
    const options = {
      type: graphType(columns[name]!),
      nullable: nullable ?? true,
      description: describe(description),
    };
    return [name, t.expose(name as never, options as never)] as const;
  });
  return Object.fromEntries(fields);
}

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
