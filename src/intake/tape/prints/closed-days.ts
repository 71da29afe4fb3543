import { closedUntil } from '../../../core/domain/calendar.ts';
import { addDays, exchangeDate, exchangeInstant } from '../../../core/domain/market-time.ts';
import { TapeFileError } from '../csv/tape-file.ts';

/** Counts the prints of a tape, or other `rows`, and those at times outside every trade date. */
export function closedDayCounter(rows: 'prints' | 'quotes' | 'bars' = 'prints') {
  let [startMs, untilMs, endMs] = [0, 0, 0];
  let [all, closed] = [0, 0];
  return {
    add(tsMs: number) {
      if (tsMs < startMs || tsMs >= endMs) {
        const date = exchangeDate(tsMs);
        [startMs, untilMs, endMs] = [exchangeInstant(date), closedUntil(date), exchangeInstant(addDays(date, 1))];
      }
      all++;
      if (tsMs < untilMs) closed++;
    },
    /** Throws `TapeFileError` if most are on days without trading: the times are in another zone or unit. */
    check(path: string, column: string = 'sip_timestamp') {
      if (2 * closed <= all) return;
      throw new TapeFileError(
        path,
        `${closed} of ${all} ${rows} are on days without trading: check the zone and the unit of ${column}, ` +
          'expected nanoseconds since 1970 in UTC',
      );
    },
  };
}
