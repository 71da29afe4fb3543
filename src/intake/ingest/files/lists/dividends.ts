import { saveDividends } from '../../../../store/market/dividends.ts';
import { dividendList } from '../../../tape/csv/dividends.ts';
import { listLoader } from './list-loader.ts';

/** Dividends. */
export const loadDividends = listLoader(dividendList, {
  keyOf: ({ symbol, exDate, kind }) => `${symbol} ${exDate} ${kind}`,
  dateOf: ({ exDate }) => ({ column: 'ex_date', date: exDate, isAnnounced: true }),
  store: ({ tx }, rows) => saveDividends(tx, rows),
  symbolsOf: (rows) => new Set(rows.map(({ symbol }) => symbol)),
});
