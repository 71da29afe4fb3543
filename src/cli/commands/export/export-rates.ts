import type { Exporter } from './exporter.ts';

/** The rates, in the columns of the dataset, so that an export can be ingested. */
export const rates: Exporter = {
  describes: 'interest rates by date and days, in the columns that ingest reads',
  whole: true,
  columns: { date: 'text', days: 'int32', rate: 'float64' },
  async *rows(store) {
    const { allRates } = await import('../../../store/market/rates.ts');
    for (const { date, days, rate } of await allRates(store)) yield { date, days, rate };
  },
};
