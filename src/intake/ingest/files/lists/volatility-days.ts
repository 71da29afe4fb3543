import { saveVolatilityDays } from '../../../../store/chain/volatility-days.ts';
import { volatilityDayList } from '../../../tape/csv/volatility-days.ts';
import { listLoader } from './list-loader.ts';

/** Implied volatilities by session. */
export const loadVolatilityDays = listLoader(volatilityDayList, {
  keyOf: ({ symbol, date }) => `${symbol} ${date}`,
  dateOf: ({ date }) => ({ column: 'date', date, isAnnounced: false }),
  store: ({ tx }, rows) => saveVolatilityDays(tx, rows),
});
