import type { Exporter } from './exporter.ts';

/** The dividends, in the columns of the dataset, so that an export can be ingested. */
export const dividends: Exporter = {
  describes: 'dividends, in the columns that ingest reads; of all symbols without --symbol',
  whole: true,
  columns: { symbol: 'text', ex_date: 'text', amount: 'float64', ratio: 'float64', kind: 'text', declared: 'text' },
  async *rows(store, { symbol: asked }) {
    const { allDividends } = await import('../../../store/market/dividends.ts');
    for (const { symbol, exDate, amount, ratio, kind, declared } of await allDividends(store, asked))
      yield { symbol, ex_date: exDate, amount, ratio, kind, declared };
  },
};
