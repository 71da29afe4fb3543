import { saveSplits, splitsIn } from '../../../store/market/splits.ts';
import { splitList } from '../../tape/csv/splits.ts';
import { listLoader } from '../files/reference-lists.ts';
import { refreshConcentration } from './off-exchange-session.ts';

/**
 * Loads splits. Prices are stored as printed and divided when read; stored off-exchange concentration is recomputed for
 * sessions with a split in their window.
 */
export const loadSplits = listLoader(splitList, {
  keyOf: ({ symbol, exDate }) => `${symbol} ${exDate}`,
  dateOf: ({ exDate }) => ({ column: 'ex_date', date: exDate, isAnnounced: true }),
  async store({ tx, now }, rows) {
    const before = await splitsIn(
      tx,
      rows.map(({ symbol }) => symbol),
    );
    const changed = await saveSplits(tx, rows);
    for (const { symbol, exDate, ratio } of rows) {
      const known = before.get(symbol)?.find((split) => split.exDate === exDate);
      if (known?.ratio !== ratio) await refreshConcentration(tx, symbol, exDate, now());
    }
    return changed;
  },
});
