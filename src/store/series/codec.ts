import { hash } from 'node:crypto';

/**
 * Column blocks: how a series is stored in one `bytea`. Numbers are stored as the narrowest integers that reproduce
 * them exactly (frame of reference: value = (base + n·step) / scale), or as float64 where none do; texts as a
 * dictionary. Lossless to the last bit, including NaN for unknown. Layout, little-endian:
 *
 * 'T' 'G' version:u8 columns:u8 length:u32 | per column: header (JSON, padded) and its values
 *
 * The length of every part is checked on reading, so a truncated or foreign payload is an error and never a wrong
 * number.
 */
type Column = Float64Array | string[];
export type Columns = Record<string, Column>;

const version = 1;
const scales = [1, 10, 100, 1000, 1e4, 1e5, 1e6];

type Storage = 'u8' | 'u16' | 'u32' | 'f64';
const width: Record<Storage, number> = { u8: 1, u16: 2, u32: 4, f64: 8 };
/** The largest code of each width represents NaN. None is necessary for −0: integers have no −0. */
const unknownCode: Record<'u8' | 'u16' | 'u32', number> = { u8: 0xff, u16: 0xffff, u32: 0xffffffff };

interface ColumnHeader {
  name: string;
  as: Storage;
  base?: number;
  step?: number;
  scale?: number;
  /** Set for text columns: the values are indexes into it. */
  words?: string[];
}

const smallLimit = 2 ** 31;

function greatestCommonDivisor(a: number, b: number): number {
  // Processors divide small integers several times as fast as doubles.
  if (a < smallLimit && b < smallLimit) {
    let [i, j] = [a | 0, b | 0];
    while (j !== 0) [i, j] = [j, (i % j) | 0];
    return i;
  }
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

/**
 * The smallest power of ten that makes all values integers without loss, and whether some value would fit a smaller
 * one; null if there is none.
 */
function decimalScale(values: Float64Array): { scale: number; isMixed: boolean } | null {
  let at = 0;
  let first = -1;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    if (!Number.isFinite(value) || (value === 0 && Object.is(value, -0))) return null;
    for (; at < scales.length; at++) {
      const scaled = Math.round(value * scales[at]!);
      if (Number.isSafeInteger(scaled) && scaled / scales[at]! === value) break;
    }
    if (at === scales.length) return null;
    if (first < 0) first = at;
  }
  return { scale: scales[at]!, isMixed: at !== first };
}

function integerFrame(
  values: Float64Array,
): { base: number; step: number; scale: number; as: 'u8' | 'u16' | 'u32' } | null {
  const found = decimalScale(values);
  if (found === null) return null;
  const { scale, isMixed } = found;
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low === Infinity) return { base: 0, step: 1, scale: 1, as: 'u8' };
  const base = Math.round(low * scale);
  // Beyond this, base + code·step would be rounded.
  if (!Number.isSafeInteger(Math.round(high * scale) - base)) return null;
  let step = 0;
  for (let i = 0; i < values.length && (isMixed || step !== 1); i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    const scaled = Math.round(value * scale);
    // A coarser scale found later in the column may not fit earlier values.
    if (isMixed && (!Number.isSafeInteger(scaled) || scaled / scale !== value)) return null;
    if (step !== 1) step = greatestCommonDivisor(scaled - base, step);
  }
  const span = (Math.round(high * scale) - base) / (step || 1);
  const as = span < 0xff ? 'u8' : span < 0xffff ? 'u16' : span < 0xffffffff ? 'u32' : null;
  return as && { base, step: step || 1, scale, as };
}

/** One loop per width: branching on the width at every value takes twice the time. */
function writeNumbers(view: DataView, offset: number, values: Float64Array, header: ColumnHeader): void {
  const { as, base = 0, step = 1, scale = 1 } = header;
  const { length } = values;
  if (as === 'f64') {
    for (let i = 0; i < length; i++) view.setFloat64(offset + 8 * i, values[i]!, true);
    return;
  }
  const unknown = unknownCode[as];
  const code = (value: number) => (Number.isNaN(value) ? unknown : (Math.round(value * scale) - base) / step);
  if (as === 'u8') for (let i = 0; i < length; i++) view.setUint8(offset + i, code(values[i]!));
  else if (as === 'u16') for (let i = 0; i < length; i++) view.setUint16(offset + 2 * i, code(values[i]!), true);
  else for (let i = 0; i < length; i++) view.setUint32(offset + 4 * i, code(values[i]!), true);
}

function numberHeader(name: string, values: Float64Array): ColumnHeader {
  const frame = integerFrame(values);
  return frame ? { name, ...frame } : { name, as: 'f64' };
}

/** A header as JSON; a numeric one is written by hand, because blocks of few values consist mostly of headers. */
function headerJson({ name, as, base, step, scale, words }: ColumnHeader): string {
  const frame = base === undefined ? '' : `"base":${base},"step":${step},"scale":${scale},`;
  const rest = words === undefined ? '' : `,"words":${JSON.stringify(words)}`;
  if (as === 'f64') return `{"name":${JSON.stringify(name)},"as":"f64"${rest}}`;
  return `{"name":${JSON.stringify(name)},${frame}"as":"${as}"${rest}}`;
}

function textColumn(name: string, texts: string[]): { header: ColumnHeader; values: Float64Array } {
  const words = [...new Set(texts)];
  const index = new Map(words.map((word, i) => [word, i]));
  const values = Float64Array.from(texts, (text) => index.get(text)!);
  return { header: { ...numberHeader(name, values), words }, values };
}

/** Encodes columns of equal length. Equal columns always give equal bytes. */
export function encodeBlock(columns: Columns): Uint8Array<ArrayBuffer> {
  const names = Object.keys(columns);
  const length = names.length === 0 ? 0 : columns[names[0]!]!.length;
  const headers: ColumnHeader[] = [];
  const texts: string[] = [];
  const values: Float64Array[] = [];
  let total = 8;
  for (const name of names) {
    const column = columns[name]!;
    if (column.length !== length)
      throw new RangeError(`column ${name} has ${column.length} values, expected ${length}`);
    const part = Array.isArray(column)
      ? textColumn(name, column)
      : { header: numberHeader(name, column), values: column };
    const json = headerJson(part.header);
    headers.push(part.header);
    texts.push(json);
    values.push(part.values);
    total += 4 + Buffer.byteLength(json) + width[part.header.as] * length;
  }
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  const buffer = Buffer.from(bytes.buffer);
  bytes.set([0x54, 0x47, version, names.length]);
  view.setUint32(4, length, true);
  let offset = 8;
  for (let i = 0; i < names.length; i++) {
    const written = buffer.write(texts[i]!, offset + 4);
    view.setUint32(offset, written, true);
    offset += 4 + written;
    writeNumbers(view, offset, values[i]!, headers[i]!);
    offset += width[headers[i]!.as] * length;
  }
  return bytes;
}

/** Decodes codes of one width. One loop per width: branching on the width at every value takes twice the time. */
function readNumbers(bytes: Uint8Array, header: ColumnHeader, values: Float64Array): Float64Array {
  const { as, base = 0, step = 1, scale = 1 } = header;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const number = (code: number, unknown: number) => (code === unknown ? Number.NaN : (base + code * step) / scale);
  if (as === 'f64') for (let i = 0; i < values.length; i++) values[i] = view.getFloat64(8 * i, true);
  else if (as === 'u8') for (let i = 0; i < values.length; i++) values[i] = number(bytes[i]!, 0xff);
  else if (as === 'u16')
    for (let i = 0; i < values.length; i++) values[i] = number(view.getUint16(2 * i, true), 0xffff);
  else for (let i = 0; i < values.length; i++) values[i] = number(view.getUint32(4 * i, true), 0xffffffff);
  return values;
}

function readTexts(codes: Float64Array, words: readonly string[]): string[] {
  const texts = new Array<string>(codes.length);
  for (let i = 0; i < codes.length; i++) texts[i] = words[codes[i]!]!;
  return texts;
}

interface EncodedColumn {
  header: ColumnHeader;
  values: Uint8Array;
}

/** The encoded columns of a block. Throws on a payload that is truncated, too long, or of another version. */
function encodedColumns(bytes: Uint8Array): { length: number; columns: EncodedColumn[] } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8 || bytes[0] !== 0x54 || bytes[1] !== 0x47) throw new RangeError('not a column block');
  if (bytes[2] !== version) throw new RangeError(`column block of version ${bytes[2]}, this code reads ${version}`);
  const length = view.getUint32(4, true);
  const columns: EncodedColumn[] = [];
  let offset = 8;
  for (let i = 0; i < bytes[3]!; i++) {
    if (offset + 4 > bytes.length) throw new RangeError('column block is cut short');
    const headerEnd = offset + 4 + view.getUint32(offset, true);
    if (headerEnd > bytes.length) throw new RangeError('column block is cut short');
    const header = JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset + offset + 4, headerEnd - offset - 4).toString(),
    ) as ColumnHeader;
    offset = headerEnd + (width[header.as] ?? Number.NaN) * length;
    if (!(offset <= bytes.length)) throw new RangeError('column block is cut short');
    columns.push({ header, values: bytes.subarray(headerEnd, offset) });
  }
  if (offset !== bytes.length) throw new RangeError('column block has bytes left over');
  return { length, columns };
}

/**
 * Decodes the result of `encodeBlock`, or the columns `names` of it that it has. Throws on a payload that is truncated,
 * too long, or of another version. All numbers share one buffer: small buffers cost more than their content.
 */
export function decodeBlock(bytes: Uint8Array, names: readonly string[] | null = null): Columns {
  const { length, columns } = encodedColumns(bytes);
  const encoded = names === null ? columns : columns.filter(({ header }) => names.includes(header.name));
  const memory = new ArrayBuffer(8 * length * encoded.filter(({ header }) => !header.words).length);
  let place = 0;
  const decoded: Columns = {};
  for (const { header, values } of encoded) {
    const { name, words } = header;
    if (words) decoded[name] = readTexts(readNumbers(values, header, new Float64Array(length)), words);
    else decoded[name] = readNumbers(values, header, new Float64Array(memory, 8 * length * place++, length));
  }
  return decoded;
}

/** Position and encoding of a numeric column's values in a block. */
export interface ColumnLayout {
  header: ColumnHeader;
  /** Offset of the first value from the block's first byte. */
  at: number;
  /** Size of one value. */
  bytes: number;
}

/** The layout of the columns `names` of a block, in that order. */
export function layoutOf(block: Uint8Array, names: readonly string[]): ColumnLayout[] {
  const byName = new Map(encodedColumns(block).columns.map((column) => [column.header.name, column]));
  return names.map((name) => {
    const { header, values } = byName.get(name)!;
    return { header, at: values.byteOffset - block.byteOffset, bytes: width[header.as] };
  });
}

/** Decodes a value cut out of a block; NaN = unknown. */
export function cutValue({ header }: ColumnLayout, bytes: Uint8Array): number {
  return readNumbers(bytes, header, new Float64Array(1))[0]!;
}

/** A block for reading single values, which are decoded on demand. */
export interface OpenBlock {
  /** Number of values per column. */
  length: number;
  /** True if it has a column with that name. */
  has(name: string): boolean;
  /** The value of a numeric column at an index below `length`; NaN = unknown. */
  number(name: string, index: number): number;
  /** The value of a text column. */
  text(name: string, index: number): string;
}

/** Opens the result of `encodeBlock`. Throws like `decodeBlock`. */
export function openBlock(bytes: Uint8Array): OpenBlock {
  const { length, columns } = encodedColumns(bytes);
  const byName = new Map(columns.map((column) => [column.header.name, column]));
  const valueAt = ({ header, values }: EncodedColumn, index: number) => {
    const size = width[header.as];
    return readNumbers(values.subarray(index * size, (index + 1) * size), header, new Float64Array(1))[0]!;
  };
  const column = (name: string, isText: boolean) => {
    const found = byName.get(name);
    if (!found || (found.header.words !== undefined) !== isText) {
      throw new RangeError(`column block has no ${isText ? 'texts' : 'numbers'} ${name}`);
    }
    return found;
  };
  return {
    length,
    has: (name) => byName.has(name),
    number: (name, index) => valueAt(column(name, false), index),
    text(name, index) {
      const found = column(name, true);
      return found.header.words![valueAt(found, index)]!;
    },
  };
}

/** The numeric column `name` of a decoded block. */
export function numbers(columns: Columns, name: string): Float64Array {
  const column = columns[name];
  if (!(column instanceof Float64Array)) throw new RangeError(`column block has no numbers ${name}`);
  return column;
}

/**
 * The numeric column `name` of a decoded block; all unknown (NaN) if the block was written before the column existed.
 * Columns that identify a row are read by `numbers` and `texts`: they are never unknown.
 */
export function measures(columns: Columns, name: string): Float64Array {
  if (columns[name] !== undefined) return numbers(columns, name);
  const [first] = Object.values(columns);
  return new Float64Array(first?.length ?? 0).fill(Number.NaN);
}

/** A stored number; null for NaN, which means unknown. */
export function known(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

/** The text column `name` of a decoded block. */
export function texts(columns: Columns, name: string): string[] {
  const column = columns[name];
  if (!Array.isArray(column)) throw new RangeError(`column block has no texts ${name}`);
  return column;
}

/** Content hash of a payload: equal content, equal version. */
export function blockVersion(payload: Uint8Array): string {
  return hash('sha256', payload, 'base64url').slice(0, 16);
}
