import { forgetDatasets } from '../../../../store/market/ingested-files.ts';
import { saveRoots } from '../../../../store/market/option-roots.ts';
import { rootList } from '../../../tape/csv/roots.ts';
import { listLoader } from './list-loader.ts';

/**
 * Loads terms of option roots. Stored figures were computed with the former terms, so files of the roots are read again
 * when given again.
 */
export const loadRoots = listLoader(rootList, {
  keyOf: ({ root, from }) => (from ? `${root} from ${from}` : root),
  // A term may end in any year.
  dateOf: ({ from }) => (from === null ? null : { column: 'from', date: from, isAnnounced: true }),
  async store({ tx }, rows) {
    const changed = await saveRoots(tx, rows);
    if (changed === 0) return 0;
    await forgetDatasets(tx, ['chain', 'option-trades']);
    for (const { underlying } of rows)
      for (const subject of ['chain', 'gex', 'flow'] as const) tx.changes.add(subject, underlying);
    return changed;
  },
  // A root may have had another underlying before.
  symbolsOf: () => null,
});
