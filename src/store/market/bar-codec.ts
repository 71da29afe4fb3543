import { hash } from 'node:crypto';
import type { BarColumns } from '../../domain/market/bar.ts';
import { barColumnNames } from '../../domain/market/bar-columns.ts';
import { decodeBlock, encodeBlock, measures, numbers } from '../series/codec.ts';

/** Content hash of a payload: equal content, equal version. */
export function blockVersion(payload: Uint8Array): string {
  return hash('sha256', payload, 'base64url').slice(0, 16);
}

/** Bars as a column block. Their priced volume is a column of its own only where it is not the whole volume. */
export function encodeBars({ pricedVolume, ...bars }: BarColumns): Uint8Array<ArrayBuffer> {
  const isWhole = !pricedVolume || pricedVolume.every((priced, i) => priced === bars.volume[i]);
  return encodeBlock(isWhole ? bars : { ...bars, pricedVolume });
}

/** The bars of a column block. */
export function decodeBars(payload: Uint8Array): BarColumns {
  const columns = decodeBlock(payload);
  const bars = Object.fromEntries(
    barColumnNames.map((name) => [name, (name === 'tsMs' ? numbers : measures)(columns, name)]),
  ) as unknown as BarColumns;
  return columns.pricedVolume ? { ...bars, pricedVolume: numbers(columns, 'pricedVolume') } : bars;
}
