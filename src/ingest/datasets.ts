import { methodologyVersion } from '../analytics/methodology.ts';
import { loadChain } from './chains/chain.ts';
import type { IngestSettings, Loader } from './files/file-job.ts';
import { loadSymbols } from './files/symbols.ts';
import { loadOpenInterest, sessionOfFile } from './options/open-interest.ts';
import { loadOptionMinuteBars } from './options/option-bars.ts';
import { loadOptionQuotes } from './options/option-quotes.ts';
import { loadOptionTrades, optionTapeShape } from './options/option-tape.ts';
import { loadStockDayBars, loadStockMinuteBars } from './stocks/stock-bars.ts';
import { loadStockTrades } from './stocks/stock-tape.ts';

/** The kinds of vendor files that can be stored. */
export const datasetNames = [
  'symbols',
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

interface DatasetKind {
  /** What the files hold, for `--help`. */
  describes: string;
  load: Loader;
  /** The settings that shape the result beside the file's bytes: with others the same file is stored again. */
  shapedBy(settings: IngestSettings, path: string): string | Promise<string>;
  /**
   * Datasets that write some of the same data, or are read with it: their files of the same parts are in force no
   * longer once a file changed it.
   */
  supersedes: readonly Dataset[];
}

const byBytesAlone = () => '';

export const datasets: Record<Dataset, DatasetKind> = {
  symbols: {
    describes: 'the registry and ticker directory',
    load: loadSymbols,
    shapedBy: byBytesAlone,
    supersedes: ['symbols'],
  },
  'stock-minute-bars': {
    describes: 'minute aggregates of stocks; 5m and 1h bars are computed',
    load: loadStockMinuteBars,
    shapedBy: byBytesAlone,
    supersedes: ['stock-minute-bars', 'stock-trades'],
  },
  'stock-day-bars': {
    describes: 'day aggregates of stocks',
    load: loadStockDayBars,
    shapedBy: byBytesAlone,
    supersedes: ['stock-day-bars', 'stock-trades'],
  },
  'option-minute-bars': {
    describes: 'minute aggregates of option contracts; 5m bars are computed',
    load: loadOptionMinuteBars,
    shapedBy: byBytesAlone,
    supersedes: ['option-minute-bars', 'option-trades'],
  },
  'open-interest': {
    describes: 'open interest of every listed contract; the session is in the file name',
    load: loadOpenInterest,
    shapedBy: (settings, path) => sessionOfFile(path, settings) ?? '',
    supersedes: ['open-interest'],
  },
  chain: {
    describes: 'option chains, delayed-quote CSV or JSON; dealer gamma is computed',
    load: loadChain,
    shapedBy: ({ gammaSource, rate }) => `${gammaSource} ${rate} ${methodologyVersion}`,
    // `storeChain` forgets the earlier files of the chain's instant.
    supersedes: [],
  },
  'stock-trades': {
    describes: 'full stock tapes; bars of all lengths and off-exchange figures are computed',
    load: loadStockTrades,
    shapedBy: () => methodologyVersion,
    supersedes: ['stock-minute-bars', 'stock-day-bars', 'stock-trades'],
  },
  'option-trades': {
    describes: 'full option tapes; flow, bars and end-of-day lists are computed; sides come from option quotes',
    load: loadOptionTrades,
    shapedBy: optionTapeShape,
    supersedes: ['option-minute-bars', 'option-trades'],
  },
  'option-quotes': {
    describes: 'bids and offers of option contracts, which give the trade sides of tapes read afterwards',
    load: loadOptionQuotes,
    shapedBy: byBytesAlone,
    supersedes: ['option-quotes', 'option-trades'],
  },
};
