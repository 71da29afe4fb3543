import { hash } from 'node:crypto';
import { type BarColumns, barColumnNames } from '../../domain/bar.ts';
import { decodeBlock, encodeBlock, numbers } from '../engine/codec.ts';

/** Content hash of a payload: equal content, equal version. */
export function blockVersion(payload: Uint8Array): string {
  return hash('sha256', payload, 'base64url').slice(0, 16);
}

/** Bars as a column block. */
export function encodeBars(bars: BarColumns): Uint8Array<ArrayBuffer> {
  return encodeBlock({ ...bars });
}

/** The bars of a column block. */
export function decodeBars(payload: Uint8Array): BarColumns {
  const columns = decodeBlock(payload);
  return Object.fromEntries(barColumnNames.map((name) => [name, numbers(columns, name)])) as unknown as BarColumns;
}
