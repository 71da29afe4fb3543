import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import type { GivenBar } from '../../../core/domain/market/bar.ts';
import { highestStockPrice } from '../../../core/domain/market/print.ts';
import { dateOfEpochDay, exchangeDate, type SessionDate } from '../../../core/domain/market-time.ts';
import { dayMs } from '../../../platform/runtime/clock.ts';
import type { ColumnOf } from '../formats/format.ts';
import type { indexAggregates, optionAggregates, stockAggregates } from '../formats/own-formats.ts';
import type { ColumnIndex } from './csv.ts';
import { problemOfInstant, readCount, readInstant, readNumber, shown } from './values.ts';

/** A vendor's aggregates, of stocks, indexes or option contracts. */
type Aggregates = typeof stockAggregates | typeof indexAggregates | typeof optionAggregates;
export type BarColumnName = ColumnOf<Aggregates>;

/**
 * Maximum plausible number of shares, contracts or trades of a bar: a year of such minutes still adds up within 53
 * bits.
 */
const mostCounted = 1e10;

/** An optional number: null if blank or without a column; NaN if invalid. */
function optionalNumber(fields: readonly string[], index: number, read: (text: string) => number): number | null {
  const text = index < 0 ? '' : fields[index]!;
  return text === '' ? null : read(text);
}

/**
 * Reads the numbers of an aggregate line. Returns its bar, or the reason why the line is invalid. `transactions` blank
 * = unknown; `vwap` is null if the file has no such column. A volume with a fraction (fractional shares) is rounded to
 * whole shares. An index has no volume and no trades, whatever the line has.
 */
export function barReader(
  { time }: Aggregates,
  at: ColumnIndex<BarColumnName>,
  bounds: InstantBounds,
): (fields: readonly string[], isIndex?: boolean) => GivenBar | string {
  // Absent in a file of indexes.
  const volumeOf = (fields: readonly string[]) => (at.volume === undefined ? '' : fields[at.volume]!);
  return (fields, isIndex = false) => {
    const open = readNumber(fields[at.open]!);
    const high = readNumber(fields[at.high]!);
    const low = readNumber(fields[at.low]!);
    const close = readNumber(fields[at.close]!);
    if (!(open > 0 && high > 0 && low > 0 && close > 0 && high <= highestStockPrice)) {
      const name = !(open > 0) ? 'open' : !(low > 0) ? 'low' : !(close > 0) ? 'close' : 'high';
      return `${name}: expected a price above 0${high > highestStockPrice ? ` and up to ${highestStockPrice}` : ''}, got ${shown(fields[at[name]]!)}`;
    }
    if (low > open || low > close || high < open || high < close)
      return `low ${low} and high ${high} do not enclose open ${open} and close ${close}`;
    const volume = isIndex ? 0 : readNumber(volumeOf(fields));
    if (!(volume >= 0 && volume <= mostCounted))
      return `volume: expected a number from 0 to ${mostCounted}, got ${shown(volumeOf(fields))}`;
    const tsMs = readInstant(fields[at.window_start]!, time.unit, bounds);
    if (Number.isNaN(tsMs)) return `window_start: ${problemOfInstant(fields[at.window_start]!, time.unit, bounds)}`;
    if (isIndex) return { tsMs, open, high, low, close, volume, vwap: null, tradeCount: null };
    const tradeCount = optionalNumber(fields, at.transactions, readCount);
    if (tradeCount !== null && !(tradeCount <= mostCounted))
      return `transactions: expected a whole number or nothing, got ${shown(fields[at.transactions]!)}`;
    const vwap = optionalNumber(fields, at.vwap, readNumber);
    if (vwap !== null && !(vwap > 0 && vwap <= highestStockPrice))
      return `vwap: expected a price above 0 or nothing, got ${shown(fields[at.vwap]!)}`;
    return { tsMs, open, high, low, close, volume: Math.round(volume), vwap, tradeCount };
  };
}

/**
 * The session of a day aggregate: the UTC date of a `window_start` at 00:00 UTC, as some vendors write dates; the New
 * York date of any other.
 */
export function dayBarDate(tsMs: number): SessionDate {
  return tsMs % dayMs === 0 ? dateOfEpochDay(tsMs / dayMs) : exchangeDate(tsMs);
}
