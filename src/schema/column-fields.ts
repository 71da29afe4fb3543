import { type Column, type Columns, type NumberType, namesOf } from '../domain/columns.ts';
import type { builder } from './builder.ts';

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never;

const graphTypes = { int32: 'Int', int64: 'Long', float64: 'Float' } as const satisfies Record<NumberType, string>;

/** The fields of columns that are served as they are stored; `sentence` ends each description. */
export function columnFields<
  C extends Columns,
  Row extends { [Name in keyof C]: number | null },
  Kind extends 'Object' | 'Interface',
>(t: PothosSchemaTypes.FieldBuilder<Types, Row, Kind>, columns: C, sentence = '') {
  const fields = namesOf(columns).map((name) => {
    const { type, graph, nullable, description }: Column = columns[name]!;
    const options = {
      type: graph ?? graphTypes[type],
      nullable: nullable ?? true,
      description: description + sentence,
    };
    return [name, t.expose(name as never, options as never)] as const;
  });
  return Object.fromEntries(fields);
}
