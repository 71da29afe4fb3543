import { VendorError } from '../row-format.ts';

/** Bytes of the header of a record. */
export const headerLength = 16;

/** Offsets of fields in a record. Those after the header are of trades and quotes. */
export const at = { kind: 1, publisher: 2, instrument: 4, event: 8, price: 16, size: 24, action: 28 } as const;
export const later = { sequence: 44, bid: 48, ask: 56 } as const;

const nanosInDollar = 1e9;
const [undefHigh, undefLow] = [0x7fffffff, 0xffffffff];

/** The dollars of a price in billionths, as digits; blank if it is undefined. */
export function priceText(bytes: Buffer, offset: number): string {
  const [low, high] = [bytes.readUInt32LE(offset), bytes.readInt32LE(offset + 4)];
  if (high === undefHigh && low === undefLow) return '';
  const value = high * 2 ** 32 + low;
  // Beyond 9 million dollars a double would lose digits.
  if (!Number.isSafeInteger(value)) return exactPriceText(bytes.readBigInt64LE(offset));
  const dollars = Math.trunc(value / nanosInDollar);
  const fraction = Math.abs(value - dollars * nanosInDollar);
  const sign = value < 0 && dollars === 0 ? '-' : '';
  if (fraction === 0) return `${sign}${dollars}`;
  // Most prices are of ten-thousandths.
  const digits = fraction % 1e5 === 0 ? String(fraction / 1e5).padStart(4, '0') : String(fraction).padStart(9, '0');
  return `${sign}${dollars}.${digits}`;
}

function exactPriceText(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(10, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

/** Nanoseconds of the event of a record, since 1970 in UTC. */
export const eventNanos = (bytes: Buffer, offset: number) => bytes.readBigUInt64LE(offset + at.event);

/** Milliseconds of them; the rest is dropped. A double of the nanoseconds could be one of the millisecond before. */
export const eventMs = (bytes: Buffer, offset: number) => Number(eventNanos(bytes, offset) / 1_000_000n);

/** Writes the row of a record with its ticker; null for a record without one. */
export type WriteRow = (bytes: Buffer, offset: number, ticker: string) => string | null;

/**
 * Calls `take` for each record of bytes that arrive in pieces, with its offset and length. `from`: offset in the file
 * of the first. Memory holds a piece. Throws `VendorError` with the byte.
 */
export async function* recordPieces<T>(
  pieces: AsyncIterable<Buffer>,
  from: number,
  take: (bytes: Buffer, offset: number, length: number) => void,
  flush: () => T,
): AsyncGenerator<T> {
  let rest: Buffer = Buffer.alloc(0);
  let position = from;
  for await (const piece of pieces) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    let offset = 0;
    while (offset < bytes.length) {
      const length = bytes[offset]! * 4;
      if (length < headerLength)
        throw new VendorError(`byte ${position + offset}: expected a record of at least 16 bytes, got ${length}`);
      if (offset + length > bytes.length) break;
      take(bytes, offset, length);
      offset += length;
    }
    rest = bytes.subarray(offset);
    position += offset;
    yield flush();
  }
  if (rest.length > 0)
    throw new VendorError(`byte ${position}: the record ends after ${rest.length} bytes: the file is incomplete`);
}
