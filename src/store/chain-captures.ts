import type { ChainCapture, ChainRow } from '../domain/chain.ts';
import { dateOfEpochDay, epochDay, exchangeDate, exchangeInstant, type SessionDate } from '../domain/market-time.ts';
import { nextTurn } from '../domain/turn.ts';
import { blockVersion } from './bar-blocks.ts';
import { decodeBlock, encodeBlock, layoutOf, numbers, texts } from './codec.ts';
import { readFrom, type Store } from './connection.ts';
import { openInterestExpiries } from './open-interest.ts';
import type { Transaction } from './transaction.ts';

/** An underlying, and the instant (epoch ms) at or before which its last capture is wanted. */
export interface ChainMoment {
  underlying: string;
  atMs: number;
}

const measures = [
  'openInterest',
  'volume',
  'bid',
  'ask',
  'last',
  'fmv',
  'iv',
  'delta',
  'gamma',
  'theta',
  'vega',
] as const satisfies readonly (keyof ChainRow)[];

/** A chain's rows as a column block. */
function encodeRows(rows: readonly ChainRow[]): Uint8Array {
  const number = (read: (row: ChainRow) => number | null) => Float64Array.from(rows, (row) => read(row) ?? Number.NaN);
  const days = new Map([...new Set(rows.map((row) => row.expiry))].map((expiry) => [expiry, epochDay(expiry)]));
  return encodeBlock({
    root: rows.map((row) => row.root),
    expiry: number((row) => days.get(row.expiry)!),
    put: number((row) => (row.right === 'put' ? 1 : 0)),
    strike: number((row) => row.strike),
    sharesPerContract: number((row) => row.sharesPerContract),
    ...Object.fromEntries(measures.map((name) => [name, number((row) => row[name])])),
  });
}

/** Rows that are made before others get their turn: about 2 ms of work. */
const rowsATurn = 4000;

async function decodeRows(payload: Uint8Array): Promise<ChainRow[]> {
  const columns = decodeBlock(payload);
  const column = (name: string) => numbers(columns, name);
  const [root, expiry, put, strike] = [texts(columns, 'root'), column('expiry'), column('put'), column('strike')];
  const shares = column('sharesPerContract');
  const measured = measures.map((name) => [name, column(name)] as const);
  const dates = new Map(Array.from(new Set(expiry), (day) => [day, dateOfEpochDay(day)]));
  const rows = new Array<ChainRow>(root.length);
  for (let i = 0; i < rows.length; i++) {
    const right = put[i] === 1 ? 'put' : 'call';
    const row: Record<string, unknown> = { root: root[i], expiry: dates.get(expiry[i]!), right, strike: strike[i] };
    for (const [name, values] of measured) row[name] = Number.isNaN(values[i]) ? null : values[i];
    row.sharesPerContract = shares[i];
    rows[i] = row as unknown as ChainRow;
    if ((i + 1) % rowsATurn === 0) await nextTurn();
  }
  return rows;
}

/** The columns of which a contract's line is made. */
export const lineColumns = ['volume', 'bid', 'ask', 'last', 'iv', 'delta', 'gamma', 'vega'] as const;
/** The columns that say which contract a row is of; they come first in a block. */
const listingColumns = ['root', 'expiry', 'put', 'strike'] as const;

/** Which contracts a block lists in which order, as a hash, and where the values of their lines lie. */
function cutsOf(payload: Uint8Array): { listing: string; layout: string } {
  const strike = layoutOf(payload, listingColumns).at(-1)!;
  const length = new DataView(payload.buffer, payload.byteOffset).getUint32(4, true);
  const listed = payload.subarray(0, strike.at + strike.bytes * length);
  return { listing: blockVersion(listed), layout: JSON.stringify(layoutOf(payload, lineColumns)) };
}

/** Writes a capture whole, inside the caller's transaction; one of the same instant is replaced. False when it was there already, equal. */
export async function saveChainCapture(tx: Transaction, capture: ChainCapture): Promise<boolean> {
  const payload = Buffer.from(encodeRows(capture.rows));
  const expirations = [...new Set(capture.rows.map((row) => row.expiry))].sort().map(epochDay);
  const facts = [capture.sessionDate, capture.spot, capture.priorCloseSpot, capture.partial, capture.rows.length];
  const version = blockVersion(Buffer.concat([Buffer.from(JSON.stringify(facts)), payload]));
  const { listing, layout } = cutsOf(payload);
  const { rowCount } = await tx.query(
    `INSERT INTO chain_captures (underlying, captured_at, session_date, spot, prior_close_spot, partial, row_count, expirations, version, payload, listing, layout)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (underlying, captured_at) DO UPDATE SET session_date = excluded.session_date, spot = excluded.spot,
       prior_close_spot = excluded.prior_close_spot, partial = excluded.partial, row_count = excluded.row_count,
       expirations = excluded.expirations, version = excluded.version, payload = excluded.payload,
       listing = excluded.listing, layout = excluded.layout
     WHERE chain_captures.version <> excluded.version`,
    [capture.underlying, capture.capturedAt, ...facts, expirations, version, payload, listing, layout],
  );
  return rowCount === 1;
}

// The last capture at or before each moment; `columns` are of chain_captures c.
const lastAtMoments = (columns: string) =>
  `SELECT wanted.moment, c.* FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS wanted(underlying, at_ms, moment)
   CROSS JOIN LATERAL (SELECT ${columns} FROM chain_captures c WHERE c.underlying = wanted.underlying AND c.captured_at <= wanted.at_ms
     ORDER BY c.captured_at DESC LIMIT 1) c`;

const factColumns = `c.underlying, c.captured_at AS "capturedAt", c.session_date AS "sessionDate", c.spot,
  c.prior_close_spot AS "priorCloseSpot", c.partial, c.version`;

type Facts = Omit<ChainCapture, 'rows'> & { version: string };

const cacheKey = ({ underlying, capturedAt, version }: Facts) => `chain:${underlying}:${capturedAt}:${version}`;

/** Bytes a decoded row takes, about. */
const rowBytes = 250;

async function readMissing(store: Store, missing: readonly Facts[]): Promise<Map<string, ChainCapture>> {
  const read = new Map<string, ChainCapture>();
  if (missing.length === 0) return read;
  // Facts are read again with the payload: a capture rewritten in between must not be half old, half new.
  const { rows } = await readFrom(store).query<Facts & { payload: Buffer }>({
    name: 'chain-capture-payloads',
    text: `SELECT ${factColumns}, c.payload FROM unnest($1::text[], $2::bigint[]) AS wanted(underlying, captured_at)
           JOIN chain_captures c ON c.underlying = wanted.underlying AND c.captured_at = wanted.captured_at`,
    values: [missing.map((facts) => facts.underlying), missing.map((facts) => facts.capturedAt)],
  });
  for (const { payload, ...facts } of rows) {
    const { version: _, ...rest } = facts;
    const capture: ChainCapture = { ...rest, rows: await decodeRows(payload) };
    store.blocks.set(cacheKey(facts), capture, capture.rows.length * rowBytes + 100);
    read.set(`${facts.underlying} ${facts.capturedAt}`, capture);
    await nextTurn();
  }
  return read;
}

/**
 * The last capture at or before each moment, in the order of `moments`; null where there is none. Two statements, one when
 * all are cached. A capture is shared by its readers and must not be changed.
 */
export async function chainCapturesAt(store: Store, moments: readonly ChainMoment[]): Promise<(ChainCapture | null)[]> {
  const { rows } = await readFrom(store).query<Facts & { moment: number }>({
    name: 'chain-captures-at',
    text: lastAtMoments(factColumns),
    values: [moments.map(({ underlying }) => underlying), moments.map(({ atMs }) => atMs)],
  });
  const cached = rows.map((facts) => store.blocks.get<ChainCapture>(cacheKey(facts)));
  const distinct = new Map(rows.filter((_, i) => !cached[i]).map((facts) => [cacheKey(facts), facts]));
  const read = await readMissing(store, [...distinct.values()]);
  const found: (ChainCapture | null)[] = new Array(moments.length).fill(null);
  rows.forEach((facts, i) => {
    found[facts.moment - 1] = cached[i] ?? read.get(`${facts.underlying} ${facts.capturedAt}`) ?? null;
  });
  return found;
}

/** The last capture of an underlying at or before an instant, inside the caller's transaction; null when there is none. */
export async function chainCaptureAt(
  from: Pick<Transaction, 'query'>,
  underlying: string,
  atMs: number,
): Promise<ChainCapture | null> {
  const { rows } = await from.query<Facts & { payload: Buffer }>({
    name: 'chain-capture-at',
    text: `SELECT ${factColumns}, c.payload FROM chain_captures c WHERE c.underlying = $1 AND c.captured_at <= $2
           ORDER BY c.captured_at DESC LIMIT 1`,
    values: [underlying, atMs],
  });
  if (!rows[0]) return null;
  const { payload, version: _, ...facts } = rows[0];
  return { ...facts, rows: await decodeRows(payload) };
}

/** Whether each of these captures was given in part only, in their order; false for one that is not there. One statement. */
export async function partialChains(
  store: Store,
  captures: readonly Pick<ChainCapture, 'underlying' | 'capturedAt'>[],
): Promise<boolean[]> {
  const { rows } = await readFrom(store).query<{ partial: boolean }>({
    name: 'partial-chains',
    text: `SELECT coalesce(c.partial, false) AS partial
           FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS wanted(underlying, captured_at, place)
           LEFT JOIN chain_captures c ON c.underlying = wanted.underlying AND c.captured_at = wanted.captured_at
           ORDER BY wanted.place`,
    values: [captures.map(({ underlying }) => underlying), captures.map(({ capturedAt }) => capturedAt)],
  });
  return rows.map(({ partial }) => partial);
}

/** What is listed: expiries ascending. `capturedAt` is the chain capture's, or the start of the session whose open interest lists them. */
export interface ListedExpirations {
  capturedAt: number;
  expirations: SessionDate[];
}

interface ListedRow {
  moment: number;
  capturedAt: number | null;
  expirations: number[] | null;
  sessionDate: SessionDate | null;
  payload: Buffer | null;
}

function listedBy({ capturedAt, expirations, sessionDate, payload }: ListedRow): ListedExpirations | null {
  if (capturedAt !== null) return { capturedAt, expirations: expirations!.map(dateOfEpochDay) };
  if (sessionDate === null) return null;
  return { capturedAt: exchangeInstant(sessionDate), expirations: openInterestExpiries(payload!) };
}

/**
 * The expiries listed by the last capture at or before each moment, in the order of `moments`; where there is no capture at all,
 * those of the last open interest by then, published once a day; null where there is neither. One statement.
 */
export async function expirationsAt(
  store: Store,
  moments: readonly ChainMoment[],
): Promise<(ListedExpirations | null)[]> {
  const { rows } = await readFrom(store).query<ListedRow>({
    name: 'expirations-at',
    text: `SELECT wanted.moment, c."capturedAt", c.expirations, o.session_date AS "sessionDate", o.payload
           FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS wanted(underlying, at_ms, date, moment)
           LEFT JOIN LATERAL (
             SELECT captured_at AS "capturedAt", expirations FROM chain_captures
             WHERE underlying = wanted.underlying AND captured_at <= wanted.at_ms
             ORDER BY captured_at DESC LIMIT 1) c ON true
           LEFT JOIN LATERAL (
             SELECT session_date, payload FROM open_interest_blocks
             WHERE c."capturedAt" IS NULL AND underlying = wanted.underlying AND session_date <= wanted.date
             ORDER BY session_date DESC LIMIT 1) o ON true`,
    values: [
      moments.map(({ underlying }) => underlying),
      moments.map(({ atMs }) => atMs),
      moments.map(({ atMs }) => exchangeDate(atMs)),
    ],
  });
  const found: (ListedExpirations | null)[] = new Array(moments.length).fill(null);
  for (const row of rows) found[row.moment - 1] = listedBy(row);
  return found;
}
