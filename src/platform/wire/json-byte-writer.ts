/** Buffer in which bytes are assembled. */
const scratch = Buffer.allocUnsafeSlow(256 * 1024);
/** Upper bound of the bytes of any number. */
const numberBytes = 32;
/** Longer texts are written separately. */
const shortText = 1000;

const [zero, minus, point, quote, backslash, comma] = [48, 45, 46, 34, 92, 44];

/** Digits are written four at a time, from a table of all groups of four. */
const group = 10_000;
const groupDigits = 4;
const digits = new Uint8Array(groupDigits * group);
/** Numbers of leading, and of trailing, zeros of a group. */
const leadingZeros = new Uint8Array(group);
const trailingZeros = new Uint8Array(group);
for (let n = 0; n < group; n++) {
  const text = String(n).padStart(groupDigits, '0');
  for (let i = 0; i < groupDigits; i++) digits[groupDigits * n + i] = zero + Number(text[i]);
  leadingZeros[n] = Math.min(/^0*/.exec(text)![0].length, groupDigits - 1);
  trailingZeros[n] = /0*$/.exec(text)![0].length;
}

/** Writes a group of digits without the first `skipped`. Returns the end offset. */
function writeGroup(value: number, start: number, skipped: number): number {
  let at = start;
  for (let i = groupDigits * value + skipped; i < groupDigits * (value + 1); i++) scratch[at++] = digits[i]!;
  return at;
}

/** Writes an integer of 0 to 2^53. Returns the end offset. */
function writeInteger(value: number, start: number): number {
  if (value < group) return writeGroup(value, start, leadingZeros[value]!);
  const above = Math.floor(value / group);
  return writeGroup(value - above * group, writeInteger(above, start), 0);
}

/** Scale of the fast path: four decimals, as prices have. */
const quickUnit = group;
const quickBelow = 1e9;

/**
 * Writes a finite number as `JSON.stringify` does. Returns the end offset. A number with at most four decimals is
 * written by its digits: no two numbers of up to 15 digits parse to one double, so these are its shortest form.
 */
function writeNumber(value: number, start: number): number {
  let at = start;
  let size = value;
  if (value < 0) {
    scratch[at++] = minus;
    size = -value;
  }
  if (Number.isSafeInteger(size)) return writeInteger(size, at);
  if (size < quickBelow) {
    const units = Math.round(size * quickUnit);
    if (units > 0 && units / quickUnit === size) {
      const whole = Math.floor(size);
      at = writeInteger(whole, at);
      scratch[at++] = point;
      const decimals = units - whole * quickUnit;
      return writeGroup(decimals, at, 0) - trailingZeros[decimals]!;
    }
  }
  return start + scratch.write(String(value), start, 'latin1');
}

const nullBytes = new Uint8Array(Buffer.from('null'));

/** Writes a few bytes. Returns the end offset. */
function writeBytes(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let i = 0; i < bytes.length; i++) scratch[at++] = bytes[i]!;
  return at;
}

/**
 * Writes JSON as bytes, several times faster than building objects and calling `JSON.stringify`. Writers share their
 * scratch buffer: call `pause` before anything is awaited.
 */
export class ByteWriter {
  readonly #parts: Buffer[] = [];
  #flushed = 0;
  #at = 0;

  /** Number of bytes written so far. */
  get length(): number {
    return this.#flushed + this.#at;
  }

  #flush(): void {
    if (this.#at === 0) return;
    const part = Buffer.allocUnsafe(this.#at);
    scratch.copy(part, 0, 0, this.#at);
    this.#add(part);
    this.#at = 0;
  }

  #add(part: Buffer): void {
    this.#parts.push(part);
    this.#flushed += part.length;
  }

  /** Writes ASCII of a bounded length. */
  raw(bytes: Uint8Array): void {
    if (this.#at + bytes.length > scratch.length) this.#flush();
    this.#at = writeBytes(bytes, this.#at);
  }

  /**
   * Writes rows of numbers from `start` to before `end`, with commas in between: for each column the text before its
   * value and the value, then the text after the last.
   *
   * `accepts` returns true if a column's number needs no serialization; otherwise `null` is written.
   */
  rows(
    start: number,
    end: number,
    {
      columns,
      behind,
    }: {
      columns: readonly { before: Uint8Array; values: Float64Array; accepts: (value: number) => boolean }[];
      behind: Uint8Array;
    },
  ): void {
    const most = columns.reduce((sum, { before }) => sum + before.length + numberBytes, 1 + behind.length);
    for (let row = start; row < end; row++) {
      if (this.#at + most > scratch.length) this.#flush();
      let at = this.#at;
      if (row > 0) scratch[at++] = comma;
      for (let i = 0; i < columns.length; i++) {
        const { before, values, accepts } = columns[i]!;
        const value = values[row]!;
        at = writeBytes(before, at);
        at = accepts(value) ? writeNumber(value, at) : writeBytes(nullBytes, at);
      }
      this.#at = writeBytes(behind, at);
    }
  }

  byte(byte: number): void {
    if (this.#at === scratch.length) this.#flush();
    scratch[this.#at++] = byte;
  }

  /** Writes a finite number. */
  number(value: number): void {
    if (this.#at + numberBytes > scratch.length) this.#flush();
    this.#at = writeNumber(value, this.#at);
  }

  text(text: string): void {
    if (text.length > shortText || !this.#plainText(text)) this.json(JSON.stringify(text));
  }

  /** Writes a text without characters that require escapes. Returns false, having written nothing, if there are any. */
  #plainText(text: string): boolean {
    if (this.#at + text.length + 2 > scratch.length) this.#flush();
    let at = this.#at;
    scratch[at++] = quote;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < 32 || code > 126 || code === quote || code === backslash) return false;
      scratch[at++] = code;
    }
    scratch[at++] = quote;
    this.#at = at;
    return true;
  }

  /** Writes a text that is already JSON. */
  json(json: string): void {
    const bytes = Buffer.from(json);
    if (this.#at + bytes.length > scratch.length) this.#flush();
    if (bytes.length > scratch.length) this.#add(bytes);
    else this.#at += bytes.copy(scratch, this.#at);
  }

  /** Releases the scratch buffer for other writers. */
  pause(): void {
    this.#flush();
  }

  /** The written bytes. */
  done(): Buffer[] {
    this.#flush();
    return this.#parts;
  }
}
