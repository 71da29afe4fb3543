import { rowBy } from '../../domain/columns.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { ConcentrationRow, ProfileRow } from '../../domain/offexchange/off-exchange.ts';
import { offExchangeColumns } from '../../domain/offexchange/off-exchange-columns.ts';
import { type InColumns, rowReader } from '../../domain/rows-in-columns.ts';
import { deleteRows, upsertRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { decodeBlock, encodeBlock } from '../series/codec.ts';
import { rowColumns } from '../series/row-columns.ts';
import { saveConcentrationRows } from './writing.ts';

const { date: _, ...levelColumns } = offExchangeColumns.profile;
const levelAt: (columns: InColumns<typeof levelColumns>, index: number) => PriceLevel = rowReader(levelColumns);

/** A price level of a session, before disclosure. */
export type PriceLevel = Omit<ProfileRow, 'date'>;

/** The version of the stored off-exchange data of a session; null if there is none. */
export async function levelsVersion(tx: Transaction, symbol: string, session: SessionDate): Promise<string | null> {
  const row = await tx.prisma.offExchangeLevels.findUnique({
    where: { symbol_sessionDate: { symbol, sessionDate: session } },
    select: { version: true },
  });
  return row?.version ?? null;
}

/** Price levels as a column block. */
export function encodeLevels(levels: readonly PriceLevel[]): Uint8Array {
  return encodeBlock(rowBy(levelColumns, (name) => Float64Array.from(levels, (level) => level[name])));
}

/** Writes a session's price levels, replacing those before. */
export async function saveLevels(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  version: string,
  payload: Uint8Array,
): Promise<void> {
  await upsertRows(tx, 'OffExchangeLevels', [{ symbol, sessionDate: session, version, payload }]);
}

/** A stored session in a concentration window. */
export interface WindowSession {
  sessionDate: SessionDate;
  levels: PriceLevel[];
  /** The off-exchange vwap, dollars; null if nothing of the session is published. */
  vwap: number | null;
}

const around = statement(
  'offexchange/off-exchange-window',
  { symbol: 'text', session: 'text', before: 'int8', from: 'int8' },
  { sessionDate: 'text', payload: 'bytea', vwap: 'float8?' },
);

/** The stored sessions around one, ascending: up to `before` earlier ones, it, and up to `after` later ones. */
export async function readWindow(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  { before, after }: { before: number; after: number },
): Promise<WindowSession[]> {
  const rows = await around.rows(tx, { symbol, session, before, from: after + 1 });
  return rows.map(({ sessionDate, payload, vwap }) => {
    const columns = rowColumns(decodeBlock(payload), levelColumns, ['priceThousandths']);
    const levels = Array.from(columns.priceThousandths, (_, i) => levelAt(columns, i));
    return { sessionDate, levels, vwap };
  });
}

/** Writes a stored session's concentration, replacing the former one; `asOfMs`: the time of its computation. */
export async function saveConcentration(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  rows: readonly Omit<ConcentrationRow, 'date'>[],
  { suppressedBuckets, asOfMs }: { suppressedBuckets: number; asOfMs: number },
): Promise<void> {
  const key = { symbol, sessionDate: session };
  await deleteRows(tx, 'OffExchangeConcentration', { by: ['symbol', 'sessionDate'], keys: [key] });
  await saveConcentrationRows(tx, symbol, session, rows);
  await tx.prisma.offExchangeSession.updateMany({ where: key, data: { suppressedBuckets, asOfMs } });
}
