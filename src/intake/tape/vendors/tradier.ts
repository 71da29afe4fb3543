import { exchangeDate } from '../../../core/domain/market-time.ts';
import {
  BarSpacing,
  type ChainPart,
  type Page,
  shownValue,
  statedTicker,
  type Vendor,
  VendorError,
  type VendorFormat,
} from '../formats/vendor.ts';
import { stampedMs } from '../text/written-times.ts';

// Answers of Tradier's market data API. Names of keys: github.com/tradelimit-com/tradelimit-brokerage-tradier,
// src/main/kotlin/com/tradelimit/brokerage/tradier/market, and github.com/QuantConnect/Lean.

/** The items below two keys: a list, or one item without it; none if the first is null, as in an empty answer. */
function itemsOf(page: Page, outer: string, inner: string): readonly Page[] {
  if (page[outer] === null) return [];
  const below = (page[outer] as Page | undefined)?.[inner];
  const items = Array.isArray(below) ? below : [below];
  const bad = items.find((item) => typeof item !== 'object' || item === null);
  if (bad !== undefined || items.includes(undefined) || items.includes(null))
    throw new VendorError(`${outer}.${inner}: expected objects, got ${shownValue(bad ?? null)}`);
  return items;
}

/**
 * `/v1/markets/timesales?interval=1min`: minutes of a stock. Each has its time twice, as a stamp of New York
 * and as an epoch: they must agree.
 */
const timesales: VendorFormat = {
  name: 'tradier-timesales',
  content: 'answers of /v1/markets/timesales of Tradier',
  datasets: ['stock-minute-bars'],
  required: ['series', 'data', 'time', 'timestamp', 'open', 'high', 'low', 'close', 'volume'],
  time: { column: 'timestamp', unit: 'seconds' },
  delayMs: 0,
  symbols: { column: 'file name', spelling: 'tapeTicker' },
  rows: {
    columns: ['ticker', 'volume', 'open', 'close', 'high', 'low', 'window_start'],
    pages(name) {
      const ticker = statedTicker(name);
      const spacing = new BarSpacing();
      return {
        *items(page) {
          for (const { time, timestamp, open, high, low, close, volume } of itemsOf(page, 'series', 'data')) {
            const tsMs = Number(timestamp) * 1000;
            if (stampedMs(String(time)) !== tsMs)
              throw new VendorError(
                `timestamp: expected seconds since 1970 of ${shownValue(time)} in New York, got ${shownValue(timestamp)}`,
              );
            spacing.add(tsMs);
            yield [ticker, volume, open, close, high, low, `${tsMs}000000`];
          }
        },
        end: () => spacing.check(),
      };
    },
  },
};

/** Epoch ms of digits; NaN for 0 or another value. */
const msOf = (value: unknown) =>
  typeof value === 'string' && /^[1-9]\d{9,}$/.test(value) ? Number(value) : Number.NaN;

function partOf(option: Page): ChainPart {
  const times = [msOf(option.bid_date), msOf(option.ask_date), msOf(option.trade_date)];
  const { delta, gamma, theta, vega, mid_iv: iv, updated_at: updated } = (option.greeks ?? {}) as Page;
  const newest = Math.max(...times.filter((ms) => !Number.isNaN(ms)));
  // Greeks are computed hourly; those of another day are not of these quotes.
  const updatedMs = stampedMs(`${updated ?? ''}Z`);
  const areKnown = Number.isFinite(newest) && Number.isFinite(updatedMs);
  const isToday = areKnown && exchangeDate(newest) === exchangeDate(updatedMs);
  const { bid, ask, last, volume, open_interest: openInterest } = option;
  return {
    contract: String(option.symbol),
    numbers: { bid, ask, last, volume, openInterest, ...(isToday && { iv, delta, gamma, theta, vega }) },
    shares: option.contract_size,
    times,
  };
}

/**
 * `/v1/markets/options/chains`: the contracts of one expiry; those of several can be in a file. They do not have the
 * price of the underlying.
 */
const chain: VendorFormat = {
  name: 'tradier-chain',
  content: 'answers of /v1/markets/options/chains of Tradier',
  datasets: ['chain'],
  required: ['options', 'option', 'symbol', 'root_symbol', 'bid_date', 'ask_date', 'open_interest'],
  time: { column: 'bid_date', unit: 'milliseconds' },
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'osi' },
  chain: {
    pages: () => ({
      *items(page) {
        for (const option of itemsOf(page, 'options', 'option')) yield [partOf(option)];
      },
    }),
  },
};

/** Tradier. */
export const tradier: Vendor = { formats: [chain, timesales] };
