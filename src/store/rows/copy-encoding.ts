/** The types of columns that can be copied. */
export type CopyType = 'text' | 'int4' | 'int8' | 'float8' | 'bool' | 'bytea' | 'int4[]';

/** A value of a row to be copied, as its column's type wants it; null = SQL null. */
export type CopyValue = string | number | boolean | Uint8Array | readonly number[] | null;

const chunkBytes = 128 * 1024;
/** The beginning of a copy. */
export const copyStart = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** The end of a copy. */
export const copyEnd = Buffer.from([0xff, 0xff]);
const int4Oid = 23;

/** Rows in PostgreSQL's binary form, in a buffer that grows as it must. */
export function createRowWriter(types: readonly CopyType[]) {
  let bytes = Buffer.allocUnsafe(2 * chunkBytes);
  let at = 0;

  function ensure(more: number) {
    if (at + more <= bytes.length) return;
    const longer = Buffer.allocUnsafe(2 * (at + more));
    bytes.copy(longer, 0, 0, at);
    bytes = longer;
  }
  function put4(value: number) {
    at = bytes.writeInt32BE(value, at);
  }
  function put8(value: number) {
    put4(Math.floor(value / 2 ** 32));
    at = bytes.writeUInt32BE(value >>> 0, at);
  }
  function putText(text: string) {
    ensure(4 + 3 * text.length);
    const length = bytes.write(text, at + 4);
    put4(length);
    at += length;
  }
  function putBytes(value: Uint8Array) {
    ensure(4 + value.length);
    put4(value.length);
    bytes.set(value, at);
    at += value.length;
  }
  function putList(list: readonly number[]) {
    ensure(24 + 8 * list.length);
    put4(list.length === 0 ? 12 : 20 + 8 * list.length);
    put4(list.length === 0 ? 0 : 1);
    put4(0);
    put4(int4Oid);
    if (list.length === 0) return;
    put4(list.length);
    put4(1);
    for (const value of list) {
      put4(4);
      put4(value);
    }
  }
  function putNumber(type: CopyType, value: number) {
    ensure(12);
    if (type === 'int4') {
      put4(4);
      put4(value);
      return;
    }
    put4(8);
    if (type === 'int8') put8(value);
    else at = bytes.writeDoubleBE(value, at);
  }
  function put(type: CopyType, value: Exclude<CopyValue, null>) {
    if (typeof value === 'number') putNumber(type, value);
    else if (typeof value === 'string') putText(value);
    else if (value instanceof Uint8Array) putBytes(value);
    else if (typeof value === 'object') putList(value);
    else {
      ensure(5);
      put4(1);
      bytes[at++] = value ? 1 : 0;
    }
  }

  return {
    row(values: readonly CopyValue[]) {
      if (values.length !== types.length)
        throw new RangeError(`A row to be copied has ${values.length} values, expected ${types.length}.`);
      ensure(6);
      at = bytes.writeInt16BE(types.length, at);
      for (let i = 0; i < types.length; i++) {
        const value = values[i]!;
        if (value !== null) put(types[i]!, value);
        else {
          ensure(4);
          put4(-1);
        }
      }
    },
    isFull: () => at >= chunkBytes,
    /** Takes the bytes written since the last call. */
    take(): Uint8Array<ArrayBuffer> {
      const taken = new Uint8Array(at);
      bytes.copy(taken, 0, 0, at);
      at = 0;
      return taken;
    },
  };
}
