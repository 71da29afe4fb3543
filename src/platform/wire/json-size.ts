/** The size of a JSON text, counted without reading its values. */
export interface JsonSize {
  bytes: number;
  /** Number of values: items, fields, lists and objects. */
  values: number;
}

/** Maximum number of values of a JSON text that is sent. */
export const mostJsonValues = 10_000;

/** Limit that a JSON text exceeds. */
export type JsonExcess = 'too-deep' | 'too-many-values';

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The end offset of the string that begins at `start`, after its opening quote. */
function textEnd(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}

/**
 * Counts the values of a JSON text in one pass over its bytes; stops at the limits. `JSON.parse` takes ten to a
 * hundred times as long for a text of many values or levels, so it is called only for a text within them.
 */
export function jsonSize(bytes: Buffer, mostDeep: number): JsonSize | JsonExcess {
  let [values, depth] = [1, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === quote) at = textEnd(bytes, at + 1);
    else if (byte === comma) values += 1;
    else if (byte === openList || byte === openObject) {
      values += 1;
      depth += 1;
      if (depth > mostDeep) return 'too-deep';
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    if (values > mostJsonValues) return 'too-many-values';
  }
  return { bytes: bytes.length, values };
}
