import { closeMinute } from '../../domain/calendar.ts';
import { exchangeInstant, isDate } from '../../domain/market-time.ts';
import { minuteMs } from '../../domain/units.ts';
import { oratsCores, oratsSummaries } from '../formats/orats.ts';
import { stampedMs } from '../text/written-times.ts';
import { type Row, type RowFormat, VendorError } from './row-format.ts';

// The vendor's last snapshot of a session is of a quarter of an hour before the close.
const mostBeforeCloseMs = 20 * minuteMs;

const columns = ['symbol', 'date', 'iv30'];

/** True if a stamp is none, or of the close of a session. */
function isOfClose(stamp: string, date: string): boolean {
  if (stamp === '' || !isDate(date)) return true;
  return stampedMs(stamp) >= exchangeInstant(date, closeMinute(date)) - mostBeforeCloseMs;
}

/** The row of a session; one of a snapshot during it has the stamp in place of its date, which makes a bad line. */
function rowOf(value: (name: string) => unknown, unit: number): Row {
  const [date, stamp, iv] = ['tradeDate', 'quoteDate', 'iv30d'].map((name) => String(value(name) ?? ''));
  const fraction = iv !== '' && Number.isFinite(Number(iv)) ? String(Number((Number(iv) / unit).toFixed(12))) : iv;
  return [value('ticker'), isOfClose(stamp!, date!) ? date : stamp, fraction];
}

const formats = [
  { format: oratsSummaries, unit: 1 },
  { format: oratsCores, unit: 100 },
] as const;

/** Volatilities of sessions, as CSV and as JSON. */
export const oratsRows: readonly RowFormat[] = formats.flatMap(({ format, unit }): RowFormat[] => {
  const shared = { format, columns, as: ['volatility-day-list'] };
  return [
    { ...shared, lines: (_, at) => ({ row: (cells) => rowOf((name) => cells[at(name)], unit) }) },
    {
      ...shared,
      pages: () => ({
        *rows({ data }) {
          if (!Array.isArray(data)) throw new VendorError('data: expected a list of sessions');
          for (const item of data) {
            if (typeof item !== 'object' || item === null) throw new VendorError('data: expected objects');
            yield rowOf((name) => item[name], unit);
          }
        },
        end: () => {},
      }),
    },
  ];
});
