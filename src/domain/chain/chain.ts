import { type RowOf, rowBy } from '../columns.ts';
import type { SessionDate } from '../market-time.ts';
import { dayMs } from '../units.ts';
import type { SourceFile } from './capture-inputs.ts';
import { chainColumns, type greekColumns, type greekNames } from './chain-columns.ts';
import type { OptionContract } from './option-contract.ts';

/** Origins of a solved contract's volatility. */
export const solveOrigins = ['absent', 'outOfTheMoney', 'inTheMoney', 'interpolated', 'previous', 'source'] as const;
export type SolveOrigin = (typeof solveOrigins)[number];

/** A contract's implied volatility and sensitivities. Null = unknown. */
export type Greeks = RowOf<typeof greekColumns>;

/** Greeks that are computed at the source's volatility if the source provides only that. */
export const filledGreekNames = ['delta', 'gamma', 'theta', 'vega'] as const satisfies readonly (keyof Greeks)[];
export type FilledGreek = (typeof filledGreekNames)[number];

/** A contract's figures from the solve of its chain, the inputs of its exposures. */
export interface SolvedGreeks extends Greeks {
  origin: SolveOrigin;
  /**
   * True if the midpoint of the contract's own quote is between its lower and upper bounds, so that it implies a
   * volatility. Absent without one.
   */
  withinBounds?: boolean;
}

/** One contract's line of a chain capture. Null = not given by the source; its greeks are the source's. */
export interface ChainRow extends OptionContract, RowOf<typeof chainColumns> {
  /** Absent if the capture was not solved: its exposures then use the source's greeks. */
  solved?: SolvedGreeks;
  /** The greeks that the source lacks, computed at its volatility. Absent if it lacks none, or the volatility. */
  filled?: Partial<Record<FilledGreek, number>>;
}

/** The numbers of a row without any known value. */
export const unknownNumbers: RowOf<typeof chainColumns> = rowBy(chainColumns, () => null);

/** Origin of greeks: the source, or the solve. */
export type GreeksSource = 'vendor' | 'solved';

/** The greeks behind exposures: solved ones if the capture was solved, else the source's. */
export function usedGreeks(row: ChainRow): Greeks {
  return row.solved ?? row;
}

/** One of a row's greeks as shown: the source's, else that at the source's volatility, else the solved one. */
export function shownGreek(row: ChainRow, name: (typeof greekNames)[number]): number | null {
  return row[name] ?? (name === 'iv' ? null : row.filled?.[name]) ?? row.solved?.[name] ?? null;
}

/** An underlying's whole option chain at an instant. */
export interface ChainCapture {
  underlying: string;
  /** Epoch ms: the time of the source's page. */
  capturedAt: number;
  /** The New York date of `capturedAt`, or the trading day before if that date does not trade. */
  sessionDate: SessionDate;
  /** The underlying's price in dollars. */
  spot: number | null;
  /** The underlying's close of the session before. */
  priorCloseSpot: number | null;
  /** True if the source returned only part of the chain, or some of its lines were invalid and omitted. */
  partial: boolean;
  /** Age of the source's quotes at its page's time, ms; null or absent if unknown. */
  delayMs?: number | null;
  /** The file it was read from; null or absent if unknown, and in served captures. */
  file?: SourceFile | null;
  /** Risk-free rate of its solve, continuous; null or absent if it was not solved, or unknown. */
  rate?: number | null;
  /** Hash of the terms, curve and dividends of its computation; null or absent if unknown, and in served captures. */
  referenceVersion?: string | null;
  /**
   * True if it lists much less than the underlying's last whole capture: it is stored and not published. Null or
   * absent: it is whole, or there is no whole capture to compare with.
   */
  subset?: boolean | null;
  /**
   * The roots and expiries (`root expiry`) joined from captures shortly before it, ascending; null, absent or empty if
   * all are its own.
   */
  joined?: readonly string[] | null;
  /** Ordered by expiry, strike, call before put, root. */
  rows: ChainRow[];
}

/** True if a capture is known to lack contracts, or lines of them. */
export function isIncomplete({ partial, subset }: Pick<ChainCapture, 'partial' | 'subset'>): boolean {
  return partial || subset === true;
}

/** Maximum plausible delay of a source, ms: a day. */
export const longestDelayMs = dayMs;

/** Time of a capture's quotes, epoch ms; an unknown delay counts as zero. */
export function sourceTime({ capturedAt, delayMs }: Pick<ChainCapture, 'capturedAt' | 'delayMs'>): number {
  return capturedAt - (delayMs ?? 0);
}

/** One contract's line of one capture. Open interest and theta are absent where they were not read. */
export interface ContractLine
  extends Pick<ChainRow, 'volume' | 'bid' | 'ask' | 'last' | 'iv' | 'delta' | 'gamma' | 'vega'>,
    Pick<ChainCapture, 'capturedAt' | 'delayMs' | 'sessionDate' | 'spot' | 'priorCloseSpot'>,
    Pick<SolvedGreeks, 'withinBounds'>,
    Partial<Pick<ChainRow, 'openInterest' | 'theta'>> {}
