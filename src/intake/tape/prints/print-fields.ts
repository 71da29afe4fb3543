import type { TradedContract } from '../../../core/domain/chain/contract-book.ts';
import type { FineUnit, InstantBounds } from '../../../core/domain/instant-gate.ts';
import { type ByteFields, byteTexts, countAt, shownField, stampMsAt, stampNanosAt } from '../csv/byte-csv.ts';
import { beforeExpiry, problemOfInstant } from '../csv/values.ts';
import { type Format, spellings } from '../formats/format.ts';

/** Ids of exchanges, facilities and conditions are small numbers. */
export const largestId = 65_535;

/** A field that may be blank, or have no column at all: `blank` then; NaN if it is not a whole number. */
export function optionalCount({ bytes, start, end }: ByteFields, column: number, blank = 0): number {
  return column < 0 || start[column] === end[column] ? blank : countAt(bytes, start[column]!, end[column]!);
}

/** Like `optionalCount`, for an id. */
export function optionalId(fields: ByteFields, column: number): number {
  const id = optionalCount(fields, column);
  return id <= largestId ? id : Number.NaN;
}

/** An exchange's id; NaN for other text. */
export function idAt({ bytes, start, end }: ByteFields, column: number): number {
  const id = countAt(bytes, start[column]!, end[column]!);
  return id <= largestId ? id : Number.NaN;
}

/** Condition ids, separated by commas (`"12,37"`), blank = none; null if invalid. Equal lists share one array. */
export function readConditions(text: string): readonly number[] | null {
  if (text.trim() === '') return [];
  const ids = text.split(',').map((part) => (/^\s*\d{1,5}\s*$/.test(part) ? Number(part) : Number.NaN));
  return ids.every((id) => id <= largestId) ? ids : null;
}

/** Creates a function that reads the condition column of a line; null if the field is not a list of ids. */
export function conditionReader(column: number): (fields: ByteFields) => readonly number[] | null {
  const known = byteTexts(readConditions);
  return ({ bytes, start, end }) => known(bytes, start[column]!, end[column]!);
}

/** Milliseconds of a timestamp with a number of digits below them; NaN if it is outside the bounds. */
export function stampMs(
  { bytes, start, end }: ByteFields,
  column: number,
  digits: number,
  bounds: InstantBounds,
): number {
  return stampMsAt(bytes, start[column]!, end[column]!, digits, bounds);
}

/** The nanoseconds of a timestamp within its millisecond; NaN for other text. */
export function stampNanos({ bytes, end }: ByteFields, column: number, digits: number): number {
  return stampNanosAt(bytes, end[column]!, digits);
}

/** The reason for a line with an invalid timestamp. */
export function badStamp(
  { bytes, start, end }: ByteFields,
  column: number,
  time: { column: string; unit: FineUnit },
  bounds: InstantBounds,
): string {
  const text = bytes.toString('latin1', start[column]!, end[column]!);
  return `${time.column}: ${problemOfInstant(text, time.unit, bounds)}`;
}

/** The reason for a line that names no option contract. */
export function badContract(
  fields: ByteFields,
  at: number,
  { column, spelling }: NonNullable<Format['symbols']>,
): string {
  return `${column}: expected ${spellings[spelling]}, got ${shownField(fields, at)}`;
}

/** The reason for a line with invalid `conditions`. */
export function badConditions(fields: ByteFields, column: number): string {
  return `conditions: expected condition ids, got ${shownField(fields, column)}`;
}

/** The reason for a line with a time after its contract's last session. */
export function expired(
  fields: ByteFields,
  column: number,
  time: { column: string },
  { endMs }: Pick<TradedContract, 'endMs'>,
): string {
  return `${time.column}: expected ${beforeExpiry(endMs)}, got ${shownField(fields, column)}`;
}
