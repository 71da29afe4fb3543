import type { FlowEventKind, FlowSide } from '../../../core/domain/flow/flow.ts';
import type { SampleContract } from './options/option-market.ts';
import type { Random } from './random.ts';

/** A contract for a plan, with its quote, cents. */
export interface Leg {
  contract: SampleContract;
  bid: number;
  ask: number;
}

/** A planned print. */
export interface PlannedPrint {
  /** Index of its contract among the plan's legs. */
  leg: number;
  /** Nanoseconds after the plan's first print. */
  atNanos: number;
  exchange: number;
  cents: number;
  size: number;
  condition: number;
  /** The side to be inferred. */
  side: FlowSide;
}

/** Prints to be detected as one event, or (kind null) not to be, although they nearly are one. */
export interface TapePlan {
  kind: FlowEventKind | null;
  prints: PlannedPrint[];
  /** Indexes of prints that are cancelled later. */
  cancelled: readonly number[];
}

/** The market for a recipe's plan. */
export interface Stage {
  random: Random;
  legs: readonly Leg[];
  /** In random order. */
  exchanges: readonly number[];
}

/** Minimum premium of an event, dollars (methodology 3). */
export const eventFromUsd: Record<FlowEventKind, number> = { single_block: 100_000, multi_leg: 100_000, sweep: 50_000 };

/** Nanoseconds. */
export const microsecond = 1000;
export const millisecond = 1_000_000;

/** Number of contracts for at least this premium; price in cents × 100 shares per contract = dollars. */
export const sizeFor = (premiumUsd: number, cents: number) => Math.ceil(premiumUsd / cents);
/** Maximum number of contracts below this premium. */
export const sizeUnder = (premiumUsd: number, cents: number) => Math.ceil(premiumUsd / cents) - 1;

/** A random premium from a kind's minimum upwards. */
export function premiumFrom(random: Random, leastUsd: number): number {
  // One in eight is exactly at the bound.
  return random.next() < 0.125 ? leastUsd : leastUsd * Math.exp(Math.abs(random.normal()));
}

/** A price from which a side is inferred: `neutral` halfway, `unknown` anywhere. Null if the quote has no midpoint. */
export function priceOf(side: FlowSide, { bid, ask }: Leg, random: Random): number | null {
  if (side === 'buy_inferred') return ask;
  if (side === 'sell_inferred') return bid;
  if (side === 'unknown') return random.next() < 0.5 ? bid : ask;
  return (bid + ask) % 2 === 0 ? (bid + ask) / 2 : null;
}

/** Prints of one contract, one per size, at the given instants and exchanges. */
export function fills(
  sizes: readonly number[],
  atMs: readonly number[],
  exchanges: readonly number[],
  cents: number,
  condition: number,
  side: FlowSide,
): PlannedPrint[] {
  return sizes.map((size, i) => ({
    leg: 0,
    atNanos: atMs[i]! * millisecond,
    exchange: exchanges[i]!,
    cents,
    size,
    condition,
    side,
  }));
}
