import { dayMs, minuteMs } from '../../../platform/runtime/clock.ts';
import { closeMinute } from '../calendar.ts';
import { type RowOf, rowBy } from '../columns.ts';
import { exchangeInstant, type SessionDate } from '../market-time.ts';
import type { SourceFile, StoredPricing } from './capture-inputs.ts';
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
  /** True if its open interest is of the dataset `open-interest`, not of the chain's source. */
  joinedInterest?: true;
  /** Index of the file that has it, of a capture of several files; absent in served captures. */
  part?: number;
}

/** A file of a capture, as it came, without its rows. */
export interface ChainFile
  extends Pick<ChainCapture, 'capturedAt' | 'spot' | 'priorCloseSpot' | 'partial'>,
    Required<Pick<ChainCapture, 'delayMs'>> {
  /** SHA-256 of its content, or of what was read of it. */
  hash: string;
  /** Base name; null = it was no file. */
  name: string | null;
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
  /** The file it was read from, the latest of several; null or absent if unknown, and in served captures. */
  file?: SourceFile | null;
  /** SHA-256 of the content of that file, or of what was read of it; null or absent as `file`. */
  hash?: string | null;
  /** The files that it was made of, ascending by time; null or absent if it is one, and in served captures. */
  files?: readonly ChainFile[] | null;
  /** Risk-free rate of its solve, continuous; null or absent if it was not solved, or unknown. */
  rate?: number | null;
  /** Hash of the terms, curve and dividends of its computation; null or absent if unknown, and in served captures. */
  referenceVersion?: string | null;
  /**
   * True if it lacks contracts of the underlying's largest capture of late: it is stored and not published. Null or
   * absent: it is whole, or there was no capture to compare it with.
   */
  subset?: boolean | null;
  /** True if there was no capture to compare it with. */
  alone?: boolean | null;
  /**
   * The roots and expiries (`root expiry`) joined from captures shortly before it, by versions that stored these beside
   * it; null, absent or empty if all are its own.
   */
  joined?: readonly string[] | null;
  /** Null or absent if an earlier version stored it, or if it was not solved. */
  pricing?: StoredPricing | null;
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

/** The instant of a capture, and the session that it is of. */
export type CaptureInstant = Pick<ChainCapture, 'capturedAt' | 'delayMs' | 'sessionDate'>;

/** The quotes of a session's last capture are of at most this long before its close, ms. */
export const closingMs = 15 * minuteMs;

const closeOf = (session: SessionDate) => exchangeInstant(session, closeMinute(session));

/** True if the quotes of a capture are of after the close of its session. */
export function isAfterClose(capture: CaptureInstant): boolean {
  return sourceTime(capture) > closeOf(capture.sessionDate);
}

function isClosing(capture: CaptureInstant): boolean {
  return !isAfterClose(capture) && sourceTime(capture) >= closeOf(capture.sessionDate) - closingMs;
}

/**
 * The last of a session's captures (methodology 12): of those with quotes of its last quarter of an hour, else of all,
 * that with the last quotes. Null of none.
 */
export function lastOfSession<C extends CaptureInstant>(captures: readonly C[]): C | null {
  const closing = captures.filter(isClosing);
  const isLater = (a: C, b: C) => (sourceTime(a) - sourceTime(b) || a.capturedAt - b.capturedAt) > 0;
  return (closing.length > 0 ? closing : captures).reduce<C | null>(
    (last, each) => (last === null || isLater(each, last) ? each : last),
    null,
  );
}

/** One contract's line of one capture. Open interest and theta are absent where they were not read. */
export interface ContractLine
  extends Pick<ChainRow, 'volume' | 'bid' | 'ask' | 'last' | 'iv' | 'delta' | 'gamma' | 'vega'>,
    Pick<ChainCapture, 'capturedAt' | 'delayMs' | 'sessionDate' | 'spot' | 'priorCloseSpot'>,
    Pick<SolvedGreeks, 'withinBounds'>,
    Partial<Pick<ChainRow, 'openInterest' | 'theta'>> {}
