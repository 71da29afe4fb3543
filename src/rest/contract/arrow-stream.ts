import type * as Arrow from 'apache-arrow';
import { type Cell, type Column, type ColumnType, columnValues } from './table.ts';

// Loaded lazily: only Arrow requests use it.
let library: Promise<typeof Arrow> | null = null;

/** Loads the library before its first use, which blocks the event loop for a tenth of a second. */
export function loadArrow(): Promise<typeof Arrow> {
  library ??= import('apache-arrow');
  return library;
}

function typesOf(arrow: typeof Arrow): Record<ColumnType, Arrow.DataType> {
  return {
    int32: new arrow.Int32(),
    int64: new arrow.Int64(),
    float64: new arrow.Float64(),
    bool: new arrow.Bool(),
    text: new arrow.Utf8(),
    json: new arrow.Utf8(),
  };
}

/**
 * A table as an Arrow IPC stream, chunk by chunk: the columns' types, then a batch for each chunk of rows. `metadata`
 * is stored with the schema.
 */
export async function* arrowStream(
  columns: readonly Column[],
  pieces: Iterable<readonly (readonly Cell[])[]> | AsyncIterable<readonly (readonly Cell[])[]>,
  metadata: Record<string, string>,
): AsyncGenerator<Uint8Array> {
  const arrow = await loadArrow();
  const types = typesOf(arrow);
  const fields = columns.map(({ name, type, nullable }) => new arrow.Field(name, types[type], nullable));
  const schema = new arrow.Schema(fields, new Map(Object.entries(metadata)));
  const sink = new arrow.AsyncByteQueue();
  const writer = new arrow.RecordBatchStreamWriter();
  writer.reset(sink, schema);
  for await (const rows of pieces) {
    const children = columns.map((column, index) => {
      const [data] = arrow.vectorFromArray(columnValues(column, rows, index), types[column.type]).data;
      return data!;
    });
    const struct = arrow.makeData({ type: new arrow.Struct(fields), length: rows.length, nullCount: 0, children });
    writer.write(new arrow.RecordBatch(schema, struct));
  }
  writer.finish();
  yield* sink;
}
