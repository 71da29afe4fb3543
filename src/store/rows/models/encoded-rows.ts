import { type CopyType, type CopyValue, RowWriter } from '../copy-encoding.ts';
import { type Model, tableOf } from './model-tables.ts';
import type { FieldOf, Row } from './row-values.ts';

/** Rows of a model in the binary form of COPY. They are built without a database, also in other threads. */
export interface EncodedRows<M extends Model> {
  model: M;
  count: number;
  /** The symbol of the rows, for notifications of changes. */
  symbol: string;
  chunks: Uint8Array<ArrayBuffer>[];
}

/** The columns of a model's table, and their types in a copy, in the order of its fields. */
export function copyColumns(model: Model): Record<string, CopyType> {
  const { fields } = tableOf(model);
  return Object.fromEntries(fields.map(({ column, type, list }) => [column, `${type}${list ? '[]' : ''}` as CopyType]));
}

/** The values of a row in the order of `copyColumns`. */
export function copyValues<M extends Model>(model: M): (row: Row<M>) => CopyValue[] {
  const names = tableOf(model).fields.map(({ field }) => field as FieldOf<M>);
  return (row) => names.map((name) => row[name] as CopyValue);
}

/** Encodes rows of one symbol. */
export interface RowEncoder<M extends Model> {
  add(row: Row<M>): void;
  /** Returns the rows added since the last call. */
  take(): EncodedRows<M>;
}

/** Creates an encoder of a model's rows. */
export function rowEncoder<M extends Model>(model: M, symbol: string): RowEncoder<M> {
  const writer = new RowWriter(Object.values(copyColumns(model)));
  const valuesOf = copyValues(model);
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let count = 0;
  return {
    add(row) {
      writer.row(valuesOf(row));
      count++;
      if (writer.isFull) chunks.push(writer.take());
    },
    take() {
      chunks.push(writer.take());
      const taken = { model, count, symbol, chunks };
      chunks = [];
      count = 0;
      return taken;
    },
  };
}
