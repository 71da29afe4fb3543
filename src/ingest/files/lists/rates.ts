import { saveRates } from '../../../store/market/rates.ts';
import { rateList } from '../../../tape/csv/rates.ts';
import { listLoader } from './list-loader.ts';

/** Points of interest rate curves. */
export const loadRates = listLoader(
  rateList,
  ({ date, days }) => `${date} ${days} days`,
  ({ tx }, rows) => saveRates(tx, rows),
  () => null,
);
