import { exchangeInstant, isDate } from '../../../core/domain/market-time.ts';
import { type LineReader, statedTicker, type Vendor, VendorError, type VendorFormat } from '../formats/vendor.ts';
import { nanosText, stampedMs } from '../text/written-times.ts';

// Frames of the Python package yfinance, as pandas' `to_csv` writes them. Names of columns:
// github.com/ranaroussi/yfinance, yfinance/ticker.py and yfinance/scrapers/history.py.

/** Prices are 32-bit floats written as 64-bit ones: 301.1, not 301.1000061035156. Another number is unchanged. */
function priceText(text: string): string {
  const value = Number(text);
  if (text === '' || Math.fround(value) !== value) return text;
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return text;
}

/** Midnight in New York of a row's date, which is a date or that midnight; the text for another one. */
function startText(text: string): string {
  const [, date = ''] = /^(\d{4}-\d{2}-\d{2})(?: 00:00:00-0[45]:00)?$/.exec(text) ?? [];
  return nanosText(isDate(date) ? exchangeInstant(date) : Number.NaN, text);
}

const prices = ['Open', 'Close', 'High', 'Low'];

/** Reads the lines of days. The dates ascend; a split after the first row would have divided the prices before it. */
function daysOf(ticker: () => string, at: (column: string) => number, dates: string): LineReader['row'] {
  const [date, volume, split, ...places] = [dates, 'Volume', 'Stock Splits', ...prices].map(at);
  let first = true;
  return (cells) => {
    const ratio = Number(cells[split!]);
    if (!first && ratio !== 0 && !Number.isNaN(ratio))
      throw new VendorError(
        `Stock Splits: expected 0 below the first row, because the prices above ${cells[date!]} are divided by its ` +
          `split and prices are stored as printed; begin the file with that day`,
      );
    first = false;
    const written = places.map((place) => priceText(cells[place]!));
    return [ticker(), cells[volume!], ...written, startText(cells[date!]!), true];
  };
}

// The file does not have splits after its last row.
const columns = ['ticker', 'volume', 'open', 'close', 'high', 'low', 'window_start', 'divided'];

/** `Ticker.history(auto_adjust=False)`: days of a stock. */
const history: VendorFormat = {
  name: 'yfinance-history',
  content: 'frames of history of yfinance, with auto_adjust=False',
  datasets: ['stock-day-bars'],
  required: ['Date', 'Open', 'High', 'Low', 'Close', 'Adj Close', 'Volume', 'Stock Splits'],
  time: null,
  delayMs: 0,
  symbols: { column: 'file name', spelling: 'tapeTicker' },
  rows: {
    columns,
    lines(name, at) {
      const ticker = statedTicker(name);
      return { row: daysOf(() => ticker, at, 'Date') };
    },
  },
};

/** `download(auto_adjust=False, actions=True)` of one ticker: three lines of header. */
const download: VendorFormat = {
  name: 'yfinance-download',
  content: 'frames of download of yfinance, with auto_adjust=False and actions=True',
  datasets: ['stock-day-bars'],
  required: ['Price', 'Open', 'High', 'Low', 'Close', 'Adj Close', 'Volume', 'Stock Splits'],
  time: null,
  delayMs: 0,
  symbols: { column: 'Ticker', spelling: 'tapeTicker' },
  rows: {
    columns,
    lines(_, at) {
      let ticker: string | null = null;
      const row = daysOf(() => ticker!, at, 'Price');
      return {
        row(cells) {
          const key = cells[at('Price')];
          if (key === 'Ticker') ticker = cells[at('Close')]!;
          if (key === 'Ticker' || key === 'Date') return null;
          if (ticker === null) throw new VendorError('Ticker: expected a second line with it');
          return row(cells);
        },
      };
    },
  },
};

/** The least volatility that is one: the vendor writes 1e-5 for none. */
const leastVolatility = 1e-4;

/**
 * `Ticker.option_chain(…)`: calls or puts of one expiry, or both one after another. It does not have the price of the
 * underlying.
 */
const chain: VendorFormat = {
  name: 'yfinance-chain',
  content: 'frames of option_chain of yfinance',
  datasets: ['chain'],
  required: [
    'contractSymbol',
    'lastTradeDate',
    'strike',
    'lastPrice',
    'bid',
    'ask',
    'openInterest',
    'impliedVolatility',
  ],
  time: { column: 'lastTradeDate', unit: 'stamp' },
  delayMs: 0,
  symbols: { column: 'contractSymbol', spelling: 'osi' },
  chain: {
    line(cell) {
      const iv = Number(cell('impliedVolatility')) > leastVolatility ? cell('impliedVolatility') : undefined;
      const [bid, ask, last, volume] = ['bid', 'ask', 'lastPrice', 'volume'].map(cell);
      const numbers = { bid, ask, last, volume, iv, openInterest: cell('openInterest') };
      return [{ contract: cell('contractSymbol')!, numbers, times: [stampedMs(cell('lastTradeDate')!)] }];
    },
  },
};

/** The Python package yfinance. */
export const yfinance: Vendor = { formats: [history, download, chain] };
