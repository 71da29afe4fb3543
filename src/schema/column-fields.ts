import { type Column, type Columns, type ColumnType, namesOf, type RowOf } from '../core/domain/columns.ts';
import type { builder } from './builder.ts';

/** The types of the graph's builder. */
export type GraphTypes = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never;

const graphTypes: Record<ColumnType, string> = { int32: 'Int', int64: 'Long', float64: 'Float', text: 'String' };

/** Type of a column's values in the graph. */
export const graphType = ({ type, graph }: Column): string => graph ?? graphTypes[type];

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
