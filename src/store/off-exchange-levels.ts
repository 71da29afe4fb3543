import type { SessionDate } from '../domain/market-time.ts';
import type { ConcentrationRow, ProfileRow } from '../domain/off-exchange.ts';
import { decodeBlock, encodeBlock, numbers } from './codec.ts';
import { saveConcentrationRows } from './off-exchange-writing.ts';
import type { Transaction } from './transaction.ts';

/** A price level of a session, before disclosure. */
export type PriceLevel = Omit<ProfileRow, 'date'>;

/** The version of what is stored of a session's off-exchange trading; null when nothing is. */
export async function levelsVersion(tx: Transaction, symbol: string, session: SessionDate): Promise<string | null> {
  const { rows } = await tx.query<{ version: string }>({
    name: 'off-exchange-levels-version',
    text: 'SELECT version FROM off_exchange_levels WHERE symbol = $1 AND session_date = $2',
    values: [symbol, session],
  });
  return rows[0]?.version ?? null;
}

/** Price levels as a column block. */
export function encodeLevels(levels: readonly PriceLevel[]): Uint8Array {
  const column = (name: keyof PriceLevel) => Float64Array.from(levels, (level) => level[name]);
  return encodeBlock({
    priceThousandths: column('priceThousandths'),
    volume: column('volume'),
    notional: column('notional'),
    tradeCount: column('tradeCount'),
  });
}

/** Writes a session's price levels, replacing those before. */
export async function saveLevels(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  version: string,
  payload: Uint8Array,
): Promise<void> {
  await tx.query({
    name: 'save-off-exchange-levels',
    text: `INSERT INTO off_exchange_levels (symbol, session_date, version, payload) VALUES ($1, $2, $3, $4)
           ON CONFLICT (symbol, session_date) DO UPDATE SET version = excluded.version, payload = excluded.payload`,
    values: [symbol, session, version, Buffer.from(payload)],
  });
}

/** A stored session as a concentration window sees it. */
export interface WindowSession {
  sessionDate: SessionDate;
  levels: PriceLevel[];
  /** The off-exchange vwap, dollars; null when nothing of the session is published. */
  vwap: number | null;
}

/** The stored sessions around one, ascending: up to `before` earlier ones, it, and up to `after` later ones. */
export async function readWindow(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  { before, after }: { before: number; after: number },
): Promise<WindowSession[]> {
  const { rows } = await tx.query<{ session_date: string; payload: Buffer; vwap: number | null }>({
    name: 'off-exchange-window',
    text: `SELECT l.session_date, l.payload, s.vwap FROM (
             (SELECT * FROM off_exchange_levels WHERE symbol = $1 AND session_date < $2 ORDER BY session_date DESC LIMIT $3)
             UNION ALL
             (SELECT * FROM off_exchange_levels WHERE symbol = $1 AND session_date >= $2 ORDER BY session_date LIMIT $4)
           ) AS l JOIN off_exchange_sessions s ON s.symbol = l.symbol AND s.session_date = l.session_date ORDER BY l.session_date`,
    values: [symbol, session, before, after + 1],
  });
  return rows.map(({ session_date: sessionDate, payload, vwap }) => {
    const columns = decodeBlock(payload);
    const [volume, notional, tradeCount] = ['volume', 'notional', 'tradeCount'].map((name) => numbers(columns, name));
    const levels = Array.from(numbers(columns, 'priceThousandths'), (priceThousandths, i) => ({
      priceThousandths,
      volume: volume![i]!,
      notional: notional![i]!,
      tradeCount: tradeCount![i]!,
    }));
    return { sessionDate, levels, vwap };
  });
}

/** Writes a stored session's concentration, replacing the one before; `asOfMs`: when it was computed. */
export async function saveConcentration(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  rows: readonly Omit<ConcentrationRow, 'date'>[],
  { suppressedBuckets, asOfMs }: { suppressedBuckets: number; asOfMs: number },
): Promise<void> {
  await tx.query('DELETE FROM off_exchange_concentration WHERE symbol = $1 AND session_date = $2', [symbol, session]);
  await saveConcentrationRows(tx, symbol, session, rows);
  await tx.query(
    'UPDATE off_exchange_sessions SET suppressed_buckets = $3, as_of_ms = $4 WHERE symbol = $1 AND session_date = $2',
    [symbol, session, suppressedBuckets, asOfMs],
  );
}
