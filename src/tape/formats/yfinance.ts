import type { Format } from './format.ts';

// Frames of the Python package yfinance, as pandas' `to_csv` writes them. Names of columns:
// github.com/ranaroussi/yfinance, yfinance/ticker.py and yfinance/scrapers/history.py.

/** `Ticker.history(auto_adjust=False)`: days of a stock. */
export const yfinanceHistory = {
  name: 'yfinance-history',
  content: 'frames of history of yfinance, with auto_adjust=False',
  required: ['Date', 'Open', 'High', 'Low', 'Close', 'Adj Close', 'Volume', 'Stock Splits'],
  time: null,
  delayMs: 0,
  symbols: { column: 'file name', spelling: 'tapeTicker' },
} as const satisfies Format;

/** `download(auto_adjust=False, actions=True)` of one ticker: three lines of header. */
export const yfinanceDownload = {
  name: 'yfinance-download',
  content: 'frames of download of yfinance, with auto_adjust=False and actions=True',
  required: ['Price', 'Open', 'High', 'Low', 'Close', 'Adj Close', 'Volume', 'Stock Splits'],
  time: null,
  delayMs: 0,
  symbols: { column: 'Ticker', spelling: 'tapeTicker' },
} as const satisfies Format;

/** `Ticker.option_chain(…)`: calls or puts of one expiry, or both one after another. */
export const yfinanceChain = {
  name: 'yfinance-chain',
  content: 'frames of option_chain of yfinance',
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
} as const satisfies Format;
