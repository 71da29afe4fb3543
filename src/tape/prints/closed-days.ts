import { closedUntil } from '../../domain/calendar.ts';
import { addDays, exchangeDate, exchangeInstant } from '../../domain/market-time.ts';
import { TapeFileError } from '../csv/tape-file.ts';

/** Counts the prints of a tape, and those at times of no trade date. */
export function closedDayCounter() {
  let [startMs, untilMs, endMs] = [0, 0, 0];
  let [prints, closed] = [0, 0];
  return {
    add(tsMs: number) {
      if (tsMs < startMs || tsMs >= endMs) {
        const date = exchangeDate(tsMs);
        [startMs, untilMs, endMs] = [exchangeInstant(date), closedUntil(date), exchangeInstant(addDays(date, 1))];
      }
      prints++;
      if (tsMs < untilMs) closed++;
    },
    /** Throws `TapeFileError` if most prints are on days without trading: they are times of another zone or unit. */
    check(path: string) {
      if (2 * closed <= prints) return;
      throw new TapeFileError(
        path,
        `${closed} of ${prints} prints are on days without trading: check the zone and the unit of sip_timestamp, ` +
          'expected nanoseconds since 1970 in UTC',
      );
    },
  };
}
