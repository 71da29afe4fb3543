import { knownRoots } from '../../../core/domain/chain/known-roots.ts';
import type { Exporter } from './exporter.ts';

/** The roots, in the columns of the dataset, so that an export can be ingested. */
export const roots: Exporter = {
  describes:
    'option roots, in the columns that ingest reads: stored rows, and known roots without one; --symbol: its own',
  whole: true,
  columns: {
    root: 'text',
    underlying: 'text',
    style: 'text',
    settlement: 'text',
    multiplier: 'int32',
    deliverable: 'text',
    on_forwards: 'bool',
    from: 'text',
    to: 'text',
  },
  async *rows(store, { symbol }) {
    const { storedRoots } = await import('../../../store/market/option-roots.ts');
    const stored = await storedRoots(store);
    const named = new Set(stored.map(({ root }) => root));
    const all = [...stored, ...knownRoots.filter(({ root }) => !named.has(root))];
    for (const { onForwards, ...entry } of all.toSorted((a, b) => (a.root < b.root ? -1 : a.root > b.root ? 1 : 0))) {
      if (symbol !== null && entry.underlying !== symbol) continue;
      const { root, underlying, style, settlement, multiplier, deliverable, from, to } = entry;
      yield { root, underlying, style, settlement, multiplier, deliverable, on_forwards: onForwards, from, to };
    }
  },
};
