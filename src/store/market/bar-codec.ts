import type { BarColumns, StoredTimeframe } from '../../core/domain/market/bar.ts';
import { barNumbers } from '../../core/domain/market/bar-columns.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { areOfSession, ascends, blockAssertions } from '../series/assertions.ts';
import { decodeBlock, encodeBlock, numbers } from '../series/codec.ts';
import { rowColumns } from '../series/row-columns.ts';

/**
 * The span of a bar's block: its session for 1s, 1m, 5m, unpriced seconds and bars of contracts, its month for 1h, its
 * year for 1d. The first date identifies it.
 */
export function spanStart(timeframe: StoredTimeframe | 'rest', date: SessionDate): SessionDate {
  if (timeframe === '1d') return `${date.slice(0, 4)}-01-01`;
  if (timeframe === '1h') return `${date.slice(0, 7)}-01`;
  return date;
}

/** Identity of a block of bars: a stock's series or a contract's session. */
export interface BarBlockKey {
  /** A stock's symbol, or a contract. */
  of: string;
  timeframe: StoredTimeframe | 'rest';
  spanStart: SessionDate;
  /** True if all bars of the block are known to be made of prints: a vendor's vwap is stored as reported. */
  ofPrints: boolean;
}

function enclosesVwaps({ low, high, vwap }: BarColumns): boolean {
  for (let i = 0; i < vwap.length; i++)
    if (vwap[i]! < low[i]! || vwap[i]! > high[i]! || low[i]! > high[i]!) return false;
  return true;
}

/** Asserts of the bars of a block, of a part of it, or of a run to write what holds of a block. */
export const assertBars = blockAssertions<BarBlockKey & { bars: BarColumns }>(
  'bars',
  ({ of, timeframe, spanStart: span }) => `${of} ${timeframe} ${span}`,
  {
    'its bars ascend': ({ bars }) => ascends(bars.tsMs),
    'its bars are in its span': ({ timeframe, spanStart: span, bars }) =>
      areOfSession(bars.tsMs, (session) => spanStart(timeframe, session) === span),
    'low <= vwap <= high': ({ bars, ofPrints }) => !ofPrints || enclosesVwaps(bars),
  },
);

/** Bars as a column block. Their priced volume has a column only if it differs from the volume. */
export function encodeBars(all: BarColumns, key: BarBlockKey): Uint8Array<ArrayBuffer> {
  assertBars.onWrite({ ...key, bars: all });
  const { pricedVolume, ...bars } = all;
  const isWhole = !pricedVolume || pricedVolume.every((priced, i) => priced === bars.volume[i]);
  return encodeBlock(isWhole ? bars : { ...bars, pricedVolume });
}

/** The bars of a column block. */
export function decodeBars(payload: Uint8Array, key: BarBlockKey): BarColumns {
  const block = decodeBlock(payload);
  const read = rowColumns(block, barNumbers, ['tsMs']);
  const bars = block.pricedVolume ? { ...read, pricedVolume: numbers(block, 'pricedVolume') } : read;
  assertBars.onRead({ ...key, bars });
  return bars;
}
