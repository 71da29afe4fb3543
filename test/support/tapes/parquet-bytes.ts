import { zstdCompressSync } from 'node:zlib';
import { type CompressionCodec, parquetMetadata } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { parquetWriteBuffer } from 'hyparquet-writer';

/** Minute bars as Parquet, in small row groups; with an index of their pages they are read in parts. */
export function parquetBars(codec: CompressionCodec, offsetIndex: boolean, count = 900): Uint8Array {
  const rows = Array.from({ length: count }, (_, i) => i);
  const startNs = BigInt(Date.parse('2023-11-10T15:00:00Z')) * 1_000_000n;
  const columns = [
    { name: 'ticker', type: 'STRING', data: rows.map((i) => ['AAPL', 'SPY', 'BACpL'][i % 3]) },
    { name: 'volume', type: 'INT64', data: rows.map((i) => BigInt(100 + i)) },
    ...['open', 'high', 'low', 'close'].map((name) => ({
      name,
      type: 'DOUBLE' as const,
      data: rows.map((i) => 10 + (i % 7) / 100),
    })),
    { name: 'window_start', type: 'INT64', data: rows.map((i) => startNs + BigInt(i % 300) * 60_000_000_000n) },
    { name: 'transactions', type: 'INT32', data: rows.map((i) => (i % 5 === 0 ? null : i)) },
  ] as const;
  const columnData = columns.map((column) => ({ ...column, data: [...column.data], nullable: true, offsetIndex }));
  const bytes = parquetWriteBuffer({ columnData, rowGroupSize: 250, codec, compressors: { ZSTD: zstdCompressSync } });
  return new Uint8Array(bytes);
}

/** Where the bytes of a column of a row group are. */
export interface ColumnRange {
  name: string;
  start: number;
  end: number;
  /** Offsets of the bodies of its pages, which are no headers. */
  bodies: { start: number; end: number }[];
}

/** The columns of a whole file, and where its footer begins. */
export function layoutOf(bytes: Uint8Array): { columns: ColumnRange[]; footer: number } {
  const buffer = bytes.slice().buffer;
  const { row_groups, metadata_length } = parquetMetadata(buffer);
  const columns = row_groups.flatMap((group) =>
    group.columns.map(({ meta_data }) => {
      const { dictionary_page_offset, data_page_offset, total_compressed_size, path_in_schema } = meta_data!;
      const start = Number(dictionary_page_offset || data_page_offset);
      const end = start + Number(total_compressed_size);
      const bodies: ColumnRange['bodies'] = [];
      for (const reader = { view: new DataView(buffer), offset: start }; reader.offset < end; ) {
        const { compressed_page_size: length } = parquetHeader(reader);
        bodies.push({ start: reader.offset, end: reader.offset + length });
        reader.offset += length;
      }
      return { name: path_in_schema[0]!, start, end, bodies };
    }),
  );
  return { columns, footer: bytes.length - 8 - metadata_length };
}

/** Bars whose tickers a decoder reads for ever: a run of −8 values of no bits. */
export function endlessBars(): Uint8Array {
  const bytes = parquetBars('UNCOMPRESSED', false);
  const { bodies } = layoutOf(bytes).columns.find(({ name }) => name === 'ticker')!;
  const { start, end } = bodies.at(-1)!;
  // The levels of 250 values without a null take three bytes; then come the bits of a value, and its first run.
  const at = bytes.indexOf(2, start);
  if (at < 0 || at > start + 8 || end < at + 6) throw new Error('the page is not of the form that was expected');
  bytes.set([0, 0xff, 0xff, 0xff, 0xff, 0x0f], at);
  return bytes;
}
