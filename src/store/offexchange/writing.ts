import { optionsOverAtMs } from '../../domain/calendar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type {
  CompositionRow,
  ConcentrationRow,
  OffExchangeSession,
  ProfileRow,
} from '../../domain/offexchange/off-exchange.ts';
import { deleteRows, insertRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';

/** The rows published of a session. */
export interface OffExchangeTables {
  composition: readonly Omit<CompositionRow, 'date'>[];
  concentration: readonly Omit<ConcentrationRow, 'date'>[];
  profile: readonly Omit<ProfileRow, 'date'>[];
}

const unpublished = {
  ...{ offExchVolume: null, notional: null, tradeCount: null, avgSize: null, vwap: null },
  ...{ offExchPct: null, consolidatedVolume: null, consolidatedNotional: null },
};

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

/** Writes a symbol's session with everything published of it, replacing what was there. */
export async function saveOffExchange(
  tx: Transaction,
  { symbol, sessionDate, activity, suppressedCategories, ...session }: OffExchangeSession,
  tables: OffExchangeTables,
): Promise<void> {
  const key = { symbol, sessionDate };
  for (const table of ['Session', 'Composition', 'Concentration', 'Profile'] as const)
    await deleteRows(tx, `OffExchange${table}`, { by: ['symbol', 'sessionDate'], keys: [key] });
  const figures = activity ?? unpublished;
  await insertRows(tx, 'OffExchangeSession', [
    { ...key, ...session, suppressedCount: suppressedCategories, ...figures },
  ]);
  const composition = tables.composition.map((row) => ({ ...key, ...row, share: row.shareOfOffExchNotional }));
  await insertRows(tx, 'OffExchangeComposition', composition);
  await saveConcentrationRows(tx, symbol, sessionDate, tables.concentration);
  const profile = tables.profile.map((row) => ({ ...key, ...row }));
  await insertRows(tx, 'OffExchangeProfile', profile);
}

/** Records that the figures of a session are those of a tape read after its end, unless that is recorded already. */
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
