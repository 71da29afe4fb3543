import type { SessionDate } from '../domain/market-time.ts';
import type { Store } from './connection.ts';
import { decodeQuotes, encodeQuotes, type QuoteBlock, type QuoteColumns } from './quote-block.ts';
import type { Transaction } from './transaction.ts';

/** Quotes in a part of a contract's session: bounds what is held while one is packed or unpacked. */
export const quotesInPart = 65_536;

const lockKey = `hashtextextended('option_quote_blocks', 0)`;

/** Takes the stored quotes for one that writes them, until its transaction ends. */
export async function lockOptionQuotes(tx: Transaction): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(${lockKey})`);
}

/** Keeps the stored quotes as they are until the transaction ends, for one that makes something of them. */
export async function holdOptionQuotes(tx: Transaction): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock_shared(${lockKey})`);
}

/** A part of a contract's quotes in a session, to be written. */
export interface QuotePart extends QuoteBlock {
  underlying: string;
  sessionDate: SessionDate;
  /** Contract path form: `O:` and the OSI symbol. */
  contract: string;
  /** From 0, and whether the contract's session has no further one. */
  part: number;
  last: boolean;
}

/** Packs a part. */
export function quotePart(part: Omit<QuotePart, keyof QuoteBlock>, quotes: QuoteColumns): QuotePart {
  return { ...part, ...encodeQuotes(quotes) };
}

const keyColumns = (parts: readonly QuotePart[]) => [
  parts.map((each) => each.underlying),
  parts.map((each) => each.sessionDate),
  parts.map((each) => each.contract),
  parts.map((each) => each.part),
];
const keys = 'unnest($1::text[], $2::text[], $3::text[], $4::int[]) AS w(underlying, session_date, contract, part)';
const sameContract =
  'b.underlying = w.underlying AND b.session_date = w.session_date AND b.contract = w.contract AND b.part';

/** Of whose quotes something was written or taken out. */
export type ChangedQuotes = Pick<QuotePart, 'underlying' | 'sessionDate'>;

/**
 * Writes parts in place of those stored, in a transaction that holds `lockOptionQuotes`; what lies beyond a contract's last part is taken
 * out. Returns an item for each part that is new, different or gone.
 */
export async function saveQuoteParts(tx: Transaction, parts: readonly QuotePart[]): Promise<ChangedQuotes[]> {
  const { rows } = await tx.query<{ place: number }>({
    name: 'known-quote-parts',
    text: `SELECT w.place FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[])
             WITH ORDINALITY AS w(underlying, session_date, contract, part, version, place)
           JOIN option_quote_blocks b ON ${sameContract} = w.part AND b.version = w.version`,
    values: [...keyColumns(parts), parts.map((each) => each.version)],
  });
  const known = new Set(rows.map(({ place }) => Number(place) - 1));
  const changed = parts.filter((_, i) => !known.has(i));
  await tx.query({
    name: 'save-quote-parts',
    text: `INSERT INTO option_quote_blocks (underlying, session_date, contract, part, first_ts_ms, count, version, payload)
           SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::int[], $7::text[], $8::bytea[])
           ON CONFLICT (underlying, session_date, contract, part) DO UPDATE SET first_ts_ms = excluded.first_ts_ms,
             count = excluded.count, version = excluded.version, payload = excluded.payload`,
    values: [
      ...keyColumns(changed),
      changed.map((each) => each.firstTsMs),
      changed.map((each) => each.count),
      changed.map((each) => each.version),
      changed.map((each) => each.payload),
    ],
  });
  const gone = await tx.query<ChangedQuotes>({
    name: 'remove-further-quote-parts',
    text: `DELETE FROM option_quote_blocks b USING ${keys} WHERE ${sameContract} > w.part
           RETURNING b.underlying, b.session_date AS "sessionDate"`,
    values: keyColumns(parts.filter((each) => each.last)),
  });
  return [...changed, ...gone.rows];
}

/** What is looked for: contracts (`O:…`) with their underlyings, in sessions from one to another, both included. */
export interface WantedQuotes {
  contracts: readonly { id: string; underlying: { symbol: string } }[];
  from: SessionDate;
  to: SessionDate;
}

// Parts asked for at a time: some megabytes.
const partsAtOnce = 8;

/** The stored quotes of contracts, a part after the other, contracts in any order. One reading at a time in a transaction. */
export async function* readQuotes(
  tx: Transaction,
  { contracts, from, to }: WantedQuotes,
): AsyncGenerator<{ contract: string; quotes: QuoteColumns }> {
  await tx.query(
    `DECLARE stored_quotes NO SCROLL CURSOR FOR SELECT b.contract, b.first_ts_ms, b.payload
     FROM unnest($1::text[], $2::text[]) AS w(underlying, contract)
     JOIN option_quote_blocks b ON b.underlying = w.underlying AND b.contract = w.contract AND b.session_date BETWEEN $3 AND $4`,
    [contracts.map(({ underlying }) => underlying.symbol), contracts.map(({ id }) => id), from, to],
  );
  for (;;) {
    const { rows } = await tx.query<{ contract: string; first_ts_ms: number; payload: Buffer }>(
      `FETCH ${partsAtOnce} FROM stored_quotes`,
    );
    for (const row of rows)
      yield { contract: row.contract, quotes: decodeQuotes(row.payload, Number(row.first_ts_ms)) };
    if (rows.length < partsAtOnce) break;
  }
  await tx.query('CLOSE stored_quotes');
}

/** What is stored of an underlying's quotes in a session. */
export interface StoredQuotes {
  session: SessionDate;
  underlying: string;
  contracts: number;
  quotes: number;
  /** Bytes of the packed quotes. */
  bytes: number;
}

/** What quotes are stored, by session and underlying. */
export async function listQuotes(store: Store): Promise<StoredQuotes[]> {
  const { rows } = await store.pool.query<StoredQuotes>(
    `SELECT session_date AS session, underlying, count(DISTINCT contract) AS contracts, sum(count)::bigint AS quotes,
       sum(octet_length(payload))::bigint AS bytes
     FROM option_quote_blocks GROUP BY session_date, underlying ORDER BY session_date, underlying`,
  );
  return rows;
}

/** Removes the quotes of sessions before one, and returns how many there were. */
export async function dropQuotes(tx: Transaction, before: SessionDate): Promise<number> {
  await lockOptionQuotes(tx);
  const { rows } = await tx.query<{ quotes: number }>(
    `WITH gone AS (DELETE FROM option_quote_blocks WHERE session_date < $1 RETURNING count)
     SELECT coalesce(sum(count), 0)::bigint AS quotes FROM gone`,
    [before],
  );
  return Number(rows[0]!.quotes);
}
