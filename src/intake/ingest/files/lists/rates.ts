import { wholeList } from '../../../../core/domain/generation.ts';
import { saveRates } from '../../../../store/market/rates.ts';
import { rateList } from '../../../tape/csv/rates.ts';
import { listLoader } from './list-loader.ts';

/** Points of interest rate curves. */
export const loadRates = listLoader(rateList, {
  keyOf: ({ date, days }) => `${date} ${days} days`,
  dateOf: ({ date }) => ({ column: 'date', date, isAnnounced: false }),
  store: ({ tx }, rows) => saveRates(tx, rows),
  symbolsOf: () => null,
  partOf: (rows) => {
    const dates = rows.map(({ date }) => date).sort();
    return { ...wholeList, from: dates[0]!, through: dates.at(-1)! };
  },
});
