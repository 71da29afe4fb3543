import { zstdCompressSync } from 'node:zlib';
import type * as Parquet from 'hyparquet-writer';
import { productVersion } from '../../platform/runtime/product-version.ts';
import { type Cell, type Column, type ColumnType, columnValues } from './table.ts';

// Loaded lazily: only Parquet requests and exports use it.
let library: Promise<typeof Parquet> | null = null;

/** Loads the library before its first use. */
export function loadParquet(): Promise<typeof Parquet> {
  library ??= import('hyparquet-writer');
  return library;
}

const types: Record<ColumnType, NonNullable<Parquet.ColumnSource['type']>> = {
  int32: 'INT32',
  int64: 'INT64',
  float64: 'DOUBLE',
  bool: 'BOOLEAN',
  text: 'STRING',
  json: 'STRING',
};

/**
 * Values per row group of an answer: about 10 ms of work, which blocks the event loop. Smaller groups take more bytes,
 * and readers more time.
 */
export const valuesOfAnswers = 40_000;

type Rows = readonly (readonly Cell[])[];

/** Pieces joined until they have at least `least` rows. */
async function* joinedRows(pieces: Iterable<Rows> | AsyncIterable<Rows>, least: number): AsyncGenerator<Rows> {
  let rows: (readonly Cell[])[] = [];
  for await (const piece of pieces) {
    for (const row of piece) rows.push(row);
    if (rows.length < least) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

/**
 * A table as a Parquet file, in parts: a row group for about `values` values. Pages are compressed by Zstandard.
 * `metadata` is stored in the footer.
 */
export async function* parquetFile(
  columns: readonly Column[],
  pieces: Iterable<Rows> | AsyncIterable<Rows>,
  { metadata, values }: { metadata: Record<string, string>; values: number },
): AsyncGenerator<Uint8Array> {
  const { ByteWriter, ParquetWriter, schemaFromColumnData } = await loadParquet();
  const sink = new ByteWriter();
  const takeWritten = (): Uint8Array => {
    const bytes = sink.getBytes().slice();
    sink.index = 0;
    return bytes;
  };
  const declared = columns.map(({ name, type, nullable }) => ({ name, type: types[type], nullable, data: [] }));
  const writer = new ParquetWriter({
    writer: sink,
    schema: schemaFromColumnData({ columnData: declared }),
    codec: 'ZSTD',
    compressors: { ZSTD: zstdCompressSync },
    kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    // Readers trust the bounds of texts only of a writer that names its version.
    createdBy: `tapegraph version ${productVersion}`,
  });
  for await (const rows of joinedRows(pieces, values / columns.length)) {
    const columnData = columns.map((column, index) => ({ name: column.name, data: columnValues(column, rows, index) }));
    await writer.write({ columnData, rowGroupSize: rows.length });
    yield takeWritten();
  }
  await writer.finish();
  yield takeWritten();
}
