import type { Exporter } from './exporter.ts';

/** The days, in the columns of the dataset: what is exported here can be ingested there. */
export const volatilityDays: Exporter = {
  describes:
    'implied volatility at 30 days by session, in the columns that ingest reads; of all symbols without --symbol',
  whole: true,
  columns: { symbol: 'text', date: 'text', iv30: 'float64' },
  async *rows(store, { symbol }) {
    const { allVolatilityDays } = await import('../../../store/chain/volatility-days.ts');
    for (const { symbol: of, date, iv30 } of await allVolatilityDays(store, symbol)) yield { symbol: of, date, iv30 };
  },
};
