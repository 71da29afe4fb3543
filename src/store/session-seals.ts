import type pg from 'pg';
import type { SessionDate } from '../domain/market-time.ts';
import type { Store } from './connection.ts';
import type { Transaction } from './transaction.ts';

/** The scope of a seal on a whole session, whatever the symbol. */
export const wholeSession = '*';

const lockKey = `hashtextextended('session_seals', 0)`;

/** Something of a sealed session would have been written; the message says which and what can be done. */
export class SessionSealed extends Error {
  override readonly name = 'SessionSealed';

  constructor(session: SessionDate, symbol: string) {
    const of = symbol === wholeSession ? '' : ` for ${symbol}`;
    super(
      `${session} is sealed${of}: nothing of it is written unless the seal is undone (seal --session ${session} --undo)`,
    );
  }
}

/** A symbol's session, of which something is about to be written. */
export interface SymbolSession {
  symbol: string;
  sessionDate: SessionDate;
}

/**
 * Which of these are sealed. The answer holds until the transaction ends: whoever seals waits for those that have asked, and those that ask
 * wait for whoever seals.
 */
async function sealsOf(
  tx: Transaction,
  sessions: readonly SymbolSession[],
): Promise<(SymbolSession & { scope: string })[]> {
  await tx.query(`SELECT pg_advisory_xact_lock_shared(${lockKey})`);
  const { rows } = await tx.query<SymbolSession & { scope: string }>({
    name: 'seals-of',
    text: `SELECT w.symbol, w.session_date AS "sessionDate", s.symbol AS scope
           FROM unnest($1::text[], $2::text[]) AS w(symbol, session_date)
           JOIN session_seals s ON s.session_date = w.session_date AND s.symbol IN (w.symbol, '${wholeSession}')`,
    values: [sessions.map(({ symbol }) => symbol), sessions.map(({ sessionDate }) => sessionDate)],
  });
  return rows;
}

/** Throws `SessionSealed` when one of these is sealed; else none is until the transaction ends. To be asked before they are written. */
export async function refuseSealed(tx: Transaction, sessions: readonly SymbolSession[]): Promise<void> {
  const [first] = await sealsOf(tx, sessions);
  if (first) throw new SessionSealed(first.sessionDate, first.scope);
}

/** Which of these symbols are sealed in a session, for a writer that passes over them. */
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

/** A symbol's sessions from one to another, both included. */
export interface SymbolSpan {
  symbol: string;
  from: SessionDate;
  to: SessionDate;
}

/** Which sessions in these spans are sealed. The answer holds until the transaction ends. */
export async function sealedSessions(tx: pg.ClientBase, spans: readonly SymbolSpan[]): Promise<SymbolSession[]> {
  await tx.query(`SELECT pg_advisory_xact_lock_shared(${lockKey})`);
  const { rows } = await tx.query<SymbolSession>({
    name: 'sealed-sessions',
    text: `SELECT DISTINCT w.symbol, s.session_date AS "sessionDate"
           FROM unnest($1::text[], $2::text[], $3::text[]) AS w(symbol, first, last)
           JOIN session_seals s ON s.session_date BETWEEN w.first AND w.last AND s.symbol IN (w.symbol, '${wholeSession}')`,
    values: [spans.map(({ symbol }) => symbol), spans.map(({ from }) => from), spans.map(({ to }) => to)],
  });
  return rows;
}

/** Whether no writer is at work, and none comes before the transaction ends. Asked again and again by who would seal, so that nobody waits behind it. */
export async function tryHoldSeals(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.query<{ held: boolean }>(`SELECT pg_try_advisory_xact_lock(${lockKey}) AS held`);
  return rows[0]!.held;
}

/** Seals scopes of a session, in a transaction that holds the seals; how many were not sealed before. */
export async function saveSeals(
  tx: Transaction,
  session: SessionDate,
  scopes: readonly string[],
  nowMs: number,
): Promise<number> {
  const { rowCount } = await tx.query(
    `INSERT INTO session_seals (symbol, session_date, sealed_at_ms) SELECT symbol, $2, $3 FROM unnest($1::text[]) AS w(symbol)
     ON CONFLICT DO NOTHING`,
    [scopes, session, nowMs],
  );
  return rowCount ?? 0;
}

/** Undoes the seals of scopes of a session, all of them when `scopes` is null; those that were sealed. */
export async function removeSeals(
  tx: Transaction,
  session: SessionDate,
  scopes: readonly string[] | null,
): Promise<string[]> {
  const { rows } = await tx.query<{ symbol: string }>(
    'DELETE FROM session_seals WHERE session_date = $1 AND ($2::text[] IS NULL OR symbol = ANY($2)) RETURNING symbol',
    [session, scopes],
  );
  return rows.map(({ symbol }) => symbol).sort();
}

/** A seal. */
export interface Seal {
  session: SessionDate;
  /** A ticker, or `*` for the whole session. */
  symbol: string;
  /** Epoch ms. */
  sealedAtMs: number;
}

/** Every seal, by session and symbol. */
export async function listSeals(store: Store): Promise<Seal[]> {
  const { rows } = await store.pool.query<Seal>(
    `SELECT session_date AS session, symbol, sealed_at_ms AS "sealedAtMs" FROM session_seals ORDER BY session_date, symbol`,
  );
  return rows;
}

/** What is stored of a symbol in a session. */
export interface StoredSession {
  symbol: string;
  /** Option flow or bars; and some of it was observed live and not reconciled. */
  options: boolean;
  live: boolean;
  /** The stock tape, by its off-exchange figures; bars may be of other sources. */
  stockTape: boolean;
  stockBars: boolean;
  chains: boolean;
}

/** What is stored of a session, by symbol; of `symbols` alone unless null. */
export async function storedSession(
  tx: Transaction,
  session: SessionDate,
  symbols: readonly string[] | null,
): Promise<StoredSession[]> {
  const { rows } = await tx.query<StoredSession>(
    `SELECT symbol, bool_or(kind = 'options') AS options, bool_or(live) AS live, bool_or(kind = 'tape') AS "stockTape",
       bool_or(kind = 'bars') AS "stockBars", bool_or(kind = 'chains') AS chains
     FROM (
       SELECT underlying AS symbol, 'options' AS kind, status <> 'eod_reconciled' AS live FROM flow_coverage WHERE session_date = $1
       UNION ALL SELECT underlying, 'options', status <> 'eod_reconciled' FROM option_bar_blocks WHERE session_date = $1
       UNION ALL SELECT symbol, 'tape', false FROM off_exchange_levels WHERE session_date = $1
       UNION ALL SELECT symbol, 'bars', false FROM bar_blocks WHERE span_start = $1 AND timeframe IN ('1s', '1m', '5m')
       UNION ALL SELECT underlying, 'chains', false FROM chain_captures WHERE session_date = $1
       UNION ALL SELECT underlying, 'chains', false FROM open_interest_blocks WHERE session_date = $1
     ) AS found WHERE $2::text[] IS NULL OR symbol = ANY($2) GROUP BY symbol ORDER BY symbol`,
    [session, symbols],
  );
  return rows;
}
