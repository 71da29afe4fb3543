import { saveDividends } from '../../../store/market/dividends.ts';
import { dividendList } from '../../../tape/csv/dividends.ts';
import { listLoader } from './list-loader.ts';

/** Dividends. */
export const loadDividends = listLoader(
  dividendList,
  ({ symbol, exDate, kind }) => `${symbol} ${exDate} ${kind}`,
  ({ tx }, rows) => saveDividends(tx, rows),
  (rows) => new Set(rows.map(({ symbol }) => symbol)),
);
