import { type DataOrigin, type TapeDataset, tapeDatasets, usualOrigin } from '../../core/domain/dataset.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { insertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';
import type { TapeSessions } from './tape-sessions.ts';

/** Placeholder for every symbol, and for every session. */
export const every = '*';

/** A symbol's session. */
export interface SymbolSession {
  symbol: string;
  sessionDate: SessionDate;
}

const keyOf = ({ symbol, sessionDate }: SymbolSession) => `${symbol} ${sessionDate}`;

/** Origin of all that a store holds of the market: the sample market, or the operator's own data. Never both. */
export type StoreOrigin = 'sample' | 'own';

/** The store's origin; null = nothing was stored yet. */
export async function storeOrigin({ prisma }: Pick<Reader, 'prisma'>): Promise<StoreOrigin | null> {
  const row = await prisma.sessionOrigin.findUnique({
    where: { symbol_sessionDate: { symbol: every, sessionDate: every } },
  });
  return (row?.origin ?? null) as StoreOrigin | null;
}

/** Stores the origin of a store that has none. */
export async function saveStoreOrigin(tx: Transaction, origin: StoreOrigin): Promise<void> {
  await insertRows(tx, 'SessionOrigin', [{ symbol: every, sessionDate: every, origin }]);
}

/** The origins of sessions' data, in order. */
export async function originsOf(
  { prisma }: Pick<Reader, 'prisma'>,
  sessions: readonly SymbolSession[],
): Promise<DataOrigin[]> {
  const rows = await prisma.sessionOrigin.findMany({
    where: {
      symbol: anyOf([every, ...new Set(sessions.map(({ symbol }) => symbol))]),
      sessionDate: anyOf([every, ...new Set(sessions.map(({ sessionDate }) => sessionDate))]),
    },
  });
  const known = new Map(rows.map((row) => [keyOf(row), row.origin]));
  const isSample = known.get(`${every} ${every}`) === 'sample';
  return sessions.map((session) => (isSample ? 'sample' : ((known.get(keyOf(session)) ?? usualOrigin) as DataOrigin)));
}

/** Condition of the live marks of symbols' sessions. */
const markedLive = ({ symbols, sessions }: Omit<TapeSessions, 'dataset'>) => ({
  symbol: anyOf(symbols),
  sessionDate: anyOf(sessions),
  origin: 'live',
});

/** Symbols' sessions of which a generation of a live tape is in force, as `symbol session`. */
async function liveGenerations(
  { prisma }: Pick<Reader, 'prisma'>,
  datasets: readonly TapeDataset[],
  { symbols, sessions }: Omit<TapeSessions, 'dataset'>,
): Promise<ReadonlySet<string>> {
  const of = { symbol: anyOf(symbols), dataset: anyOf(datasets), sessionDate: anyOf(sessions), instantMs: 0 };
  const where = { ...of, made: 'live', supersededMs: null };
  const rows = await prisma.generation.findMany({ where, select: { symbol: true, sessionDate: true } });
  return new Set(rows.map(keyOf));
}

/**
 * The sessions of symbols whose data of a tape a live one wrote, and no file has replaced since, as `symbol session`. A
 * mark is of all data of a session: that of prints of options, or of a captured chain, says nothing of stocks.
 */
export async function liveSessions(
  from: Pick<Reader, 'prisma'>,
  { dataset, ...of }: TapeSessions,
): Promise<ReadonlySet<string>> {
  const marked = await from.prisma.sessionOrigin.findMany({ where: markedLive(of) });
  if (marked.length === 0) return new Set();
  const live = await liveGenerations(from, [dataset], of);
  return new Set(marked.map(keyOf).filter((key) => live.has(key)));
}

/** Marks sessions as of a live tape. */
export async function markLive(tx: Transaction, sessions: readonly SymbolSession[]): Promise<void> {
  await insertRows(
    tx,
    'SessionOrigin',
    sessions.map((session) => ({ ...session, origin: 'live' })),
  );
}

/**
 * Marks sessions of symbols as of files, which replaced what a live tape wrote. Those stay live of which it has written
 * data of another tape than `replaced`; null = the file is of none.
 */
export async function markFiles(
  tx: Transaction,
  of: Omit<TapeSessions, 'dataset'>,
  replaced: TapeDataset | null,
): Promise<void> {
  if (of.symbols.length === 0 || of.sessions.length === 0) return;
  const where = markedLive(of);
  const marked = await tx.prisma.sessionOrigin.findMany({ where });
  if (marked.length === 0) return;
  const others = tapeDatasets.filter((dataset) => dataset !== replaced);
  const live = await liveGenerations(tx, others, of);
  for (const [sessionDate, rows] of Map.groupBy(marked, (row) => row.sessionDate)) {
    const gone = rows.filter((row) => !live.has(keyOf(row))).map(({ symbol }) => symbol);
    if (gone.length > 0)
      await tx.prisma.sessionOrigin.deleteMany({ where: { ...where, sessionDate, symbol: anyOf(gone) } });
  }
}
