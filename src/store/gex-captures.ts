import { type GexCapture, type GexColumns, type GexExpiry, gexColumnNames, gexColumns } from '../domain/gex.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from '../domain/market-time.ts';
import { nextTurn } from '../domain/turn.ts';
import { blockVersion } from './bar-blocks.ts';
import { decodeBlock, encodeBlock, numbers } from './codec.ts';
import { readFrom, type Store } from './connection.ts';
import type { Transaction } from './transaction.ts';

/** A GEX capture as it is read: its rows still columns; `byExpiry` null unless it was asked for. */
export type StoredGexCapture = Omit<GexCapture, 'strikes' | 'byExpiry'> & {
  strikes: GexColumns;
  byExpiry: GexColumns | null;
};

/** Which captures of a session: captured in [fromMs, toMs). */
export interface GexWindow {
  fromMs: number;
  toMs: number;
  byExpiry: boolean;
}

const scalars = {
  session_date: 'sessionDate',
  spot: 'spot',
  prior_close_spot: 'priorCloseSpot',
  net_gex: 'netGex',
  flip_point: 'flipPoint',
  zero_gamma: 'zeroGamma',
  call_wall: 'callWall',
  put_wall: 'putWall',
  net_vanna: 'netVanna',
  net_charm: 'netCharm',
  gamma_source: 'gammaSource',
  oi_coverage: 'oiCoverage',
  contract_count: 'contractCount',
  gamma_absent: 'gammaAbsent',
  methodology_version: 'methodologyVersion',
} as const;

const aliased = Object.entries(scalars).map(([column, name]) => `g.${column} AS "${name}"`);
const facts = ['g.underlying', 'g.captured_at AS "capturedAt"', ...aliased, 'g.version'].join(', ');

type Facts = Omit<GexCapture, 'strikes' | 'byExpiry' | 'expiries'> & { version: string };

function encodeExpiries(expiries: readonly GexExpiry[]): Uint8Array {
  const number = (read: (row: GexExpiry) => number | null) =>
    Float64Array.from(expiries, (row) => read(row) ?? Number.NaN);
  return encodeBlock({
    expiry: number((row) => epochDay(row.expiry)),
    maxPain: number((row) => row.maxPain),
    expectedMoveStraddle: number((row) => row.expectedMoveStraddle),
    expectedMoveSigma: number((row) => row.expectedMoveSigma),
    atmIv: number((row) => row.atmIv),
  });
}

function decodeExpiries(payload: Uint8Array): GexExpiry[] {
  const columns = decodeBlock(payload);
  const at = (name: string, index: number) => {
    const value = numbers(columns, name)[index]!;
    return Number.isNaN(value) ? null : value;
  };
  return Array.from(numbers(columns, 'expiry'), (day, index) => ({
    expiry: dateOfEpochDay(day),
    maxPain: at('maxPain', index),
    expectedMoveStraddle: at('expectedMoveStraddle', index),
    expectedMoveSigma: at('expectedMoveSigma', index),
    atmIv: at('atmIv', index),
  }));
}

function decodeCurve(payload: Uint8Array): GexColumns {
  const columns = decodeBlock(payload);
  return Object.fromEntries(gexColumnNames.map((name) => [name, numbers(columns, name)])) as unknown as GexColumns;
}

/** Writes a capture whole, inside the caller's transaction; one of the same instant is replaced. False when it was there already, equal. */
export async function saveGexCapture(tx: Transaction, capture: GexCapture): Promise<boolean> {
  const blocks = [
    encodeBlock({ ...gexColumns(capture.strikes) }),
    encodeBlock({ ...gexColumns(capture.byExpiry) }),
    encodeExpiries(capture.expiries),
  ].map((block) => Buffer.from(block));
  const values = Object.values(scalars).map((name) => capture[name]);
  const version = blockVersion(Buffer.concat([Buffer.from(JSON.stringify(values)), ...blocks]));
  const columns = [...Object.keys(scalars), 'version', 'strikes', 'by_expiry', 'expiries'];
  const { rowCount } = await tx.query(
    `INSERT INTO gex_captures (underlying, captured_at, ${columns.join(', ')})
     VALUES ($1, $2, ${columns.map((_, i) => `$${i + 3}`).join(', ')})
     ON CONFLICT (underlying, captured_at) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
     WHERE gex_captures.version <> excluded.version`,
    [capture.underlying, capture.capturedAt, ...values, version, ...blocks],
  );
  return rowCount === 1;
}

/** Removes the capture of an instant, inside the caller's transaction: its chain was replaced by one that gives none. True when there was one. */
export async function removeGexCapture(tx: Transaction, underlying: string, capturedAt: number): Promise<boolean> {
  const { rowCount } = await tx.query('DELETE FROM gex_captures WHERE underlying = $1 AND captured_at = $2', [
    underlying,
    capturedAt,
  ]);
  return rowCount === 1;
}

/** What is kept decoded of a capture, under its version: a rewritten capture is another entry. */
interface Curves {
  strikes: GexColumns;
  expiries: GexExpiry[];
}

const cacheKey = (what: 'net' | 'expiry', { underlying, capturedAt, version }: Facts) =>
  `gex:${what}:${underlying}:${capturedAt}:${version}`;

const bytesOf = (columns: GexColumns) => columns.strike.length * gexColumnNames.length * 8;

/** Bytes of payload that are decoded before others get their turn: about 2 ms of work. */
const turnBytes = 256 * 1024;

function fromCache(store: Store, { version, ...facts }: Facts, byExpiry: boolean): StoredGexCapture | null {
  const known = { ...facts, version };
  const curves = store.blocks.get<Curves>(cacheKey('net', known));
  const rows = byExpiry ? store.blocks.get<GexColumns>(cacheKey('expiry', known)) : null;
  return curves && rows !== undefined ? { ...facts, ...curves, byExpiry: rows } : null;
}

type PayloadRow = Facts & { strikes: Buffer; expiryRows: Buffer | null; expiries: Buffer };

function decoded(store: Store, { strikes, expiryRows, expiries, ...known }: PayloadRow): StoredGexCapture {
  const { version, ...facts } = known;
  const curves: Curves = { strikes: decodeCurve(strikes), expiries: decodeExpiries(expiries) };
  const byExpiry = expiryRows && decodeCurve(expiryRows);
  store.blocks.set(cacheKey('net', known), curves, bytesOf(curves.strikes) + curves.expiries.length * 100);
  if (byExpiry) store.blocks.set(cacheKey('expiry', known), byExpiry, bytesOf(byExpiry));
  return { ...facts, ...curves, byExpiry };
}

/** The captures of `wanted`, in its order: from the cache, the others with one statement. */
async function withCurves(store: Store, wanted: readonly Facts[], byExpiry: boolean): Promise<StoredGexCapture[]> {
  const cached = wanted.map((facts) => fromCache(store, facts, byExpiry));
  const missing = wanted.filter((_, i) => cached[i] === null);
  if (missing.length === 0) return cached as StoredGexCapture[];
  // Facts are read again with the payload: a capture rewritten in between must not be half old, half new.
  const { rows } = await readFrom(store).query<PayloadRow>({
    name: 'gex-capture-payloads',
    text: `SELECT ${facts}, g.strikes, CASE WHEN $3 THEN g.by_expiry END AS "expiryRows", g.expiries
           FROM unnest($1::text[], $2::bigint[]) AS wanted(underlying, captured_at)
           JOIN gex_captures g ON g.underlying = wanted.underlying AND g.captured_at = wanted.captured_at`,
    values: [missing.map((facts) => facts.underlying), missing.map((facts) => facts.capturedAt), byExpiry],
  });
  const read = new Map<string, StoredGexCapture>();
  let bytes = 0;
  for (const row of rows) {
    read.set(`${row.underlying} ${row.capturedAt}`, decoded(store, row));
    bytes += row.strikes.length + (row.expiryRows?.length ?? 0);
    if (bytes < turnBytes) continue;
    bytes = 0;
    await nextTurn();
  }
  return wanted.flatMap((facts, i) => cached[i] ?? read.get(`${facts.underlying} ${facts.capturedAt}`) ?? []);
}

/**
 * Captures of one session by underlying, ascending by time; an underlying without any is absent. Two statements, one when
 * all are cached.
 */
export async function gexCapturesOf(
  store: Store,
  underlyings: readonly string[],
  sessionDate: SessionDate,
  { fromMs, toMs, byExpiry }: GexWindow,
): Promise<Map<string, StoredGexCapture[]>> {
  const { rows } = await readFrom(store).query<Facts>({
    name: 'gex-captures-of-session',
    text: `SELECT ${facts} FROM gex_captures g WHERE g.underlying = ANY($1) AND g.session_date = $2
             AND g.captured_at >= $3 AND g.captured_at < $4 ORDER BY g.underlying, g.captured_at`,
    values: [underlyings, sessionDate, fromMs, toMs],
  });
  return Map.groupBy(await withCurves(store, rows, byExpiry), (capture) => capture.underlying);
}

/**
 * The last capture at or before `atMs` by underlying, of `sessionDate` only when that is given; an underlying without one is
 * absent. Two statements, one when all are cached.
 */
export async function latestGexCaptures(
  store: Store,
  underlyings: readonly string[],
  atMs: number,
  { byExpiry, sessionDate = null }: { byExpiry: boolean; sessionDate?: SessionDate | null },
): Promise<Map<string, StoredGexCapture>> {
  const { rows } = await readFrom(store).query<Facts>({
    name: 'latest-gex-captures',
    text: `SELECT g.* FROM unnest($1::text[]) AS wanted(underlying) CROSS JOIN LATERAL (
             SELECT ${facts} FROM gex_captures g WHERE g.underlying = wanted.underlying AND g.captured_at <= $2
               AND ($3::text IS NULL OR g.session_date = $3) ORDER BY g.captured_at DESC LIMIT 1) g`,
    values: [underlyings, atMs, sessionDate],
  });
  return new Map((await withCurves(store, rows, byExpiry)).map((capture) => [capture.underlying, capture]));
}

/**
 * The captures of each underlying from its instant (epoch ms, included) up to `throughMs`, ascending, at most `limit` of each; an underlying
 * without any is absent. Two statements, one when all are cached.
 */
export async function gexCapturesFrom(
  store: Store,
  from: ReadonlyMap<string, number>,
  throughMs: number,
  limit: number,
): Promise<Map<string, StoredGexCapture[]>> {
  const { rows } = await readFrom(store).query<Facts>({
    name: 'gex-captures-from',
    text: `SELECT g.* FROM unnest($1::text[], $2::bigint[]) AS wanted(underlying, from_ms) CROSS JOIN LATERAL (
             SELECT ${facts} FROM gex_captures g WHERE g.underlying = wanted.underlying
               AND g.captured_at >= wanted.from_ms AND g.captured_at <= $3 ORDER BY g.captured_at LIMIT $4) g
           ORDER BY 1, 2`,
    values: [[...from.keys()], [...from.values()], throughMs, limit],
  });
  return Map.groupBy(await withCurves(store, rows, false), (capture) => capture.underlying);
}

/** The first capture in a window by underlying; an underlying without one is absent. Two statements, one when all are cached. */
export async function firstGexCaptures(
  store: Store,
  underlyings: readonly string[],
  { fromMs, toMs, byExpiry }: GexWindow,
): Promise<Map<string, StoredGexCapture>> {
  const { rows } = await readFrom(store).query<Facts>({
    name: 'first-gex-captures',
    text: `SELECT g.* FROM unnest($1::text[]) AS wanted(underlying) CROSS JOIN LATERAL (
             SELECT ${facts} FROM gex_captures g WHERE g.underlying = wanted.underlying
               AND g.captured_at >= $2 AND g.captured_at < $3 ORDER BY g.captured_at LIMIT 1) g`,
    values: [underlyings, fromMs, toMs],
  });
  return new Map((await withCurves(store, rows, byExpiry)).map((capture) => [capture.underlying, capture]));
}
