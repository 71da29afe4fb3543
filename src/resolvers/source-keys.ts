import { sessionOf } from '../core/domain/calendar.ts';
import type { ChainCapture } from '../core/domain/chain/chain.ts';
import { exchangeInstant, type SessionDate } from '../core/domain/market-time.ts';
import type { SourceKey } from './provenance.ts';

const stockDatasets = ['stock-trades', 'stock-minute-bars', 'stock-day-bars'];
/** Quotes give an option tape its sides, and solves their marks. */
const optionDatasets = ['option-trades', 'option-quotes'];

const of =
  (datasets: readonly string[]) =>
  (symbol: string, from: SessionDate, through = from): SourceKey => ({
    datasets,
    symbol,
    from,
    through,
    instantMs: null,
  });

/** Datasets that bars of stocks are made from; days come from files of their own. */
export function stockBarSource(symbol: string, timeframe: string, from: SessionDate, through = from): SourceKey {
  const other = timeframe === '1d' ? 'stock-day-bars' : 'stock-minute-bars';
  return of(['stock-trades', other])(symbol, from, through);
}

/** Source of a price of a stock, or an index. */
export const priceSource = of(stockDatasets);
/** Source of figures off exchange. */
export const offExchangeSource = of(['stock-trades']);
/** Source of option flow. */
export const flowSource = of(optionDatasets);
/** Source of bars of contracts. */
export const optionBarSource = of(['option-trades', 'option-minute-bars']);
/** Source of minute solves, and of those that chains bring. */
export const greeksSource = of([...optionDatasets, 'greeks', 'chain']);
/** Source of all captures of sessions. */
export const capturesSource = of(['chain']);

/** Source of one capture; none where there is none. */
export function captureSource(
  symbol: string,
  capture: { capturedAt: number; sessionDate: SessionDate } | null,
): SourceKey[] {
  if (capture === null) return [];
  return [{ ...capturesSource(symbol, capture.sessionDate), instantMs: capture.capturedAt }];
}

/** Sources of one chain: its own, and of open interest that it does not know. */
export function chainSource(symbol: string, chain: ChainCapture | null): SourceKey[] {
  const isJoined = chain?.rows.some(({ joinedInterest }) => joinedInterest) ?? false;
  return [...captureSource(symbol, chain), ...(isJoined ? [openInterestSource(symbol, chain!.sessionDate)] : [])];
}

/** Sources of captures of a symbol, each once. */
export function capturesSources(
  symbol: string,
  captures: readonly ({ capturedAt: number; sessionDate: SessionDate } | null)[],
): SourceKey[] {
  const keys = captures.flatMap((capture) => captureSource(symbol, capture));
  return [...new Map(keys.map((key) => [key.instantMs, key])).values()];
}

/** Source of open interest that was published without a chain. */
export const openInterestSource = of(['open-interest']);

/** Source of a list of contracts: the open interest of a session, whose time is its start, or the capture of a time. */
export function listSource(symbol: string, atMs: number): SourceKey[] {
  const sessionDate = sessionOf(atMs);
  if (atMs === exchangeInstant(sessionDate)) return [openInterestSource(symbol, sessionDate)];
  return captureSource(symbol, { capturedAt: atMs, sessionDate });
}

/** Sources of rows that are of several symbols and sessions, each once. */
export function sourcesOfRows(
  rows: readonly { symbol: string; sessionDate: SessionDate | null }[],
  source: (symbol: string, session: SessionDate) => SourceKey,
): SourceKey[] {
  const known = rows.flatMap(({ symbol, sessionDate }) =>
    sessionDate === null ? [] : [[symbol, sessionDate] as const],
  );
  return [...new Map(known.map((each) => [each.join(' '), each])).values()].map(([symbol, date]) =>
    source(symbol, date),
  );
}

/** The first and last of some dates; null if there are none. */
export function spanOf(dates: readonly SessionDate[]): [SessionDate, SessionDate] | null {
  const sorted = [...dates].sort();
  return sorted.length === 0 ? null : [sorted[0]!, sorted.at(-1)!];
}
