/** Datasets of vendor files. */
export const datasetNames = [
  'symbols',
  'roots',
  'splits',
  'dividends',
  'rates',
  'volatility-days',
  'stock-minute-bars',
  'stock-day-bars',
  'option-minute-bars',
  'open-interest',
  'chain',
  'stock-trades',
  'option-trades',
  'option-quotes',
] as const;
export type Dataset = (typeof datasetNames)[number];

/** The datasets that are tapes. */
export const tapeDatasets = ['stock-trades', 'option-trades'] as const;
export type TapeDataset = (typeof tapeDatasets)[number];

/** Datasets of bars, and the tapes from which their bars are computed too. */
export const tapeOfBars = {
  'stock-minute-bars': 'stock-trades',
  'stock-day-bars': 'stock-trades',
  'option-minute-bars': 'option-trades',
} as const satisfies Partial<Record<Dataset, TapeDataset>>;

/** The content of each dataset's files, for `--help`. */
export const datasetContents: Record<Dataset, string> = {
  symbols: 'the registry and ticker directory',
  roots: 'option roots: style, settlement, multiplier and deliverable of their contracts',
  splits: 'splits of shares; prices are stored as printed and divided when they are read',
  dividends: 'dividends of shares, as amounts or ratios',
  rates: 'interest rates by date and days',
  'volatility-days': 'implied volatility at 30 days by session, for ranks where no chains are stored',
  'stock-minute-bars': 'minute aggregates of stocks; 5m and 1h bars are computed',
  'stock-day-bars': 'day aggregates of stocks',
  'option-minute-bars': 'minute aggregates of option contracts; 5m bars are computed',
  'open-interest': 'open interest of every listed contract; the session is in the file name',
  chain: 'option chains, of the exchange or of a vendor; dealer gamma is computed',
  'stock-trades': 'full stock tapes; bars of all lengths and off-exchange figures are computed',
  'option-trades': 'full option tapes; flow, bars and end-of-day lists are computed; sides come from option quotes',
  'option-quotes': 'bids and offers of option contracts, which give the trade sides of tapes read afterwards',
};

/** Origins of a stored session: the sample market, vendor files, or a live tape. */
const dataOrigins = ['sample', 'file', 'live'] as const;
export type DataOrigin = (typeof dataOrigins)[number];

/** The default origin of sessions. */
export const usualOrigin: DataOrigin = 'file';
