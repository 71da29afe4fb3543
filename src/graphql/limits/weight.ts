import { pointsPerRequest } from '../../access/limits/body-points.ts';

/**
 * Points of what every answer consists of. With those that fields declare, a page of 1,000 bars of nine values costs
 * ten; `scripts/measure-weights.ts` measures them.
 */
export const weights = {
  /** A token of the document, for parsing, validating and weighing. */
  token: 0.005,
  /** A value of the answer. */
  leaf: 0.0004,
  /** A value whose resolver looks something up for the request and declares no cost. */
  lookup: 0.001,
  /** A byte of the answer. */
  byte: 0.000024,
  /** An error beside the data of an answer. */
  error: 0.03,
} as const;

/** Weight of an answer, predicted or actual. */
export interface Weight {
  points: number;
  /** Number of values: fields, including objects, and items of lists. */
  leaves: number;
  /** Number of items of lists. */
  rows: number;
  /** Approximate bytes of its JSON. */
  bytes: number;
}

export const nothing: Weight = { points: 0, leaves: 0, rows: 0, bytes: 0 };

/** Adds a weight to a sum. */
export function addWeight(sum: Weight, { points, leaves, rows, bytes }: Weight): void {
  sum.points += points;
  sum.leaves += leaves;
  sum.rows += rows;
  sum.bytes += bytes;
}

/** Whole requests that a number of points costs; at least 1. */
export function requestsOf(points: number): number {
  return Math.max(1, Math.ceil(Math.ceil(points) / pointsPerRequest));
}

/** A weight with the points of its values and bytes added. */
export function weighed({ points, leaves, rows, bytes }: Weight): Weight {
  return { points: points + leaves * weights.leaf + bytes * weights.byte, leaves, rows, bytes };
}
