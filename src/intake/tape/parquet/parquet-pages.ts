import { crc32 } from 'node:zlib';
import type { ColumnMetaData } from 'hyparquet';

/*
 * The headers of a column's pages, read before the decoder believes them: it reserves and loops by the sizes and counts
 * that they state.
 */

/** Bytes of a file from `start` to `end`; rejects if it has fewer. */
export type ReadRange = (start: number, end: number) => Promise<Uint8Array>;

/** Limits of what is unpacked at once. */
export interface UnpackedLimits {
  values: number;
  bytes: number;
}

type Fields = Map<number, number | Fields>;

/** Thrown for a header that is longer than the bytes at hand. */
class HeaderEnds extends RangeError {}

const deepest = 8;

/** Reads structures of Thrift's compact protocol. Texts are skipped: their fields are not a number. */
class ThriftReader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  #skip(count: number): number {
    const from = this.at;
    this.at += count;
    if (this.at > this.#bytes.length) throw new HeaderEnds();
    return from;
  }

  #byte(): number {
    return this.#bytes[this.#skip(1)]!;
  }

  /** A variable-length number; those beyond 2 ** 53 lose digits. */
  #number(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 63; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new Error('its header has a number of more than 64 bits');
  }

  #signed(): number {
    const value = this.#number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #list(depth: number): number {
    const head = this.#byte();
    const count = head >> 4 === 15 ? this.#number() : head >> 4;
    const type = head & 0x0f;
    for (let i = 0; i < count; i++) this.#value(type <= 2 ? 3 : type, depth);
    return Number.NaN;
  }

  #value(type: number, depth: number): number | Fields {
    if (type === 1 || type === 2) return type === 1 ? 1 : 0;
    if (type === 3) return this.#byte();
    if (type >= 4 && type <= 6) return this.#signed();
    if (type === 7) this.#skip(8);
    else if (type === 8) this.#skip(this.#number());
    else if (type === 9) return this.#list(depth);
    else if (type === 12) return this.structure(depth + 1);
    else throw new Error(`its header has a field of the unknown type ${type}`);
    return Number.NaN;
  }

  structure(depth = 0): Fields {
    if (depth > deepest) throw new Error('its header is nested too deeply');
    const fields: Fields = new Map();
    for (let id = 0, head = this.#byte(); head !== 0; head = this.#byte()) {
      id = head >> 4 === 0 ? this.#signed() : id + (head >> 4);
      fields.set(id, this.#value(head & 0x0f, depth));
    }
    return fields;
  }
}

/** A count or a size of a header. Throws if it is not a whole number from 0 to `most`. */
function whole(fields: Fields, id: number, what: string, most: number): number {
  const value = fields.get(id);
  if (typeof value !== 'number') throw new Error(`its header states no number of ${what}`);
  if (!(value >= 0 && value <= most)) throw new Error(`its header states ${value} ${what}; expected 0 to ${most}`);
  return value;
}

function part(fields: Fields, id: number, of: string): Fields {
  const found = fields.get(id);
  if (!(found instanceof Map)) throw new Error(`it has no header of a ${of}`);
  return found;
}

/** Numbers of the page types. */
const [dataPage, dictionaryPage, dataPageV2] = [0, 2, 3];

/** A checked page. `values` of a dictionary are not those of the column. */
interface PageHeader {
  headerLength: number;
  packed: number;
  unpacked: number;
  isDictionary: boolean;
  values: number;
  crc: number | null;
}

function valuesOf(fields: Fields, packed: number, unpacked: number, { values: most }: UnpackedLimits) {
  const type = fields.get(1);
  if (type === dataPage) return { isDictionary: false, values: whole(part(fields, 5, 'data page'), 1, 'values', most) };
  // A value of a dictionary takes a bit or more.
  if (type === dictionaryPage) {
    const dictionary = part(fields, 7, 'dictionary');
    return { isDictionary: true, values: whole(dictionary, 1, 'values', Math.min(most, unpacked * 8)) };
  }
  if (type !== dataPageV2) throw new Error('its header states an unknown type of page');
  const page = part(fields, 8, 'data page');
  const values = whole(page, 1, 'values', most);
  whole(page, 2, 'nulls', values);
  whole(page, 3, 'rows', values);
  const levels = Math.min(packed, unpacked);
  whole(page, 6, 'bytes of levels', levels - whole(page, 5, 'bytes of levels', levels));
  return { isDictionary: false, values };
}

function readHeader(bytes: Uint8Array, left: number, limits: UnpackedLimits): PageHeader {
  const reader = new ThriftReader(bytes);
  const fields = reader.structure();
  const headerLength = reader.at;
  const packed = whole(fields, 3, 'packed bytes', left - headerLength);
  const unpacked = whole(fields, 2, 'unpacked bytes', limits.bytes);
  const crc = fields.get(4);
  const checksum = typeof crc === 'number' ? crc >>> 0 : null;
  return { headerLength, packed, unpacked, ...valuesOf(fields, packed, unpacked, limits), crc: checksum };
}

const usualHeader = 16 * 1024;

/** The header at a position. One with long bounds of texts is read again, whole. */
async function headerAt(read: ReadRange, at: number, end: number, limits: UnpackedLimits): Promise<PageHeader> {
  for (let most = usualHeader; ; most *= 16) {
    const stop = Math.min(end, at + most);
    try {
      return readHeader(await read(at, stop), end - at, limits);
    } catch (error) {
      if (!(error instanceof HeaderEnds)) throw error;
      if (stop === end) throw new Error('its header ends early', { cause: error });
    }
  }
}

/** A data page of a column: where it begins, and its length with its header. */
export interface FoundPage {
  offset: number;
  length: number;
}

/**
 * Checks the pages of a column of a row group by their headers, and by their checksums if they have them: sizes, and
 * that they have the values that the footer states. `inParts`: the column is not unpacked at once. Returns its data
 * pages. Throws with the number of the page.
 */
export async function checkPages(
  read: ReadRange,
  column: ColumnMetaData,
  limits: UnpackedLimits,
  inParts: boolean,
): Promise<FoundPage[]> {
  const start = Number(column.dictionary_page_offset || column.data_page_offset);
  const end = start + Number(column.total_compressed_size);
  const expected = Number(column.num_values);
  const found: FoundPage[] = [];
  let [values, unpacked, number] = [0, 0, 0];
  for (let at = start; at < end - 1; ) {
    number++;
    try {
      const header = await headerAt(read, at, end, limits);
      const body = at + header.headerLength;
      if (header.crc !== null && crc32(await read(body, body + header.packed)) !== header.crc)
        throw new Error('its bytes do not have the checksum of its header');
      if (!header.isDictionary) {
        found.push({ offset: at, length: header.headerLength + header.packed });
        values += header.values;
      }
      unpacked += header.unpacked;
      if (!inParts && (values > limits.values || unpacked > limits.bytes))
        throw new Error(
          `with it the column has ${values} values in ${unpacked} bytes; at most ${limits.values} in ${limits.bytes} are read at once`,
        );
      at = body + header.packed;
    } catch (cause) {
      throw new Error(`page ${number}: ${(cause as Error).message}`, { cause });
    }
  }
  if (values !== expected) throw new Error(`its pages have ${values} values, the footer states ${expected}`);
  return found;
}
