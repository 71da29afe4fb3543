/** The types of columns that can be copied. */
export type CopyType = 'text' | 'int4' | 'int8' | 'float8' | 'bool' | 'bytea' | 'int4[]';

/** A value of a row to copy, in its column's type; null = SQL null. */
export type CopyValue = string | number | boolean | Uint8Array | readonly number[] | null;

const chunkBytes = 128 * 1024;
/** The header of a copy. */
export const copyStart = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** The trailer of a copy. */
export const copyEnd = Buffer.from([0xff, 0xff]);
const int4Oid = 23;

/** Writes rows in PostgreSQL's binary form into a growing buffer. */
export class RowWriter {
  readonly #types: readonly CopyType[];
  #bytes = Buffer.allocUnsafe(2 * chunkBytes);
  #at = 0;

  constructor(types: readonly CopyType[]) {
    this.#types = types;
  }

  row(values: readonly CopyValue[]): void {
    const types = this.#types;
    if (values.length !== types.length)
      throw new RangeError(`A row to be copied has ${values.length} values, expected ${types.length}.`);
    this.#ensure(6);
    this.#at = this.#bytes.writeInt16BE(types.length, this.#at);
    for (let i = 0; i < types.length; i++) {
      const value = values[i]!;
      if (value !== null) this.#put(types[i]!, value);
      else {
        this.#ensure(4);
        this.#put4(-1);
      }
    }
  }

  /** True once there is enough to take. */
  get isFull(): boolean {
    return this.#at >= chunkBytes;
  }

  /** Takes the bytes written since the last call. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(this.#at);
    this.#bytes.copy(taken, 0, 0, this.#at);
    this.#at = 0;
    return taken;
  }

  #ensure(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const longer = Buffer.allocUnsafe(2 * (this.#at + more));
    this.#bytes.copy(longer, 0, 0, this.#at);
    this.#bytes = longer;
  }

  #put4(value: number): void {
    this.#at = this.#bytes.writeInt32BE(value, this.#at);
  }

  #put8(value: number): void {
    this.#put4(Math.floor(value / 2 ** 32));
    this.#at = this.#bytes.writeUInt32BE(value >>> 0, this.#at);
  }

  #putText(text: string): void {
    this.#ensure(4 + 3 * text.length);
    const length = this.#bytes.write(text, this.#at + 4);
    this.#put4(length);
    this.#at += length;
  }

  #putBytes(value: Uint8Array): void {
    this.#ensure(4 + value.length);
    this.#put4(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  #putList(list: readonly number[]): void {
    this.#ensure(24 + 8 * list.length);
    this.#put4(list.length === 0 ? 12 : 20 + 8 * list.length);
    this.#put4(list.length === 0 ? 0 : 1);
    this.#put4(0);
    this.#put4(int4Oid);
    if (list.length === 0) return;
    this.#put4(list.length);
    this.#put4(1);
    for (const value of list) {
      this.#put4(4);
      this.#put4(value);
    }
  }

  #putNumber(type: CopyType, value: number): void {
    this.#ensure(12);
    if (type === 'int4') {
      this.#put4(4);
      this.#put4(value);
      return;
    }
    this.#put4(8);
    if (type === 'int8') this.#put8(value);
    else this.#at = this.#bytes.writeDoubleBE(value, this.#at);
  }

  #put(type: CopyType, value: Exclude<CopyValue, null>): void {
    if (typeof value === 'number') this.#putNumber(type, value);
    else if (typeof value === 'string') this.#putText(value);
    else if (value instanceof Uint8Array) this.#putBytes(value);
    else if (typeof value === 'object') this.#putList(value);
    else {
      this.#ensure(5);
      this.#put4(1);
      this.#bytes[this.#at++] = value ? 1 : 0;
    }
  }
}
