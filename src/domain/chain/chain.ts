import type { SessionDate } from '../market-time.ts';
import type { OptionContract } from './option-contract.ts';

/** Where the volatility of a solved contract came from. */
export const solveOrigins = ['absent', 'outOfTheMoney', 'inTheMoney', 'interpolated', 'previous', 'source'] as const;
export type SolveOrigin = (typeof solveOrigins)[number];

/** A contract's implied volatility and sensitivities. Null = unknown. */
export interface Greeks {
  /** Annualized fraction. */
  iv: number | null;
  delta: number | null;
  /** Change of delta per $1. */
  gamma: number | null;
  /** Dollars a day. */
  theta: number | null;
  /** Dollars per vol point (0.01 of iv). */
  vega: number | null;
}

export const greekNames = ['iv', 'delta', 'gamma', 'theta', 'vega'] as const satisfies readonly (keyof Greeks)[];

/** What the solve of a chain made of a contract, from which its exposures are computed. */
export interface SolvedGreeks extends Greeks {
  origin: SolveOrigin;
  /**
   * Whether the middle of the contract's own quote lies between the least and the most that it can be worth, so that a
   * volatility can be read off it. Absent without one.
   */
  withinBounds?: boolean;
}

/**
 * One contract's line of a chain capture. Null = the source did not say; its greeks are the source's. Prices are
 * dollars a share.
 */
export interface ChainRow extends OptionContract, Greeks {
  openInterest: number | null;
  /** Contracts traded in the session so far. */
  volume: number | null;
  bid: number | null;
  ask: number | null;
  last: number | null;
  /** The source's fair or theoretical value. */
  fmv: number | null;
  /** Null where the deliverable was adjusted and the source does not say. */
  sharesPerContract: number | null;
  /** Absent where the capture was not solved: its exposures are then made of the source's greeks. */
  solved?: SolvedGreeks;
}

/** Whose greeks: the source's or ours. */
export type GreeksSource = 'vendor' | 'solved';

/** The greeks that exposures are made of: solved ones where the capture was solved, else the source's. */
export function usedGreeks(row: ChainRow): Greeks {
  return row.solved ?? row;
}

/** One of a row's greeks as it is shown: the source's, where it gives none the solved one. */
export function shownGreek(row: ChainRow, name: (typeof greekNames)[number]): number | null {
  return row[name] ?? row.solved?.[name] ?? null;
}

/** An underlying's whole option chain at one point in time. */
export interface ChainCapture {
  underlying: string;
  capturedAt: number;
  /** The New York date of `capturedAt`, or the trading day before when that date does not trade. */
  sessionDate: SessionDate;
  /** The underlying's price in dollars. */
  spot: number | null;
  /** The underlying's close of the session before. */
  priorCloseSpot: number | null;
  /** True when the source gave only part of the chain, or some of its lines were broken and omitted. */
  partial: boolean;
  /** Risk-free rate of its solve, continuous; null or absent when it was not solved, or is not known. */
  rate?: number | null;
  /** Ordered by expiry, strike, call before put, root. */
  rows: ChainRow[];
}

/** What one capture says of one contract. */
export interface ContractLine
  extends Pick<ChainRow, 'volume' | 'bid' | 'ask' | 'last' | 'iv' | 'delta' | 'gamma' | 'vega'>,
    Pick<ChainCapture, 'capturedAt' | 'sessionDate' | 'spot' | 'priorCloseSpot'>,
    Pick<SolvedGreeks, 'withinBounds'> {}
