import { methodologyVersion } from '../../core/analytics/methodology.ts';
import type { Dataset } from '../../core/domain/dataset.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { Transaction } from '../../store/rows/transaction.ts';
import type { IngestSettings, Loader, TapeLoader } from './files/file-job.ts';

interface DatasetKind {
  /** Stores a file. */
  load?: Loader;
  /** Stores several files as one tape. */
  loadTape?: TapeLoader;
  /** The settings that change the result: with different ones the same file is stored again. */
  shapedBy(settings: IngestSettings, path: string, look: () => void): string | Promise<string>;
  /**
   * Datasets that write some of the same data, or are read with it: their files with the same parts are no longer
   * current once a file changed it.
   */
  supersedes: readonly Dataset[];
  /** Computes what lacked this data, in the transaction that stored it for symbols and sessions. Returns notes. */
  completes?(tx: Transaction, stored: StoredParts, how: { rate: number; now: Clock }): Promise<string[]>;
}

/** Symbols and sessions of which data was stored. */
interface StoredParts {
  symbols: readonly string[];
  sessions: readonly SessionDate[];
}

/** Minutes of contracts that were solved without a price of the underlying. */
const solvesMinutes: DatasetKind['completes'] = async (tx, stored, how) => {
  const { unpricedMinutes } = await import('../../store/chain/solved-minutes.ts');
  const unpriced = await unpricedMinutes(tx, stored);
  // Most ingests find none: pricing is a third of what they would load.
  if (unpriced.length === 0) return [];
  const { solvePricedMinutes } = await import('./recompute/recompute.ts');
  const solved = await solvePricedMinutes(tx, unpriced, how);
  return solved.map(
    ({ underlying, session }) => `the minute greeks of ${underlying} of ${session} have this price now`,
  );
};

const byBytesAlone = () => '';

// A dataset's loader is imported with its first file, so that an ingest starts with few modules.
export const datasets: Record<Dataset, DatasetKind> = {
  symbols: {
    load: async (job) => (await import('./files/reference-lists.ts')).loadSymbols(job),
    shapedBy: byBytesAlone,
    supersedes: ['symbols'],
  },
  roots: {
    load: async (job) => (await import('./files/reference-lists.ts')).loadRoots(job),
    shapedBy: byBytesAlone,
    supersedes: ['roots'],
  },
  splits: {
    load: async (job) => (await import('./stocks/splits.ts')).loadSplits(job),
    shapedBy: byBytesAlone,
    supersedes: ['splits'],
  },
  dividends: {
    load: async (job) => (await import('./files/reference-lists.ts')).loadDividends(job),
    shapedBy: byBytesAlone,
    supersedes: ['dividends'],
  },
  rates: {
    load: async (job) => (await import('./files/reference-lists.ts')).loadRates(job),
    shapedBy: byBytesAlone,
    supersedes: ['rates'],
  },
  'volatility-days': {
    load: async (job) => (await import('./files/reference-lists.ts')).loadVolatilityDays(job),
    shapedBy: byBytesAlone,
    supersedes: ['volatility-days'],
  },
  'stock-minute-bars': {
    load: async (job) => (await import('./stocks/stock-bars.ts')).loadStockMinuteBars(job),
    shapedBy: byBytesAlone,
    completes: solvesMinutes,
    supersedes: ['stock-minute-bars', 'stock-trades'],
  },
  'stock-day-bars': {
    load: async (job) => (await import('./stocks/stock-bars.ts')).loadStockDayBars(job),
    shapedBy: byBytesAlone,
    supersedes: ['stock-day-bars', 'stock-trades'],
  },
  'option-minute-bars': {
    load: async (job) => (await import('./options/option-bars.ts')).loadOptionMinuteBars(job),
    shapedBy: byBytesAlone,
    supersedes: ['option-minute-bars', 'option-trades'],
  },
  'open-interest': {
    load: async (job) => (await import('./options/open-interest.ts')).loadOpenInterest(job),
    shapedBy: async (settings, path) =>
      (await import('./options/open-interest.ts')).sessionOfFile(path, settings) ?? '',
    supersedes: ['open-interest'],
  },
  chain: {
    load: async (job) => (await import('./chains/chain.ts')).loadChain(job),
    shapedBy: async (settings) => (await import('./chains/chain.ts')).chainShape(settings),
    // `storeChain` removes the earlier files of the chain's instant.
    supersedes: [],
  },
  'stock-trades': {
    loadTape: async (job) => (await import('./stocks/stock-tape.ts')).loadStockTrades(job),
    completes: solvesMinutes,
    shapedBy: ({ extendedBars }) => `${methodologyVersion}${extendedBars ? ' extended' : ''}`,
    supersedes: ['stock-minute-bars', 'stock-day-bars', 'stock-trades'],
  },
  'option-trades': {
    loadTape: async (job) => (await import('./options/option-tape.ts')).loadOptionTrades(job),
    shapedBy: async (settings, _path, look) =>
      (await import('./options/option-tape.ts')).optionTapeShape(settings, look),
    supersedes: ['option-minute-bars', 'option-trades'],
  },
  'option-quotes': {
    load: async (job) => (await import('./options/option-quotes.ts')).loadOptionQuotes(job),
    shapedBy: byBytesAlone,
    supersedes: ['option-quotes', 'option-trades'],
  },
};
