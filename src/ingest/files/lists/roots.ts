import { forgetDatasets } from '../../../store/market/ingested-files.ts';
import { saveRoots } from '../../../store/market/option-roots.ts';
import { rootList } from '../../../tape/csv/roots.ts';
import { listLoader } from './list-loader.ts';

/**
 * Terms of option roots. Figures that are stored were computed with the terms of before: their files are read again
 * when they are given again.
 */
export const loadRoots = listLoader(
  rootList,
  ({ root, from }) => (from ? `${root} from ${from}` : root),
  async ({ tx }, rows) => {
    const changed = await saveRoots(tx, rows);
    if (changed === 0) return 0;
    await forgetDatasets(tx, ['chain', 'option-trades']);
    for (const { underlying } of rows)
      for (const subject of ['chain', 'gex', 'flow'] as const) tx.changes.add(subject, underlying);
    return changed;
  },
  // A root may have been of another underlying before.
  () => null,
);
