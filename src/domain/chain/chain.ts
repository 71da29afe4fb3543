import { type RowOf, rowBy } from '../columns.ts';
import type { SessionDate } from '../market-time.ts';
import { dayMs } from '../units.ts';
import type { SourceFile } from './capture-inputs.ts';
import { chainColumns, type greekColumns, type greekNames } from './chain-columns.ts';
import type { OptionContract } from './option-contract.ts';

/** Where the volatility of a solved contract came from. */
export const solveOrigins = ['absent', 'outOfTheMoney', 'inTheMoney', 'interpolated', 'previous', 'source'] as const;
export type SolveOrigin = (typeof solveOrigins)[number];

/** A contract's implied volatility and sensitivities. Null = unknown. */
export type Greeks = RowOf<typeof greekColumns>;

/** The greeks that are computed at the source's volatility where it gives that alone. */
export const filledGreekNames = ['delta', 'gamma', 'theta', 'vega'] as const satisfies readonly (keyof Greeks)[];
export type FilledGreek = (typeof filledGreekNames)[number];

/** A contract's figures from the solve of its chain, from which its exposures are computed. */
export interface SolvedGreeks extends Greeks {
  origin: SolveOrigin;
  /**
   * True if the middle of the contract's own quote lies between the least and the most that it can be worth, so that a
   * volatility can be read off it. Absent without one.
   */
  withinBounds?: boolean;
}

/** One contract's line of a chain capture. Null = the source did not say; its greeks are the source's. */
export interface ChainRow extends OptionContract, RowOf<typeof chainColumns> {
  /** Absent where the capture was not solved: its exposures are then made of the source's greeks. */
  solved?: SolvedGreeks;
  /** The greeks that the source lacks, computed at the volatility that it gives. Absent where it lacks either. */
  filled?: Partial<Record<FilledGreek, number>>;
}

/** The numbers of a row of which nothing is known. */
export const unknownNumbers: RowOf<typeof chainColumns> = rowBy(chainColumns, () => null);

/** Whose greeks: the source's or ours. */
export type GreeksSource = 'vendor' | 'solved';

/** The greeks that exposures are made of: solved ones where the capture was solved, else the source's. */
export function usedGreeks(row: ChainRow): Greeks {
  return row.solved ?? row;
}

/** One of a row's greeks as it is shown: the source's, else that at the source's volatility, else the solved one. */
export function shownGreek(row: ChainRow, name: (typeof greekNames)[number]): number | null {
  return row[name] ?? (name === 'iv' ? null : row.filled?.[name]) ?? row.solved?.[name] ?? null;
}

/** An underlying's whole option chain at one point in time. */
export interface ChainCapture {
  underlying: string;
  /** Epoch ms: the time of the source's page. */
  capturedAt: number;
  /** The New York date of `capturedAt`, or the trading day before when that date does not trade. */
  sessionDate: SessionDate;
  /** The underlying's price in dollars. */
  spot: number | null;
  /** The underlying's close of the session before. */
  priorCloseSpot: number | null;
  /** True when the source gave only part of the chain, or some of its lines were broken and omitted. */
  partial: boolean;
  /** Age of the source's quotes at its page's time, ms; null or absent when unknown. */
  delayMs?: number | null;
  /** The file it was read from; null or absent when unknown, and in what is served. */
  file?: SourceFile | null;
  /** Risk-free rate of its solve, continuous; null or absent when it was not solved, or is not known. */
  rate?: number | null;
  /** Hash of the terms, curve and dividends it was computed with; null or absent when unknown, and as it is read. */
  referenceVersion?: string | null;
  /**
   * True when it lists much less than the underlying's last whole capture: it is stored and not published. Null or
   * absent: it is whole, or nothing whole is known.
   */
  subset?: boolean | null;
  /**
   * The roots and expiries (`root expiry`) that it holds of captures shortly before it, ascending; null, absent or
   * empty when all are its own.
   */
  joined?: readonly string[] | null;
  /** Ordered by expiry, strike, call before put, root. */
  rows: ChainRow[];
}

/** True if a capture is known to lack contracts, or lines of them. */
export function isIncomplete({ partial, subset }: Pick<ChainCapture, 'partial' | 'subset'>): boolean {
  return partial || subset === true;
}

/** Longest delay of a source that is believed, ms: a day. */
export const longestDelayMs = dayMs;

/** Epoch ms that the quotes of a capture are of: an unknown delay is taken as none. */
export function sourceTime({ capturedAt, delayMs }: Pick<ChainCapture, 'capturedAt' | 'delayMs'>): number {
  return capturedAt - (delayMs ?? 0);
}

/** One contract's line of one capture. Open interest and theta are absent where they were not read. */
export interface ContractLine
  extends Pick<ChainRow, 'volume' | 'bid' | 'ask' | 'last' | 'iv' | 'delta' | 'gamma' | 'vega'>,
    Pick<ChainCapture, 'capturedAt' | 'delayMs' | 'sessionDate' | 'spot' | 'priorCloseSpot'>,
    Pick<SolvedGreeks, 'withinBounds'>,
    Partial<Pick<ChainRow, 'openInterest' | 'theta'>> {}
