import { tradierTimesales } from '../formats/tradier.ts';
import { stampedMs } from '../text/written-times.ts';
import { BarSpacing } from './bar-spacing.ts';
import { type RowFormat, VendorError } from './row-format.ts';
import { statedTicker } from './stated-ticker.ts';

type Keys = Readonly<Record<string, unknown>>;

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 60) ?? 'nothing';

/** The items below two keys: a list, or one item without it; none if the first is null, as in an empty answer. */
export function itemsOf(page: Keys, outer: string, inner: string): readonly Keys[] {
  if (page[outer] === null) return [];
  const below = (page[outer] as Keys | undefined)?.[inner];
  const items = Array.isArray(below) ? below : [below];
  const bad = items.find((item) => typeof item !== 'object' || item === null);
  if (bad !== undefined || items.includes(undefined) || items.includes(null))
    throw new VendorError(`${outer}.${inner}: expected objects, got ${shown(bad ?? null)}`);
  return items;
}

/** Minutes of a stock. Each has its time twice, as a stamp of New York and as an epoch: they must agree. */
export const tradierTimesalesRows: RowFormat = {
  format: tradierTimesales,
  as: ['stock-aggregates'],
  columns: ['ticker', 'volume', 'open', 'close', 'high', 'low', 'window_start'],
  pages(name) {
    const ticker = statedTicker(name);
    const spacing = new BarSpacing();
    return {
      *rows(page) {
        for (const { time, timestamp, open, high, low, close, volume } of itemsOf(page, 'series', 'data')) {
          const tsMs = Number(timestamp) * 1000;
          if (stampedMs(String(time)) !== tsMs)
            throw new VendorError(
              `timestamp: expected seconds since 1970 of ${shown(time)} in New York, got ${shown(timestamp)}`,
            );
          spacing.add(tsMs);
          yield [ticker, volume, open, close, high, low, `${tsMs}000000`];
        }
      },
      end: () => spacing.check(),
    };
  },
};
