import type { SessionDate } from '../../core/domain/market-time.ts';
import type { ConcentrationRow, ProfileRow } from '../../core/domain/offexchange/off-exchange.ts';
import type { Store } from '../rows/connection.ts';
import { deleteRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { saveConcentrationRows } from './writing.ts';

/** A published price level of a session. */
export type PriceLevel = Omit<ProfileRow, 'date'>;

/** A stored session in a concentration window. */
export interface WindowSession {
  sessionDate: SessionDate;
  levels: PriceLevel[];
  /** The off-exchange vwap, dollars; null if nothing of the session is published. */
  vwap: number | null;
}

/** Stored sessions, by symbol and date: all, or those without a concentration. */
export async function listConcentrations(
  { prisma }: Store,
  all: boolean,
): Promise<{ symbol: string; sessionDate: SessionDate }[]> {
  return prisma.offExchangeSession.findMany({
    where: all ? {} : { suppressedBuckets: null },
    select: { symbol: true, sessionDate: true },
    orderBy: [{ symbol: 'asc' }, { sessionDate: 'asc' }],
  });
}

const around = statement(
  'offexchange/off-exchange-window',
  { symbol: 'text', session: 'text', before: 'int8', from: 'int8' },
  {
    sessionDate: 'text',
    vwap: 'float8?',
    priceThousandths: 'float8[]',
    volume: 'float8[]',
    notional: 'float8[]',
    tradeCount: 'float8[]',
  },
);

/** The stored sessions around one, ascending: up to `before` earlier ones, it, and up to `after` later ones. */
export async function readWindow(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  { before, after }: { before: number; after: number },
): Promise<WindowSession[]> {
  const rows = await around.rows(tx, { symbol, session, before, from: after + 1 });
  return rows.map(({ sessionDate, vwap, priceThousandths, volume, notional, tradeCount }) => ({
    sessionDate,
    vwap,
    levels: priceThousandths.map((price, i) => ({
      priceThousandths: price,
      volume: volume[i]!,
      notional: notional[i]!,
      tradeCount: tradeCount[i]!,
    })),
  }));
}

/**
 * Writes a stored session's concentration, replacing the former one; `asOfMs`: the time of its computation, absent =
 * that of the session's other figures.
 */
export async function saveConcentration(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  rows: readonly Omit<ConcentrationRow, 'date'>[],
  made: { suppressedBuckets: number; asOfMs?: number },
): Promise<void> {
  const key = { symbol, sessionDate: session };
  await deleteRows(tx, 'OffExchangeConcentration', { by: ['symbol', 'sessionDate'], keys: [key] });
  await saveConcentrationRows(tx, symbol, session, rows);
  await tx.prisma.offExchangeSession.updateMany({ where: key, data: made });
}
