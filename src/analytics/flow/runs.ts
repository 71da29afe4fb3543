import { nanosBetween } from '../../domain/print.ts';
import type { OptionLedger } from '../prints/option-ledger.ts';
import type { FormedEvent } from './events.ts';

/** How close the prints of one event are: each to the one before, the last to the first. Nanoseconds, inclusive. */
export interface Closeness {
  gapNanos: number;
  spanNanos: number;
}

/** Nanoseconds from one entry to another. */
export function nanosFrom({ columns, mask }: OptionLedger, from: number, to: number): number {
  const [i, j] = [from & mask, to & mask];
  return nanosBetween(columns.tsMs[i]!, columns.tsNanos[i]!, columns.tsMs[j]!, columns.tsNanos[j]!);
}

/**
 * Cuts prints in event-time order: a print that is too far from the one before it, or from the segment's first, begins
 * the next segment.
 */
export function segmentsOf(ledger: OptionLedger, entries: readonly number[], closeness: Closeness): number[][] {
  const segments: number[][] = [];
  let segment: number[] = [];
  for (const entry of entries) {
    if (segment.length > 0) {
      const fits =
        nanosFrom(ledger, segment.at(-1)!, entry) <= closeness.gapNanos &&
        nanosFrom(ledger, segment[0]!, entry) <= closeness.spanNanos;
      if (!fits) segment = [];
    }
    if (segment.length === 0) segments.push(segment);
    segment.push(entry);
  }
  return segments;
}

const alone = (kind: FormedEvent['kind'], entries: readonly number[]): FormedEvent[] =>
  entries.map((entry) => ({ kind, entries: [entry] }));

/**
 * The events of a segment of one contract's ordinary prints of one side: a sweep when two exchanges took part, else
 * blocks.
 */
export function sweepsOf({ columns, mask }: OptionLedger, entries: readonly number[]): FormedEvent[] {
  const exchange = columns.exchange[entries[0]! & mask];
  const swept = entries.some((entry) => columns.exchange[entry & mask] !== exchange);
  return swept ? [{ kind: 'sweep', entries }] : alone('single_block', entries);
}

/**
 * The events of a segment of one book's multi-leg prints: one when two contracts took part, else every print by itself.
 */
export function multiLegsOf({ columns, mask }: OptionLedger, entries: readonly number[]): FormedEvent[] {
  const contract = columns.contract[entries[0]! & mask];
  const several = entries.some((entry) => columns.contract[entry & mask] !== contract);
  return several ? [{ kind: 'multi_leg', entries }] : alone('multi_leg', entries);
}
