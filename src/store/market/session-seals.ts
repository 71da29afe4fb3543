import type { SessionDate } from '../../core/domain/market-time.ts';
import type { Store } from '../rows/connection.ts';
import { lockShared, tryLock } from '../rows/locks.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { insertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import type { Transaction } from '../rows/transaction.ts';

/** The scope of a seal on a whole session, for all symbols. */
export const wholeSession = '*';

const lockKey = 'session_seals';

/** Thrown before a sealed session is written; the message names it and the remedy. */
export class SessionSealed extends Error {
  override readonly name = 'SessionSealed';

  constructor(session: SessionDate, symbol: string) {
    const of = symbol === wholeSession ? '' : ` for ${symbol}`;
    super(`${session} is sealed${of} and cannot be changed; to unseal it: seal --session ${session} --undo`);
  }
}

/** A symbol's session that is about to be written. */
export interface SymbolSession {
  symbol: string;
  sessionDate: SessionDate;
}

/**
 * The sealed ones of these, with the scope of the seal. The result is valid until the transaction ends: sealing waits
 * for transactions that called this, and this waits for sealing in progress.
 */
async function sealsOf(
  tx: Transaction,
  sessions: readonly SymbolSession[],
): Promise<(SymbolSession & { scope: string })[]> {
  await lockShared(tx, lockKey);
  const seals = await tx.prisma.sessionSeal.findMany({
    where: { sessionDate: anyOf(sessions.map(({ sessionDate }) => sessionDate)) },
    select: { symbol: true, sessionDate: true },
  });
  const sealed = new Set(seals.map(({ symbol, sessionDate }) => `${symbol} ${sessionDate}`));
  return sessions.flatMap((session) =>
    [session.symbol, wholeSession]
      .filter((scope) => sealed.has(`${scope} ${session.sessionDate}`))
      .map((scope) => ({ ...session, scope })),
  );
}

/**
 * Throws `SessionSealed` if one of these is sealed; otherwise none can be until the transaction ends. Call it before
 * they are written.
 */
export async function rejectSealed(tx: Transaction, sessions: readonly SymbolSession[]): Promise<void> {
  const [first] = await sealsOf(tx, sessions);
  if (first) throw new SessionSealed(first.sessionDate, first.scope);
}

/** The sealed symbols in a session, for a writer that skips them. */
export async function sealedSymbols(
  tx: Transaction,
  sessionDate: SessionDate,
  symbols: readonly string[],
): Promise<Set<string>> {
  const sealed = await sealsOf(
    tx,
    symbols.map((symbol) => ({ symbol, sessionDate })),
  );
  return new Set(sealed.map(({ symbol }) => symbol));
}

/** A symbol's range of sessions, both ends included. */
export interface SymbolSpan {
  symbol: string;
  from: SessionDate;
  to: SessionDate;
}

/** The sealed sessions in these spans. The result is valid until the transaction ends. */
export async function sealedSessions(tx: Transaction, spans: readonly SymbolSpan[]): Promise<SymbolSession[]> {
  await lockShared(tx, lockKey);
  const first = spans.map(({ from }) => from).sort()[0];
  const last = spans
    .map(({ to }) => to)
    .sort()
    .at(-1);
  if (first === undefined || last === undefined) return [];
  const seals = await tx.prisma.sessionSeal.findMany({
    where: { sessionDate: { gte: first, lte: last } },
    select: { symbol: true, sessionDate: true },
  });
  const sealed = spans.flatMap(({ symbol, from, to }) =>
    seals
      .filter((seal) => seal.symbol === symbol || seal.symbol === wholeSession)
      .filter(({ sessionDate }) => sessionDate >= from && sessionDate <= to)
      .map(({ sessionDate }) => ({ symbol, sessionDate })),
  );
  return [...new Map(sealed.map((each) => [`${each.symbol} ${each.sessionDate}`, each])).values()];
}

/**
 * True if no writer is active, and none can start before the transaction ends. A sealing process polls it, so that
 * others do not queue behind it.
 */
export function tryHoldSeals(tx: Transaction): Promise<boolean> {
  return tryLock(tx, lockKey);
}

/** Notes that answers may say otherwise whether something is sealed. */
function noteSealed(tx: Transaction, scopes: readonly string[]): void {
  for (const scope of scopes) tx.changes.add('provenance', scope === wholeSession ? null : scope);
}

/** Seals scopes of a session, in a transaction that holds the seals; how many were not sealed before. */
export async function saveSeals(
  tx: Transaction,
  sessionDate: SessionDate,
  scopes: readonly string[],
  nowMs: number,
): Promise<number> {
  const rows = scopes.map((symbol) => ({ symbol, sessionDate, sealedAtMs: nowMs }));
  noteSealed(tx, scopes);
  return insertRows(tx, 'SessionSeal', rows);
}

/**
 * Removes the seals of scopes of a session, all of them if `scopes` is null, in a transaction that holds the seals.
 * Returns the removed ones.
 */
export async function removeSeals(
  tx: Transaction,
  sessionDate: SessionDate,
  scopes: readonly string[] | null,
): Promise<string[]> {
  const where = { sessionDate, ...(scopes && { symbol: anyOf(scopes) }) };
  const sealed = await tx.prisma.sessionSeal.findMany({ where, select: { symbol: true }, orderBy: { symbol: 'asc' } });
  await tx.prisma.sessionSeal.deleteMany({ where });
  noteSealed(
    tx,
    sealed.map(({ symbol }) => symbol),
  );
  return sealed.map(({ symbol }) => symbol);
}

/** A seal, on a ticker or `*` for the whole session; `sealedAtMs` is epoch ms. */
export type Seal = { session: SessionDate } & Omit<Row<'SessionSeal'>, 'sessionDate'>;

/** Every seal, by session and symbol. */
export async function listSeals(store: Store): Promise<Seal[]> {
  const rows = await store.prisma.sessionSeal.findMany({ orderBy: [{ sessionDate: 'asc' }, { symbol: 'asc' }] });
  return rows.map(numbered).map(({ sessionDate: session, ...seal }) => ({ session, ...seal }));
}

/** The stored data of a symbol in a session. */
export interface StoredSession {
  symbol: string;
  /** True for option flow or bars; and true if some of it was observed live and not reconciled. */
  options: boolean;
  live: boolean;
  /** True for a stock tape, detected by its off-exchange figures; bars may have other sources. */
  stockTape: boolean;
  stockBars: boolean;
  chains: boolean;
}

const nothing = { options: false, live: false, stockTape: false, stockBars: false, chains: false };

/** The stored data of a session, by symbol; only of `symbols` unless null. */
export async function storedSession(
  { prisma }: Transaction,
  sessionDate: SessionDate,
  symbols: readonly string[] | null,
): Promise<StoredSession[]> {
  const found = new Map<string, StoredSession>();
  const add = (symbol: string, what: Partial<StoredSession>) =>
    found.set(symbol, { ...(found.get(symbol) ?? { symbol, ...nothing }), ...what });
  const options = (rows: { underlying: string; status: string }[]) => {
    for (const { underlying, status } of rows)
      add(underlying, { options: true, ...(status !== 'eod_reconciled' && { live: true }) });
  };
  const underlying = symbols && { underlying: anyOf(symbols) };
  const symbol = symbols && { symbol: anyOf(symbols) };
  const ofUnderlying = { where: { sessionDate, ...underlying }, select: { underlying: true } };
  options(await prisma.flowCoverage.findMany({ ...ofUnderlying, select: { underlying: true, status: true } }));
  const bars = await prisma.optionBarBlock.groupBy({ by: ['underlying', 'status'], where: ofUnderlying.where });
  options(bars);
  const ofSymbol = { where: { sessionDate, ...symbol }, select: { symbol: true } };
  for (const row of await prisma.offExchangeSession.findMany(ofSymbol)) add(row.symbol, { stockTape: true });
  const ofBars = { spanStart: sessionDate, timeframe: { in: ['1s', '1m', '5m', 'unpriced'] }, ...symbol };
  for (const row of await prisma.barBlock.groupBy({ by: ['symbol'], where: ofBars }))
    add(row.symbol, { stockBars: true });
  const captures = await prisma.chainCapture.groupBy({ by: ['underlying'], where: ofUnderlying.where });
  for (const row of captures) add(row.underlying, { chains: true });
  for (const row of await prisma.openInterestBlock.findMany(ofUnderlying)) add(row.underlying, { chains: true });
  return [...found.values()].sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
}

/** When symbols' sessions were sealed, or the sessions as a whole, epoch ms, in their order; null = they are not. */
export async function sealTimes(
  { prisma }: Pick<Reader, 'prisma'>,
  sessions: readonly SymbolSession[],
): Promise<(number | null)[]> {
  const rows = await prisma.sessionSeal.findMany({
    where: {
      symbol: anyOf([wholeSession, ...sessions.map(({ symbol }) => symbol)]),
      sessionDate: anyOf(sessions.map(({ sessionDate }) => sessionDate)),
    },
  });
  const known = new Map(rows.map(numbered).map((seal) => [`${seal.symbol} ${seal.sessionDate}`, seal.sealedAtMs]));
  return sessions.map(
    ({ symbol, sessionDate }) =>
      known.get(`${symbol} ${sessionDate}`) ?? known.get(`${wholeSession} ${sessionDate}`) ?? null,
  );
}
