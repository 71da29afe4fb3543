import { nanosBetween } from '../../domain/market/print.ts';
import { tapeSettings } from '../methodology.ts';
import type { OptionLedger } from '../prints/option-ledger.ts';
import type { FormedEvent } from './events.ts';

/**
 * Maximum gaps within one event: between consecutive prints, and from the first to the last. Nanoseconds, inclusive.
 */
export interface Closeness {
  gapNanos: number;
  spanNanos: number;
}

/** Gaps of the ordinary and sweep-order prints of a contract and side. */
export const sweepCloseness: Closeness = {
  gapNanos: tapeSettings.sweepGapMs * 1e6,
  spanNanos: tapeSettings.sweepSpanMs * 1e6,
};

/** Gaps of the multi-leg and stock-tied prints of an underlying and exchange. */
export const multiLegCloseness: Closeness = {
  gapNanos: tapeSettings.multiLegSpanMs * 1e6,
  spanNanos: tapeSettings.multiLegSpanMs * 1e6,
};

/** Nanoseconds from one entry to another. */
export function nanosFrom({ columns, mask }: OptionLedger, from: number, to: number): number {
  const [i, j] = [from & mask, to & mask];
  return nanosBetween(columns.tsMs[i]!, columns.tsNanos[i]!, columns.tsMs[j]!, columns.tsNanos[j]!);
}

/** Takes prints in event-time order, and emits each segment when it ends. */
export interface SegmentCutter {
  add(entry: number): void;
  /** Ends the last segment. */
  end(): void;
}

/**
 * Splits prints into segments: a print that is too far from the previous one, or from the segment's first, begins the
 * next. The list passed to `onSegment` is reused.
 */
export function createSegmentCutter(
  ledger: OptionLedger,
  { gapNanos, spanNanos }: Closeness,
  onSegment: (entries: readonly number[]) => void,
): SegmentCutter {
  const open: number[] = [];
  function end() {
    if (open.length === 0) return;
    onSegment(open);
    open.length = 0;
  }
  return {
    add(entry) {
      if (open.length > 0) {
        const fits =
          nanosFrom(ledger, open.at(-1)!, entry) <= gapNanos && nanosFrom(ledger, open[0]!, entry) <= spanNanos;
        if (!fits) end();
      }
      open.push(entry);
    },
    end,
  };
}

/** The segments of prints in event-time order. */
export function segmentsOf(ledger: OptionLedger, entries: readonly number[], closeness: Closeness): number[][] {
  const segments: number[][] = [];
  const cutter = createSegmentCutter(ledger, closeness, (segment) => segments.push([...segment]));
  for (const entry of entries) cutter.add(entry);
  cutter.end();
  return segments;
}

const alone = (kind: FormedEvent['kind'], entries: readonly number[]): FormedEvent[] =>
  entries.map((entry) => ({ kind, entries: [entry] }));

/**
 * The events of a segment of one contract's ordinary prints of one side: a sweep if at least two exchanges took part,
 * else blocks.
 */
export function sweepsOf({ columns, mask }: OptionLedger, entries: readonly number[]): FormedEvent[] {
  const exchange = columns.exchange[entries[0]! & mask];
  const swept = entries.some((entry) => columns.exchange[entry & mask] !== exchange);
  return swept ? [{ kind: 'sweep', entries }] : alone('single_block', entries);
}

/**
 * The events of a segment of one book's multi-leg prints: one if at least two contracts took part, else one per print.
 */
export function multiLegsOf({ columns, mask }: OptionLedger, entries: readonly number[]): FormedEvent[] {
  const contract = columns.contract[entries[0]! & mask];
  const several = entries.some((entry) => columns.contract[entry & mask] !== contract);
  return several ? [{ kind: 'multi_leg', entries }] : alone('multi_leg', entries);
}
