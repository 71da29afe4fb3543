import { wholeList } from '../../../domain/generation.ts';
import { saveRates } from '../../../store/market/rates.ts';
import { rateList } from '../../../tape/csv/rates.ts';
import { listLoader } from './list-loader.ts';

/** Points of interest rate curves. */
export const loadRates = listLoader(
  rateList,
  ({ date, days }) => `${date} ${days} days`,
  ({ tx }, rows) => saveRates(tx, rows),
  () => null,
  (rows) => {
    const dates = rows.map(({ date }) => date).sort();
    return { ...wholeList, from: dates[0]!, through: dates.at(-1)! };
  },
);
