import type { Exporter } from './exporter.ts';

/** The splits, in the columns of the dataset, so that an export can be ingested. */
export const splits: Exporter = {
  describes: 'splits, in the columns that ingest reads; of all symbols without --symbol',
  whole: true,
  columns: { symbol: 'text', ex_date: 'text', ratio: 'float64', declared: 'text' },
  async *rows(store, { symbol: asked }) {
    const { allSplits } = await import('../../../store/market/splits.ts');
    for (const { symbol, exDate, ratio, declared } of await allSplits(store, asked))
      yield { symbol, ex_date: exDate, ratio, declared };
  },
};
