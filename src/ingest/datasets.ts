import type { IngestSettings, Loader } from './file-job.ts';
import { loadStockDayBars, loadStockMinuteBars } from './stock-bars.ts';
import { loadSymbols } from './symbols.ts';

/** The kinds of vendor files that can be stored. */
export const datasetNames = ['symbols', 'stock-minute-bars', 'stock-day-bars'] as const;
export type Dataset = (typeof datasetNames)[number];

interface DatasetKind {
  /** What the files hold, for `--help`. */
  describes: string;
  load: Loader;
  /** The settings that shape the result beside the file's bytes: with others the same file is stored anew. */
  shapedBy(settings: IngestSettings, path: string): string;
}

const byBytesAlone = () => '';

export const datasets: Record<Dataset, DatasetKind> = {
  symbols: { describes: 'the registry and ticker directory (CSV)', load: loadSymbols, shapedBy: byBytesAlone },
  'stock-minute-bars': {
    describes: 'minute aggregates of stocks; 5m and 1h follow',
    load: loadStockMinuteBars,
    shapedBy: byBytesAlone,
  },
  'stock-day-bars': { describes: 'day aggregates of stocks', load: loadStockDayBars, shapedBy: byBytesAlone },
};
