/** Bytes that are put together at a time. */
const scratch = Buffer.allocUnsafeSlow(256 * 1024);
/** The bytes of any number are fewer. */
const numberBytes = 32;
/** Longer texts are written by themselves. */
const shortText = 1000;

const [zero, minus, point, quote, backslash] = [48, 45, 46, 34, 92];

/** Writes the digits of an integer below 2^31, at least so many, and returns where they end. */
function writeDigits(value: number, start: number, atLeast: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  if (digits < atLeast) digits = atLeast;
  let rest = value;
  for (let at = start + digits; at > start; ) {
    const tenth = (rest / 10) | 0;
    scratch[--at] = zero + (rest - tenth * 10);
    rest = tenth;
  }
  return start + digits;
}

/** Integers from here on are written in two parts: arithmetic is quicker below 2^31. */
const longUnit = 1e9;

/** Writes an integer of 0 to 2^53 and returns where it ends. */
function writeInteger(value: number, start: number): number {
  if (value < longUnit) return writeDigits(value, start, 1);
  const high = Math.floor(value / longUnit);
  return writeDigits(value - high * longUnit, writeDigits(high, start, 1), 9);
}

/** Prices have so many decimals at most, which makes them quick. */
const quickUnit = 10_000;
const quickBelow = 1e9;

/**
 * Writes a finite number as `JSON.stringify` does, and returns where it ends. A number with at most four decimals is
 * written by its digits: of up to 15 digits no two read as one double, so these are its shortest.
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
      let rest = units - whole * quickUnit;
      for (let unit = quickUnit / 10; rest > 0; unit /= 10) {
        const digit = (rest / unit) | 0;
        scratch[at++] = zero + digit;
        rest -= digit * unit;
      }
      return at;
    }
  }
  return start + scratch.write(String(value), start, 'latin1');
}

/**
 * Writes JSON as bytes, several times faster than objects are made and `JSON.stringify` writes them. Writers share
 * their scratch: before anything is awaited, `pause` has to be called.
 */
export class ByteWriter {
  readonly #parts: Buffer[] = [];
  #at = 0;

  #flush(): void {
    if (this.#at === 0) return;
    const part = Buffer.allocUnsafe(this.#at);
    scratch.copy(part, 0, 0, this.#at);
    this.#parts.push(part);
    this.#at = 0;
  }

  /** ASCII of a bounded length. */
  raw(bytes: Uint8Array): void {
    if (this.#at + bytes.length > scratch.length) this.#flush();
    let at = this.#at;
    for (let i = 0; i < bytes.length; i++) scratch[at++] = bytes[i]!;
    this.#at = at;
  }

  byte(byte: number): void {
    if (this.#at === scratch.length) this.#flush();
    scratch[this.#at++] = byte;
  }

  /** A finite number. */
  number(value: number): void {
    if (this.#at + numberBytes > scratch.length) this.#flush();
    this.#at = writeNumber(value, this.#at);
  }

  text(text: string): void {
    if (text.length > shortText || !this.#plainText(text)) this.json(JSON.stringify(text));
  }

  /** Writes a text all of whose characters stand for themselves; false = there are others, and nothing was written. */
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

  /** What is JSON already. */
  json(json: string): void {
    const bytes = Buffer.from(json);
    if (this.#at + bytes.length > scratch.length) this.#flush();
    if (bytes.length > scratch.length) this.#parts.push(bytes);
    else this.#at += bytes.copy(scratch, this.#at);
  }

  /** Lets others write. */
  pause(): void {
    this.#flush();
  }

  /** What was written. */
  done(): Buffer[] {
    this.#flush();
    return this.#parts;
  }
}
