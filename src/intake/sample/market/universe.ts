/** A ticker of the simulated market. */
export interface SampleSymbol {
  symbol: string;
  /** The title of its chain files. */
  name: string;
  kind: 'stock' | 'fund' | 'index';
  /** Dollars around which the price varies. Prices are invented; only their magnitude is that of the real ticker. */
  price: number;
  /** Annualized volatility, a fraction. */
  volatility: number;
  /** Share of the market in its moves, 0…1. */
  beta: number;
  /** Approximate number of shares per day; 0 for an index. */
  dailyVolume: number;
  /** Set if its price is a multiple of another ticker's. */
  follows?: { symbol: string; ratio: number };
  /** Interval of chain captures in the last sessions. */
  chains: 'every5m' | 'daily';
  /** Strikes on each side of the money in every expiry of its chain. */
  strikesBeside: number;
  /** The root of its weekly options; null = its own. */
  weeklyRoot: string | null;
  /** A root with an adjusted deliverable that its chain also lists. */
  adjustedRoot: string | null;
}

type Line = readonly [
  symbol: string,
  name: string,
  price: number,
  volatility: number,
  beta: number,
  millionShares: number,
];

const stocks: readonly Line[] = [
  ['AAPL', 'Apple Inc.', 230, 0.26, 0.7, 52],
  ['MSFT', 'Microsoft Corporation', 430, 0.24, 0.72, 21],
  ['NVDA', 'NVIDIA Corporation', 140, 0.45, 0.7, 210],
  ['AMD', 'Advanced Micro Devices, Inc.', 150, 0.46, 0.65, 45],
  ['INTC', 'Intel Corporation', 24, 0.42, 0.5, 60],
  ['CSCO', 'Cisco Systems, Inc.', 58, 0.2, 0.6, 19],
  ['ORCL', 'Oracle Corporation', 180, 0.33, 0.55, 10],
  ['GOOGL', 'Alphabet Inc. Class A', 175, 0.28, 0.65, 27],
  ['META', 'Meta Platforms, Inc.', 580, 0.33, 0.62, 13],
  ['NFLX', 'Netflix, Inc.', 890, 0.32, 0.5, 3.4],
  ['DIS', 'The Walt Disney Company', 112, 0.25, 0.55, 9],
  ['T', 'AT&T Inc.', 23, 0.21, 0.3, 33],
  ['AMZN', 'Amazon.com, Inc.', 205, 0.3, 0.66, 38],
  ['TSLA', 'Tesla, Inc.', 340, 0.58, 0.55, 95],
  ['HD', 'The Home Depot, Inc.', 400, 0.22, 0.58, 3.5],
  ['MCD', "McDonald's Corporation", 290, 0.18, 0.4, 3.4],
  ['NKE', 'NIKE, Inc.', 76, 0.31, 0.5, 11],
  ['SBUX', 'Starbucks Corporation', 98, 0.29, 0.48, 8],
  ['F', 'Ford Motor Company', 11, 0.35, 0.5, 55],
  ['JPM', 'JPMorgan Chase & Co.', 240, 0.23, 0.62, 9],
  ['BAC', 'Bank of America Corporation', 46, 0.26, 0.62, 35],
  ['V', 'Visa Inc.', 310, 0.19, 0.6, 6],
  ['GS', 'The Goldman Sachs Group, Inc.', 590, 0.27, 0.62, 2.2],
  ['BRK.B', 'Berkshire Hathaway Inc. Class B', 470, 0.16, 0.6, 3.6],
  ['C', 'Citigroup Inc.', 70, 0.29, 0.6, 14],
  ['COIN', 'Coinbase Global, Inc.', 290, 0.75, 0.4, 11],
  ['JNJ', 'Johnson & Johnson', 155, 0.16, 0.3, 7.5],
  ['PFE', 'Pfizer Inc.', 26, 0.25, 0.3, 40],
  ['UNH', 'UnitedHealth Group Incorporated', 590, 0.26, 0.35, 3.7],
  ['LLY', 'Eli Lilly and Company', 780, 0.32, 0.4, 3.3],
  ['MRK', 'Merck & Co., Inc.', 100, 0.22, 0.3, 10],
  ['ABBV', 'AbbVie Inc.', 178, 0.22, 0.3, 5.5],
];

const funds: readonly Line[] = [
  ['SPY', 'SPDR S&P 500 ETF Trust', 590, 0.14, 1, 48],
  ['QQQ', 'Invesco QQQ Trust, Series 1', 500, 0.19, 0.95, 32],
  ['IWM', 'iShares Russell 2000 ETF', 230, 0.21, 0.85, 25],
  ['DIA', 'SPDR Dow Jones Industrial Average ETF Trust', 435, 0.13, 0.93, 3],
  ['GLD', 'SPDR Gold Shares', 245, 0.15, 0.1, 7],
  ['TLT', 'iShares 20+ Year Treasury Bond ETF', 92, 0.16, -0.2, 35],
  ['TQQQ', 'ProShares UltraPro QQQ', 76, 0.57, 0.95, 50],
];

const indices: readonly Line[] = [
  ['SPX', 'S&P 500 INDEX', 5900, 0.14, 1, 0],
  ['NDX', 'NASDAQ 100 INDEX', 20_500, 0.19, 0.95, 0],
];

const exceptions: Record<string, Partial<SampleSymbol>> = {
  SPX: { chains: 'every5m', strikesBeside: 19, weeklyRoot: 'SPXW' },
  NDX: { chains: 'every5m', strikesBeside: 15, weeklyRoot: 'NDXP' },
  SPY: { chains: 'every5m', strikesBeside: 18, follows: { symbol: 'SPX', ratio: 0.1 } },
  QQQ: { chains: 'every5m', strikesBeside: 15, follows: { symbol: 'NDX', ratio: 1 / 41 } },
  AAPL: { chains: 'every5m', strikesBeside: 12 },
  TSLA: { chains: 'every5m', strikesBeside: 12, adjustedRoot: 'TSLA1' },
  C: { adjustedRoot: 'C1' },
  'BRK.B': { weeklyRoot: 'BRKB' },
};

function sampleSymbol(
  [symbol, name, price, volatility, beta, millionShares]: Line,
  kind: SampleSymbol['kind'],
): SampleSymbol {
  return {
    symbol,
    name,
    kind,
    price,
    volatility,
    beta,
    dailyVolume: millionShares * 1e6,
    chains: 'daily',
    strikesBeside: 8,
    weeklyRoot: null,
    adjustedRoot: null,
    ...exceptions[symbol],
  };
}

/** The tickers of the simulated market: 32 stocks of five sectors, seven funds, two indices. */
export const sampleSymbols: readonly SampleSymbol[] = [
  ...indices.map((line) => sampleSymbol(line, 'index')),
  ...funds.map((line) => sampleSymbol(line, 'fund')),
  ...stocks.map((line) => sampleSymbol(line, 'stock')),
];

/** The ticker `symbol`, which must be one of them. */
export function sampleSymbolOf(symbol: string): SampleSymbol {
  return sampleSymbols.find((entry) => entry.symbol === symbol)!;
}
