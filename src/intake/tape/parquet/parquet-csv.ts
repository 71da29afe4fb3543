import { type FileHandle, open } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  type Compressors,
  type DecodedArray,
  type FileMetaData,
  type ParquetScan,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  readOffsetIndex,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet';
import { compressors as otherCompressors } from 'hyparquet-compressors';
import { checkPages, type FoundPage } from './parquet-pages.ts';

/*
 * Parquet as the CSV of the same rows, so that every dataset reads it with the checks and reasons it has for CSV. Row n
 * of the file is line n + 1.
 */

// Rows converted to text at a time: about a megabyte.
const sliceRows = 16_384;
// Rows in memory at a time of a row group with a page index.
const partRows = 8 * sliceRows;
// Maximum size of any other row group, which is held whole. Writers create them of about a million rows; a few bytes
// may claim many more.
const mostAtOnce = { values: 2 ** 25, bytes: 512 * 1024 ** 2 };

// Node's own where it has one: they stop at the length that the page's header states.
const unpackers: Compressors = {
  ...otherCompressors,
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
};

type WriteValue = (value: unknown) => string;

interface Column {
  name: string;
  write: WriteValue;
}

/** Thrown for an invalid Parquet file, with the location. */
class ParquetError extends Error {
  override readonly name = 'ParquetError';
}

/** A fixed-point number, exactly. */
function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return String(unscaled * 10n ** BigInt(-scale));
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Big-endian two's complement. */
function signedInteger(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}

/** The shortest decimal of a 32-bit float: 0.1, not 0.10000000149011612. */
function floatText(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}

const quotable = /[",\r\n]/;

function quoted(text: string): string {
  return quotable.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function plainText(value: unknown): string {
  return quoted(value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value));
}

function isDecimal({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL';
}

function scaleOf({ scale, logical_type }: SchemaElement): number {
  return logical_type?.type === 'DECIMAL' ? logical_type.scale : (scale ?? 0);
}

/**
 * Writer of a column's values; null for a column without a CSV form (durations, documents, raw bytes of a fixed
 * length).
 */
function valueWriter(element: SchemaElement): WriteValue | null {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (isDecimal(element)) {
    const scale = scaleOf(element);
    return (value) =>
      decimalText(value instanceof Uint8Array ? signedInteger(value) : BigInt(value as number | bigint), scale);
  }
  if (converted === 'INTERVAL' || converted === 'BSON' || converted?.startsWith('TIME_') || logical?.type === 'TIME')
    return null;
  if (logical?.type === 'GEOMETRY' || logical?.type === 'GEOGRAPHY' || converted === 'JSON') return null;
  if (type === 'FLOAT') return (value) => floatText(value as number);
  if (type === 'FIXED_LEN_BYTE_ARRAY' && logical?.type !== 'FLOAT16' && logical?.type !== 'UUID') return null;
  return plainText;
}

/** The one leaf of a list of scalar values; null for any other nesting. */
function listElement(tree: SchemaTree): SchemaElement | null {
  if (tree.element.converted_type !== 'LIST' && tree.element.logical_type?.type !== 'LIST') return null;
  const [middle, ...more] = tree.children;
  if (!middle || more.length > 0) return null;
  const leaf = middle.children.length === 0 ? middle : middle.children.length === 1 ? middle.children[0]! : null;
  return leaf && leaf.children.length === 0 ? leaf.element : null;
}

function columnOf(tree: SchemaTree): Column | null {
  const isFlat = tree.children.length === 0 && tree.element.repetition_type !== 'REPEATED';
  const element = isFlat ? tree.element : listElement(tree);
  const write = element && valueWriter(element);
  if (!write) return null;
  // Lists get the form of the vendor's CSV, in quotes: "12,37".
  const writeList: WriteValue = (value) =>
    quoted((value as unknown[]).map((item) => (item == null ? '' : write(item))).join(','));
  const one = isFlat ? write : writeList;
  return { name: tree.element.name, write: (value) => (value == null ? '' : one(value)) };
}

/** Without their annotation, hyparquet returns decimals as integers; with it, as binary floats. */
function keepDecimalsExact(metadata: FileMetaData): void {
  for (const element of metadata.schema) {
    if (!isDecimal(element)) continue;
    delete element.converted_type;
    delete element.logical_type;
  }
}

const [nanosInMilli, nanosInMicro] = [1_000_000n, 1_000n];

// Instants are nanoseconds since the epoch in every CSV; a Date would lose their last six digits.
const parsers = {
  timestampFromMilliseconds: (value: bigint) => value && BigInt(value) * nanosInMilli,
  timestampFromMicroseconds: (value: bigint) => value && BigInt(value) * nanosInMicro,
  timestampFromNanoseconds: (value: bigint) => value,
  dateFromDays: (days: number) =>
    days === undefined || days === null ? days : new Date(days * 86_400_000).toISOString().slice(0, 10),
};

/** The reason of an error; that of a mistake which the decoder made of damaged bytes has the words of the engine. */
export function reasonOf(error: unknown): string {
  const isStated = error instanceof Error && (error.name === 'Error' || error instanceof ParquetError);
  return isStated && !error.message.includes('undefined') ? error.message : 'its bytes are damaged';
}

type RowGroup = FileMetaData['row_groups'][number];

/** True if a group has an index of its pages, so that it can be read in parts. */
const hasIndex = ({ columns }: RowGroup) => columns.every(({ offset_index_offset: index }) => index !== undefined);

/** Rows of a group to hold at a time: reading single pages requires an index of their offsets. */
function rowsAtOnce(group: RowGroup): number {
  const rows = Number(group.num_rows);
  return hasIndex(group) ? Math.min(rows, partRows) : rows;
}

function checkSizes({ row_groups, num_rows }: FileMetaData, columnCount: number): void {
  let total = 0n;
  for (const [index, group] of row_groups.entries()) {
    const rows = rowsAtOnce(group);
    const values = rows * columnCount;
    if (!(rows >= 0)) throw new ParquetError(`row group ${index + 1} states ${group.num_rows} rows`);
    total += group.num_rows;
    const unpacked = group.columns.reduce(
      (sum, { meta_data }) => sum + Number(meta_data?.total_uncompressed_size ?? 0),
      0,
    );
    const bytes = Math.ceil((unpacked * rows) / Math.max(1, Number(group.num_rows)));
    if (values > mostAtOnce.values || bytes > mostAtOnce.bytes)
      throw new ParquetError(
        `row group ${index + 1} has ${values} values in ${bytes} bytes unpacked, and no index of its pages to read it in parts; at most ${mostAtOnce.values} in ${mostAtOnce.bytes} are read at once: write smaller row groups, or a page index`,
      );
  }
  if (total !== num_rows) throw new ParquetError(`the footer states ${num_rows} rows, its row groups have ${total}`);
}

/** Throws if the index of a column's pages is not of the pages that were found. */
async function checkIndex(file: AsyncBuffer, { columns }: RowGroup, at: number, pages: readonly FoundPage[]) {
  const { offset_index_offset: offset, offset_index_length: length } = columns[at]!;
  const start = Number(offset);
  const view = new DataView(await file.slice(start, start + Number(length)));
  const listed = readOffsetIndex({ view, offset: 0 }).page_locations;
  const isSame = (page: FoundPage, i: number) =>
    Number(listed[i]!.offset) === page.offset && listed[i]!.compressed_page_size === page.length;
  if (listed.length !== pages.length || !pages.every(isSame)) throw new Error('the index of its pages is not of them');
}

/** Checks the pages of some columns of a row group before they are unpacked. Throws `ParquetError`. */
async function checkGroup(file: AsyncBuffer, group: RowGroup, names: ReadonlySet<string>, number: number) {
  const read = async (start: number, end: number) => new Uint8Array(await file.slice(start, end));
  const inParts = rowsAtOnce(group) < Number(group.num_rows);
  for (const [at, { meta_data: column }] of group.columns.entries()) {
    if (!column || !names.has(column.path_in_schema[0]!)) continue;
    try {
      if (column.path_in_schema.length === 1 && column.num_values !== group.num_rows)
        throw new Error(`the footer states ${column.num_values} values in ${group.num_rows} rows`);
      const pages = await checkPages(read, column, mostAtOnce, inParts);
      if (inParts) await checkIndex(file, group, at, pages);
    } catch (error) {
      const reason = `row group ${number}, column ${column.path_in_schema.join('.')}`;
      throw new ParquetError(`${reason}: ${reasonOf(error)}`, { cause: error });
    }
  }
}

/** A third of the memory of an array of bigints, which are objects; an array with nulls is unchanged. */
function compact(values: DecodedArray): DecodedArray {
  if (!Array.isArray(values) || typeof values[0] !== 'bigint') return values;
  return values.every((value) => typeof value === 'bigint' && BigInt.asIntN(64, value) === value)
    ? BigInt64Array.from(values)
    : values;
}

/** Columns of some rows of a row group. Without a page index, a column is unpacked from its beginning. */
async function readPart(
  scan: ParquetScan,
  columns: readonly Column[],
  range: { rowStart: number; rowEnd: number },
  { number, onWork }: { number: number; onWork: () => void },
): Promise<DecodedArray[]> {
  const count = range.rowEnd - range.rowStart;
  const data: DecodedArray[] = [];
  for (const { name } of columns) {
    try {
      onWork();
      const values = compact(await scan.readColumn({ column: name, ...range }));
      if (values.length !== count) throw new ParquetError(`expected ${count} values, found ${values.length}`);
      data.push(values);
    } catch (error) {
      const reason = `row group ${number}, column ${name}, rows ${range.rowStart + 1} to ${range.rowEnd}`;
      throw new ParquetError(`${reason}: ${reasonOf(error)}`, { cause: error });
    }
  }
  return data;
}

function linesOf(columns: readonly Column[], data: readonly DecodedArray[], from: number, to: number): Buffer {
  let text = '';
  for (let row = from; row < to; row++) {
    for (let i = 0; i < columns.length; i++) {
      const value = (data[i] as ArrayLike<unknown>)[row];
      // A null is null: no value has the position that the page states.
      if (value === undefined) throw new ParquetError(`column ${columns[i]!.name}: a value is not in its dictionary`);
      text += (i === 0 ? '' : ',') + columns[i]!.write(value);
    }
    text += '\n';
  }
  return Buffer.from(text);
}

/** A file whose ranges are checked before memory is reserved for them. */
async function checkedFile(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat();
  return {
    byteLength: size,
    async slice(start, end = size) {
      if (!(start >= 0 && end >= start && end <= size)) throw new ParquetError('the file is incomplete');
      const buffer = new ArrayBuffer(end - start);
      if (end === start) return buffer;
      const { bytesRead } = await handle.read(new Uint8Array(buffer), 0, end - start, start);
      if (bytesRead < end - start) throw new ParquetError('the file is incomplete');
      return buffer;
    },
  };
}

/** Called before work that can not be interrupted, with the number of values that it is to read. */
export type OnWork = (values: number) => void;

function valuesOf({ columns }: RowGroup): number {
  const counts = columns.map(({ meta_data }) => Number(meta_data?.num_values ?? 0));
  return Math.min(mostAtOnce.values, Math.max(0, ...counts));
}

/** Text of some rows, and the number of further bytes of the file that were read for it. */
export interface ParquetText {
  text: Buffer;
  bytes: number;
}

/**
 * The rows of a Parquet file as CSV: a header, then a line per row. Timestamps of every unit become nanoseconds since
 * the epoch, dates `YYYY-MM-DD`, decimals their exact digits, nulls blank, lists `"1,2"`; columns of other types are
 * omitted. Memory holds one row group, or a part of one with a page index. Throws `ParquetError`. Bytes that were made
 * to harm may keep it busy for ever: run it in a thread that can be ended (parquet-thread.ts).
 */
export async function* parquetCsv(path: string, onWork: OnWork): AsyncGenerator<ParquetText> {
  const handle = await open(path);
  try {
    const file = await checkedFile(handle);
    onWork(0);
    const metadata = await parquetMetadataAsync(file, { parsers, geoparquet: false }).catch((error: unknown) => {
      throw new ParquetError(`the Parquet footer is damaged or the file is incomplete (${reasonOf(error)})`);
    });
    const columns = parquetSchema(metadata)
      .children.map(columnOf)
      .filter((column) => column !== null);
    checkSizes(metadata, columns.length);
    keepDecimalsExact(metadata);
    yield { text: Buffer.from(`${columns.map(({ name }) => quoted(name)).join(',')}\n`), bytes: 0 };
    const names = new Set(columns.map(({ name }) => name));
    const rows = Number(metadata.num_rows);
    let [read, reported] = [0, 0];
    for (const [index, group] of metadata.row_groups.entries()) {
      await checkGroup(file, group, names, index + 1);
      const end = read + Number(group.num_rows);
      while (read < end) {
        const count = Math.min(rowsAtOnce(group), end - read);
        // A separate scan for each part, because a scan retains the columns that it read last.
        const scan = await parquetScan({
          file,
          metadata,
          compressors: unpackers,
          utf8: false,
          parsers,
          geoparquet: false,
        });
        const range = { rowStart: read, rowEnd: read + count };
        const data = await readPart(scan, columns, range, { number: index + 1, onWork: () => onWork(valuesOf(group)) });
        for (let from = 0; from < count; from += sliceRows) {
          const to = Math.min(count, from + sliceRows);
          const bytes = Math.floor((file.byteLength * (read + to)) / rows);
          yield { text: linesOf(columns, data, from, to), bytes: bytes - reported };
          reported = bytes;
        }
        read += count;
      }
    }
  } finally {
    await handle.close();
  }
}
