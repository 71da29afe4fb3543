import { methodologyVersion } from '../analytics/methodology.ts';
import { loadChain } from './chains/chain.ts';
import type { Dataset } from './dataset-names.ts';
import type { IngestSettings, Loader } from './files/file-job.ts';
import { loadSymbols } from './files/symbols.ts';
import { loadOpenInterest, sessionOfFile } from './options/open-interest.ts';
import { loadOptionMinuteBars } from './options/option-bars.ts';
import { loadOptionQuotes } from './options/option-quotes.ts';
import { loadOptionTrades, optionTapeShape } from './options/option-tape.ts';
import { loadStockDayBars, loadStockMinuteBars } from './stocks/stock-bars.ts';
import { loadStockTrades } from './stocks/stock-tape.ts';

interface DatasetKind {
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
    load: loadSymbols,
    shapedBy: byBytesAlone,
    supersedes: ['symbols'],
  },
  'stock-minute-bars': {
    load: loadStockMinuteBars,
    shapedBy: byBytesAlone,
    supersedes: ['stock-minute-bars', 'stock-trades'],
  },
  'stock-day-bars': {
    load: loadStockDayBars,
    shapedBy: byBytesAlone,
    supersedes: ['stock-day-bars', 'stock-trades'],
  },
  'option-minute-bars': {
    load: loadOptionMinuteBars,
    shapedBy: byBytesAlone,
    supersedes: ['option-minute-bars', 'option-trades'],
  },
  'open-interest': {
    load: loadOpenInterest,
    shapedBy: (settings, path) => sessionOfFile(path, settings) ?? '',
    supersedes: ['open-interest'],
  },
  chain: {
    load: loadChain,
    shapedBy: ({ gammaSource, rate }) => `${gammaSource} ${rate} ${methodologyVersion}`,
    // `storeChain` forgets the earlier files of the chain's instant.
    supersedes: [],
  },
  'stock-trades': {
    load: loadStockTrades,
    shapedBy: () => methodologyVersion,
    supersedes: ['stock-minute-bars', 'stock-day-bars', 'stock-trades'],
  },
  'option-trades': {
    load: loadOptionTrades,
    shapedBy: optionTapeShape,
    supersedes: ['option-minute-bars', 'option-trades'],
  },
  'option-quotes': {
    load: loadOptionQuotes,
    shapedBy: byBytesAlone,
    supersedes: ['option-quotes', 'option-trades'],
  },
};
