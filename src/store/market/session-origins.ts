import { type DataOrigin, usualOrigin } from '../../domain/data-origin.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { hasOwnData } from '../rows/metadata.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { insertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';

/** Placeholder for every session of the symbol. */
export const everySession = '*';
export const sampleOrigin: DataOrigin = 'sample';

/** A symbol's session. */
export interface SymbolSession {
  symbol: string;
  sessionDate: SessionDate;
}

/** The symbols whose data is the sample market's, ascending; `*` for the lists over all symbols. */
export async function simulatedSymbols({ prisma }: Pick<Reader, 'prisma'>): Promise<string[]> {
  const rows = await prisma.sessionOrigin.findMany({
    where: { origin: sampleOrigin, sessionDate: everySession },
    select: { symbol: true },
    orderBy: { symbol: 'asc' },
  });
  return rows.map(({ symbol }) => symbol);
}

/** The symbols with simulated data, if others have none; empty if all data is the sample market's. */
export async function simulatedBesideOthers(from: Pick<Reader, 'prisma'>): Promise<ReadonlySet<string>> {
  return new Set((await hasOwnData(from)) ? await simulatedSymbols(from) : []);
}

/** The origins of sessions' data, in order. */
export async function originsOf(
  { prisma }: Pick<Reader, 'prisma'>,
  sessions: readonly SymbolSession[],
): Promise<DataOrigin[]> {
  const rows = await prisma.sessionOrigin.findMany({
    where: {
      symbol: anyOf([...new Set(sessions.map(({ symbol }) => symbol))]),
      sessionDate: anyOf([everySession, ...new Set(sessions.map(({ sessionDate }) => sessionDate))]),
    },
  });
  const known = new Map(rows.map(({ symbol, sessionDate, origin }) => [`${symbol} ${sessionDate}`, origin]));
  return sessions.map(
    ({ symbol, sessionDate }) =>
      (known.get(`${symbol} ${everySession}`) ?? known.get(`${symbol} ${sessionDate}`) ?? usualOrigin) as DataOrigin,
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
