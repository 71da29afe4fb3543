import type { BarColumns } from '../../core/domain/market/bar.ts';
import { barNumbers } from '../../core/domain/market/bar-columns.ts';
import { decodeBlock, encodeBlock, numbers } from '../series/codec.ts';
import { rowColumns } from '../series/row-columns.ts';

/** Bars as a column block. Their priced volume has a column only if it differs from the volume. */
export function encodeBars({ pricedVolume, ...bars }: BarColumns): Uint8Array<ArrayBuffer> {
  const isWhole = !pricedVolume || pricedVolume.every((priced, i) => priced === bars.volume[i]);
  return encodeBlock(isWhole ? bars : { ...bars, pricedVolume });
}

/** The bars of a column block. */
export function decodeBars(payload: Uint8Array): BarColumns {
  const block = decodeBlock(payload);
  const bars = rowColumns(block, barNumbers, ['tsMs']);
  return block.pricedVolume ? { ...bars, pricedVolume: numbers(block, 'pricedVolume') } : bars;
}
