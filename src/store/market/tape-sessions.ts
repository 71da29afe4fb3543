import type { TapeDataset } from '../../core/domain/dataset.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';

/** Symbols' sessions of a tape. */
export interface TapeSessions {
  dataset: TapeDataset;
  symbols: readonly string[];
  sessions: readonly SessionDate[];
}

const ofSessions = ({ symbols, sessions }: Omit<TapeSessions, 'dataset'>) => ({
  symbol: anyOf(symbols),
  sessionDate: anyOf(sessions),
});

/** The tape behind a symbol's session. */
export type StoredTape = Omit<Row<'TapeSession'>, 'dataset' | 'sketch'>;

/** The tapes of symbols' sessions; absent for those without. */
export async function storedTapes({ prisma }: Transaction, { dataset, ...of }: TapeSessions): Promise<StoredTape[]> {
  const select = { symbol: true, sessionDate: true, prints: true };
  return prisma.tapeSession.findMany({ where: { dataset, ...ofSessions(of) }, select });
}

/** Sketch of the prints of a symbol's tape; null = none. */
export async function tapeSketch(
  { prisma }: Transaction,
  dataset: TapeDataset,
  symbol: string,
  sessionDate: SessionDate,
): Promise<Uint8Array | null> {
  const key = { symbol, sessionDate, dataset };
  const where = { symbol_sessionDate_dataset: key };
  return (await prisma.tapeSession.findUnique({ where, select: { sketch: true } }))?.sketch ?? null;
}

/** Records the tapes behind sessions. */
export async function saveTapes(tx: Transaction, tapes: readonly Row<'TapeSession'>[]): Promise<void> {
  if (tapes.length > 0) await upsertRows(tx, 'TapeSession', tapes);
}

/** Size of the stored data of symbols' sessions without a tape. */
export interface OtherContents {
  symbol: string;
  sessionDate: SessionDate;
  /** Number of minute bars of a stock, or of contracts with bars of an underlying. */
  count: number;
}

/** Numbers of minute bars of stocks' sessions. */
export async function minuteBarCounts({ prisma }: Transaction, of: Omit<TapeSessions, 'dataset'>) {
  const { symbol, sessionDate: spanStart } = ofSessions(of);
  const rows = await prisma.barBlock.findMany({
    where: { symbol, timeframe: '1m', spanStart },
    select: { symbol: true, spanStart: true, count: true },
  });
  return rows.map(({ symbol, spanStart: sessionDate, count }): OtherContents => ({ symbol, sessionDate, count }));
}

/** Numbers of contracts with bars of underlyings' sessions. */
export async function contractCounts({ prisma }: Transaction, of: Omit<TapeSessions, 'dataset'>) {
  const { symbol: underlying, sessionDate } = ofSessions(of);
  const rows = await prisma.optionBarBlock.groupBy({
    by: ['underlying', 'sessionDate', 'contract'],
    where: { underlying, sessionDate },
  });
  const counts = new Map<string, OtherContents>();
  for (const { underlying: symbol, sessionDate } of rows) {
    const key = `${symbol} ${sessionDate}`;
    const known = counts.get(key);
    if (known) known.count++;
    else counts.set(key, { symbol, sessionDate, count: 1 });
  }
  return [...counts.values()];
}

/** Sessions of underlyings whose prints were observed until now: of a live tape, or of a file of one in progress. */
export async function observedSessions({ prisma }: Transaction, of: Omit<TapeSessions, 'dataset'>) {
  const { symbol: underlying, sessionDate } = ofSessions(of);
  const rows = await prisma.flowCoverage.findMany({
    where: { underlying, sessionDate, status: 'observed_live' },
    select: { underlying: true, sessionDate: true },
  });
  return rows.map(({ underlying: symbol, sessionDate }) => ({ symbol, sessionDate }));
}

/** Waiting prints of a symbol's session. `keptAtMs` is epoch ms. */
export type Remainder = Omit<Row<'TapeRemainder'>, 'dataset'>;

/** The waiting prints of symbols' sessions, by symbol and content. */
export async function remaindersOf({ prisma }: Transaction, { dataset, ...of }: TapeSessions): Promise<Remainder[]> {
  const rows = await prisma.tapeRemainder.findMany({
    where: { dataset, ...ofSessions(of) },
    orderBy: [{ symbol: 'asc' }, { sessionDate: 'asc' }, { version: 'asc' }],
    omit: { dataset: true },
  });
  return rows.map((row) => ({ ...numbered(row), payload: row.payload }));
}

/** Stores prints until the tape of their session is stored. */
export async function keepRemainders(tx: Transaction, dataset: TapeDataset, rows: readonly Remainder[]): Promise<void> {
  if (rows.length > 0)
    await upsertRows(
      tx,
      'TapeRemainder',
      rows.map((row) => ({ ...row, dataset })),
    );
}

/** Deletes prints that were stored before an instant, epoch ms. */
export async function pruneRemainders({ prisma }: Transaction, beforeMs: number): Promise<void> {
  await prisma.tapeRemainder.deleteMany({ where: { keptAtMs: { lt: beforeMs } } });
}
