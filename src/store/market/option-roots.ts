import type { OptionRoot as OptionRootRow } from '../../../generated/store/client.ts';
import {
  type Deliverable,
  type ExerciseStyle,
  type OptionRoots,
  optionRoots,
  type RootEntry,
  type Settlement,
} from '../../core/domain/chain/option-root.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';
import { changeRegistry } from './registry-version.ts';

function entryOf({ fromDate, toDate, ...row }: OptionRootRow): RootEntry {
  return {
    ...row,
    style: row.style as ExerciseStyle,
    settlement: row.settlement as Settlement,
    deliverable: row.deliverable as Deliverable,
    from: fromDate === '' ? null : fromDate,
    to: toDate,
  };
}

function rowOf({ from, to, ...entry }: RootEntry): OptionRootRow {
  return { ...entry, fromDate: from ?? '', toDate: to };
}

/** The stored rows of roots, by root, then date. */
export async function storedRoots({ prisma }: Pick<Reader, 'prisma'>): Promise<RootEntry[]> {
  return (await prisma.optionRoot.findMany({ orderBy: [{ root: 'asc' }, { fromDate: 'asc' }] })).map(entryOf);
}

/** The current properties of roots, in the caller's transaction if given; those of the registry alone, without rows. */
export async function readRoots(from: Pick<Reader, 'prisma'>, withRows = true): Promise<OptionRoots> {
  const entries = withRows ? await storedRoots(from) : [];
  const indices = await from.prisma.symbol.findMany({ where: { class: 'index' }, select: { symbol: true } });
  return optionRoots({ entries, indices: indices.map(({ symbol }) => symbol) });
}

const changing = ['toDate', 'underlying', 'style', 'settlement', 'multiplier', 'deliverable', 'onForwards'] as const;

/**
 * Inserts or replaces rows of roots, inside the caller's transaction; no two may have the same root and first session.
 * Returns the number that are new or different.
 */
export function saveRoots(tx: Transaction, entries: readonly RootEntry[]): Promise<number> {
  return changeRegistry(tx, () => upsertRows(tx, 'OptionRoot', entries.map(rowOf), { ifDifferent: changing }));
}
