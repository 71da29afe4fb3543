import { type DataOrigin, usualOrigin } from '../../domain/data-origin.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { insertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';

/** Placeholder for every symbol, and for every session. */
export const every = '*';

/** A symbol's session. */
export interface SymbolSession {
  symbol: string;
  sessionDate: SessionDate;
}

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
  const known = new Map(rows.map(({ symbol, sessionDate, origin }) => [`${symbol} ${sessionDate}`, origin]));
  const isSample = known.get(`${every} ${every}`) === 'sample';
  return sessions.map(({ symbol, sessionDate }) =>
    isSample ? 'sample' : ((known.get(`${symbol} ${sessionDate}`) ?? usualOrigin) as DataOrigin),
  );
}

/** The sessions of symbols whose data a live tape wrote, as `symbol session`. */
export async function liveSessions(
  { prisma }: Pick<Reader, 'prisma'>,
  symbols: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await prisma.sessionOrigin.findMany({ where: { symbol: anyOf(symbols), origin: 'live' } });
  return new Set(rows.map(({ symbol, sessionDate }) => `${symbol} ${sessionDate}`));
}

/** Marks sessions as of a live tape. */
export async function markLive(tx: Transaction, sessions: readonly SymbolSession[]): Promise<void> {
  await insertRows(
    tx,
    'SessionOrigin',
    sessions.map((session) => ({ ...session, origin: 'live' })),
  );
}

/** Marks sessions of symbols as of files, which replaced data of a live tape. */
export async function markFiles(
  tx: Transaction,
  symbols: readonly string[],
  sessions: readonly SessionDate[],
): Promise<void> {
  if (symbols.length === 0 || sessions.length === 0) return;
  await tx.prisma.sessionOrigin.deleteMany({
    where: { symbol: anyOf(symbols), sessionDate: anyOf(sessions), origin: 'live' },
  });
}
