import { nextTradingDay } from '../../../core/domain/calendar.ts';
import { addDays, type SessionDate } from '../../../core/domain/market-time.ts';

/** The fund that splits in June of even years, and reverse-splits in June of odd ones. */
export const splitSymbol = 'TQQQ';
const ratio = 2;

/** The first session on or after a date. */
export function sessionFrom(date: SessionDate): SessionDate {
  return nextTradingDay(addDays(date, -1));
}

const isEven = (year: number) => year % 2 === 0;

/** The ex-date of a year's split. */
export function splitDate(year: number): SessionDate {
  return sessionFrom(`${year}-06-10`);
}

/** Ratio of new to old shares of a year's split: `2:1` or `1:2`. */
export function splitText(year: number): string {
  return isEven(year) ? `${ratio}:1` : `1:${ratio}`;
}

/** The factor by which a session's price of a ticker is multiplied, and its number of shares divided. */
export function splitFactor(symbol: string, session: SessionDate): number {
  if (symbol !== splitSymbol) return 1;
  const year = Number(session.slice(0, 4));
  return session >= splitDate(year) === isEven(year) ? 1 : ratio;
}
