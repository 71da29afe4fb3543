import { csvLine } from '../../../platform/wire/csv-lines.ts';
import type { Cell } from '../../../rest/contract/table.ts';
import type { Exporter, ExportRow } from './exporters.ts';

/** Formats of an export. */
export const formats = ['csv', 'ndjson', 'arrow', 'parquet'] as const;
export type Format = (typeof formats)[number];

/** The lines of an export. CSV has a header even if it is empty. */
async function* linesOf(
  { columns }: Exporter,
  rows: AsyncIterable<ExportRow>,
  format: 'csv' | 'ndjson',
): AsyncIterable<string> {
  const names = Object.keys(columns);
  if (format === 'csv') yield `${csvLine(names)}\n`;
  for await (const row of rows)
    yield `${format === 'csv' ? csvLine(names.map((name) => row[name])) : JSON.stringify(row)}\n`;
}

/** Rows per batch of an Arrow stream. */
const rowsABatch = 20_000;

/** Values per row group of a Parquet file: at most some 50 MB of memory. */
const valuesAGroup = 1_000_000;

async function* batches(names: readonly string[], rows: AsyncIterable<ExportRow>): AsyncIterable<Cell[][]> {
  let batch: Cell[][] = [];
  for await (const row of rows) {
    batch.push(names.map((name) => row[name] ?? null));
    if (batch.length < rowsABatch) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** An Arrow IPC stream or a Parquet file, which pandas, Polars and DuckDB read directly. */
export async function* columnsOf(
  { columns }: Exporter,
  rows: AsyncIterable<ExportRow>,
  format: 'arrow' | 'parquet',
): AsyncIterable<Uint8Array> {
  const typed = Object.entries(columns).map(([name, type]) => ({ name, type, nullable: true }));
  const pieces = batches(Object.keys(columns), rows);
  if (format === 'arrow') {
    const { arrowStream } = await import('../../../rest/contract/arrow-stream.ts');
    yield* arrowStream(typed, pieces, {});
  } else {
    const { parquetFile } = await import('../../../rest/contract/parquet-file.ts');
    yield* parquetFile(typed, pieces, { metadata: {}, values: valuesAGroup });
  }
}

/** An export in a format, in parts. */
export function written(
  exporter: Exporter,
  rows: AsyncIterable<ExportRow>,
  format: Format,
): AsyncIterable<string | Uint8Array> {
  return format === 'arrow' || format === 'parquet'
    ? columnsOf(exporter, rows, format)
    : linesOf(exporter, rows, format);
}

/** Rows, which are counted as they pass. */
export async function* counting(rows: AsyncIterable<ExportRow>, counted: { rows: number }): AsyncIterable<ExportRow> {
  for await (const row of rows) {
    counted.rows++;
    yield row;
  }
}
