import { optionsOverAtMs } from '../../core/domain/calendar.ts';
import { rowBy } from '../../core/domain/columns.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import type {
  CompositionRow,
  ConcentrationRow,
  OffExchangeSession,
  ProfileRow,
} from '../../core/domain/offexchange/off-exchange.ts';
import { offExchangeColumns } from '../../core/domain/offexchange/off-exchange-columns.ts';
import { deleteRows, insertRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';

/** The published rows of a session. */
export interface OffExchangeTables {
  composition: readonly Omit<CompositionRow, 'date'>[];
  concentration: readonly Omit<ConcentrationRow, 'date'>[];
  profile: readonly Omit<ProfileRow, 'date'>[];
}

const { date: _, ...figures } = offExchangeColumns.activity;
const unpublished = rowBy(figures, () => null);

/** Inserts the concentration rows of a session that has none. */
export async function saveConcentrationRows(
  tx: Transaction,
  symbol: string,
  sessionDate: SessionDate,
  rows: readonly Omit<ConcentrationRow, 'date'>[],
): Promise<void> {
  await insertRows(
    tx,
    'OffExchangeConcentration',
    rows.map((row) => ({ symbol, sessionDate, ...row })),
  );
}

/** The version of the stored off-exchange data of a session; null if there is none, or it was stored without one. */
export async function offExchangeVersion(
  { prisma }: Transaction,
  symbol: string,
  sessionDate: SessionDate,
): Promise<string | null> {
  const key = { symbol, sessionDate };
  const row = await prisma.offExchangeSession.findUnique({
    where: { symbol_sessionDate: key },
    select: { version: true },
  });
  return row?.version ?? null;
}

/** Writes a symbol's session with all its published data and its `version`, replacing the former. */
export async function saveOffExchange(
  tx: Transaction,
  { symbol, sessionDate, activity, suppressedCategories, ...session }: OffExchangeSession,
  tables: OffExchangeTables,
  version: string | null = null,
): Promise<void> {
  const key = { symbol, sessionDate };
  for (const table of ['Session', 'Composition', 'Concentration', 'Profile'] as const)
    await deleteRows(tx, `OffExchange${table}`, { by: ['symbol', 'sessionDate'], keys: [key] });
  await insertRows(tx, 'OffExchangeSession', [
    { ...key, ...session, version, suppressedCount: suppressedCategories, ...(activity ?? unpublished) },
  ]);
  const composition = tables.composition.map((row) => ({ ...key, ...row }));
  await insertRows(tx, 'OffExchangeComposition', composition);
  await saveConcentrationRows(tx, symbol, sessionDate, tables.concentration);
  const profile = tables.profile.map((row) => ({ ...key, ...row }));
  await insertRows(tx, 'OffExchangeProfile', profile);
}

/** Records that the figures of a session are from a tape read after its end, unless already recorded. */
export async function confirmOffExchange(
  tx: Transaction,
  symbol: string,
  sessionDate: SessionDate,
  asOfMs: number,
): Promise<void> {
  const overMs = optionsOverAtMs(sessionDate);
  if (asOfMs < overMs) return;
  const where = { symbol, sessionDate, asOfMs: { lt: overMs } };
  await tx.prisma.offExchangeSession.updateMany({ where, data: { asOfMs } });
}
