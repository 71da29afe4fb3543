import { createHash } from 'node:crypto';
import type { StoredPricing } from '../../core/domain/chain/capture-inputs.ts';
import {
  type CaptureInstant,
  type ChainCapture,
  type ChainFile,
  type ChainRow,
  isIncomplete,
  lastOfSession,
  type SolvedGreeks,
  shownGreek,
  solveOrigins,
} from '../../core/domain/chain/chain.ts';
import { greekNames, quoteNames } from '../../core/domain/chain/chain-columns.ts';
import { contractList, expiryRights } from '../../core/domain/chain/contract-list.ts';
import { dateOfEpochDay, epochDay, exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { anyOf, findAny } from '../rows/models/any-of.ts';
import { selection } from '../rows/models/columns.ts';
import { findKnownRows } from '../rows/models/known-rows.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { deleteRows, findRows, upsertRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import { nullable, statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import {
  blockVersion,
  type Columns,
  decodeBlock,
  encodeBlock,
  known,
  layoutOf,
  measures,
  numbers,
  openBlock,
  texts,
} from '../series/codec.ts';
import { published, standing } from '../versions/published.ts';
import { type HeldKind, heldId, type Interval, readHeld, readHeldAsOf } from '../versions/versioned-cache.ts';
import { type ListedExpirations, latestOpenInterest } from './open-interest.ts';

/** An underlying, and the instant (epoch ms) as of which its last capture is read. */
export interface ChainAsOf {
  underlying: string;
  atMs: number;
}

type NumberOf = (read: (row: ChainRow) => number | null) => Float64Array;

/** The separate column of a solved greek, if any. */
const solvedColumns = {
  iv: 'solvedIv',
  delta: 'solvedDelta',
  gamma: 'solvedGamma',
  theta: 'solvedTheta',
  vega: 'solvedVega',
};

const isFilled = (row: ChainRow, name: (typeof greekNames)[number]) =>
  row[name] === null && shownGreek(row, name) !== null;

/**
 * Bits of `filled` after those of the greeks: the contract's mid is within its bounds, or outside; neither: no mid.
 * Then: filled values are computed at the source's volatility; open interest is not the source's.
 */
const [within, outside, atSourceIv, ofInterestFile] = [32, 64, 128, 256];

function furtherBits({ solved, filled, joinedInterest }: ChainRow): number {
  const bounds = solved?.withinBounds === undefined ? 0 : solved.withinBounds ? within : outside;
  return bounds + (filled === undefined ? 0 : atSourceIv) + (joinedInterest ? ofInterestFile : 0);
}

/** Meaning of the bits; undefined: none. */
export function boundsOf(filled: number): boolean | undefined {
  return filled & (within | outside) ? (filled & within) !== 0 : undefined;
}

/**
 * Encodes the greeks as shown, under their own names, for versions without solved ones. A solved capture also has the
 * origin of each volatility. `filled` marks the values of a row that are not the source's: a bit per greek, then those
 * of its bounds and of the volatility. If a greek of some contract is shown otherwise than solved, the solved ones have
 * a separate column; else the shown column contains them.
 */
function encodeGreeks(rows: readonly ChainRow[], number: NumberOf): Record<string, Float64Array> {
  const columns = Object.fromEntries(greekNames.map((name) => [name, number((row) => shownGreek(row, name))]));
  const isSolved = rows.some(({ solved }) => solved !== undefined);
  if (isSolved || rows.some(({ filled, joinedInterest }) => filled !== undefined || joinedInterest))
    columns.filled = number((row) =>
      greekNames.reduce((bits, name, i) => bits + (isFilled(row, name) ? 1 << i : 0), furtherBits(row)),
    );
  if (!isSolved) return columns;
  columns.origin = number(({ solved }) => (solved === undefined ? null : solveOrigins.indexOf(solved.origin)));
  for (const name of greekNames) {
    if (rows.every((row) => shownGreek(row, name) === (row.solved?.[name] ?? null))) continue;
    columns[solvedColumns[name]] = number(({ solved }) => solved?.[name] ?? null);
  }
  return columns;
}

/** Reads the greeks of a block's rows: the source's and, if the capture was solved, the solved ones. */
function greeksReader(columns: Columns): (row: Partial<ChainRow>, index: number) => void {
  const shown = greekNames.map((name) => [name, measures(columns, name)] as const);
  const filled = columns.filled === undefined ? null : measures(columns, 'filled');
  /** The source's greeks, and those at its volatility. */
  const readShown = (row: Partial<ChainRow>, i: number) => {
    const bits = filled?.[i] ?? 0;
    shown.forEach(([name, values], bit) => {
      const isFilledIn = ((bits >> bit) & 1) === 1;
      row[name] = isFilledIn ? null : known(values[i]!);
      if (isFilledIn && bits & atSourceIv && name !== 'iv') row.filled = { ...row.filled, [name]: values[i]! };
    });
    if (bits & ofInterestFile) row.joinedInterest = true;
  };
  if (columns.origin === undefined) return readShown;
  const origin = numbers(columns, 'origin');
  const own = shown.map(([name, values]) => {
    const column = solvedColumns[name];
    return columns[column] === undefined ? values : numbers(columns, column);
  });
  return (row, i) => {
    readShown(row, i);
    if (Number.isNaN(origin[i]!)) return;
    const solved = { origin: solveOrigins[origin[i]!]! } as SolvedGreeks;
    shown.forEach(([name], bit) => {
      solved[name] = known(own[bit]![i]!);
    });
    const withinBounds = boundsOf(filled?.[i] ?? 0);
    row.solved = withinBounds === undefined ? solved : { ...solved, withinBounds };
  };
}

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
    ...Object.fromEntries(quoteNames.map((name) => [name, number((row) => row[name])])),
    ...encodeGreeks(rows, number),
    ...(rows.some(({ part }) => part !== undefined) && { part: number((row) => row.part!) }),
  });
}

/** SHA-256 of what was read of a chain, in place of that of its file. */
export function hashOfChain({ capturedAt, spot, priorCloseSpot, rows }: ChainCapture): string {
  const hash = createHash('sha256').update(JSON.stringify([capturedAt, spot, priorCloseSpot]));
  return hash.update(encodeRows(rows)).digest('hex');
}

/** Number of rows built before a yield to the event loop: about 2 ms of work. */
const rowsPerYield = 4000;

async function decodeRows(payload: Uint8Array): Promise<ChainRow[]> {
  const columns = decodeBlock(payload);
  const column = (name: string) => numbers(columns, name);
  const [root, expiry, put, strike] = [texts(columns, 'root'), column('expiry'), column('put'), column('strike')];
  const shares = measures(columns, 'sharesPerContract');
  const measured = quoteNames.map((name) => [name, measures(columns, name)] as const);
  const readGreeks = greeksReader(columns);
  const part = columns.part === undefined ? null : numbers(columns, 'part');
  const dates = new Map(Array.from(new Set(expiry), (day) => [day, dateOfEpochDay(day)]));
  const rows = new Array<ChainRow>(root.length);
  for (let i = 0; i < rows.length; i++) {
    const right = put[i] === 1 ? 'put' : 'call';
    const row: Record<string, unknown> = { root: root[i], expiry: dates.get(expiry[i]!), right, strike: strike[i] };
    for (const [name, values] of measured) row[name] = known(values[i]!);
    readGreeks(row, i);
    row.sharesPerContract = known(shares[i]!);
    if (part !== null) row.part = part[i]!;
    rows[i] = row as unknown as ChainRow;
    if ((i + 1) % rowsPerYield === 0) await yieldToEventLoop();
  }
  return rows;
}

/** The columns of a contract's line; `filled` only of a solved capture. */
export const lineColumns = [
  'volume',
  'bid',
  'ask',
  'last',
  'iv',
  'delta',
  'gamma',
  'vega',
  'filled',
  'openInterest',
  'theta',
] as const;

/** The column of a block for a value of a line: for a solved capture, the solved one. */
export function lineColumn(block: { has(name: string): boolean }, name: (typeof lineColumns)[number]): string {
  const solved = name in solvedColumns ? solvedColumns[name as keyof typeof solvedColumns] : name;
  return block.has(solved) ? solved : name;
}
/** The columns that identify a row's contract; they come first in a block. */
const listingColumns = ['root', 'expiry', 'put', 'strike'] as const;

/** A hash of a block's contracts in order, and the layout of the values of their lines. */
function cutsOf(payload: Uint8Array): { listing: string; layout: string } {
  const strike = layoutOf(payload, listingColumns).at(-1)!;
  const length = new DataView(payload.buffer, payload.byteOffset).getUint32(4, true);
  const listed = payload.subarray(0, strike.at + strike.bytes * length);
  const block = openBlock(payload);
  const names = lineColumns.map((name) => ({ name, column: lineColumn(block, name) }));
  const present = names.filter(({ column }) => block.has(column));
  const layout = layoutOf(
    payload,
    present.map(({ column }) => column),
  );
  // Under the column names that every version cuts by.
  const named = layout.map((column, i) => ({ ...column, header: { ...column.header, name: present[i]!.name } }));
  return { listing: blockVersion(listed), layout: JSON.stringify(named) };
}

/**
 * Writes a whole capture, inside the caller's transaction, replacing one of the same instant. False if an equal one was
 * stored.
 */
export async function saveChainCapture(tx: Transaction, capture: ChainCapture): Promise<boolean> {
  const payload = Buffer.from(encodeRows(capture.rows));
  const expirations = [...new Set(capture.rows.map((row) => row.expiry))].sort().map(epochDay);
  const { underlying, capturedAt, sessionDate, spot, priorCloseSpot, partial, rate = null, delayMs = null } = capture;
  const [subset, alone, joined] = [capture.subset === true, capture.alone === true, capture.joined ?? []];
  const rowCount = capture.rows.length;
  const files = capture.files ?? null;
  // Captures of unknown delay have the version from before delays were stored; so do whole ones of one file.
  const delay = delayMs === null ? [] : [delayMs];
  const came = files?.map((each) => [each.hash, each.capturedAt, each.delayMs, each.spot, each.partial]);
  const place = { ...(joined.length > 0 && { joined }), ...(alone && { alone }), ...(came && { came }) };
  const parts = subset || Object.keys(place).length > 0 ? [{ subset, ...place }] : [];
  const pricing = capture.pricing ? JSON.stringify(capture.pricing) : null;
  const made = [...delay, ...parts, ...(pricing === null ? [] : [pricing])];
  const header = JSON.stringify([sessionDate, spot, priorCloseSpot, partial, rowCount, rate, ...made]);
  const version = blockVersion(Buffer.concat([Buffer.from(header), payload]));
  const key = { underlying, capturedAt, sessionDate };
  const openInterest = capture.rows.reduce((sum, row) => sum + (row.openInterest ?? 0), 0);
  const facts = { spot, priorCloseSpot, partial, rowCount, rate, delayMs, subset, alone, joined, openInterest };
  // The same content from another file is the same capture.
  const fileHash = capture.hash ?? capture.file?.sha256 ?? null;
  const source = { fileName: capture.file?.name ?? null, fileHash, files: files as Row<'ChainCapture'>['files'] };
  const { referenceVersion = null } = capture;
  const roots = [...new Set(capture.rows.map((row) => row.root))].sort();
  const pairs = expiryRights(contractList(capture.rows));
  const computed = { roots, referenceVersion, pricing, version, payload, ...cutsOf(payload), expiryRights: pairs };
  const row = { ...key, ...facts, ...source, expirations, ...computed };
  return (await upsertRows(tx, 'ChainCapture', [row], { ifDifferent: ['version', 'referenceVersion'] })) === 1;
}

/** Deletes the capture of an instant, inside the caller's transaction: its files are of another one. */
export async function removeChainCapture(tx: Transaction, underlying: string, capturedAt: number): Promise<void> {
  await deleteRows(tx, 'ChainCapture', { by: ['underlying', 'capturedAt'], keys: [{ underlying, capturedAt }] });
}

const headerFields = [
  'underlying',
  'capturedAt',
  'sessionDate',
  'spot',
  'priorCloseSpot',
  'partial',
  'rate',
  'version',
  'delayMs',
  'subset',
  'alone',
] as const;

/** A capture's row without its payload. */
type StoredHeader = Pick<Row<'ChainCapture'>, (typeof headerFields)[number]>;
type CaptureHeader = StoredHeader & { listed: ListedExpirations };

const lastAsOf = statement(
  'chain/chain-captures-at',
  { underlyings: 'text[]', atMs: 'int8[]' },
  {
    nth: 'int8',
    nextMs: 'int8?',
    lastMs: 'int8?',
    ...nullable({ underlying: 'text', capturedAt: 'int8', sessionDate: 'text', spot: 'float8?' }),
    ...nullable({ priorCloseSpot: 'float8?', partial: 'bool', rate: 'float8?', version: 'text' }),
    ...nullable({ delayMs: 'int4?', subset: 'bool?', alone: 'bool?', expirations: 'int4[]' }),
  },
);

const heldHeaders: HeldKind<CaptureHeader> = {
  subject: 'chain',
  name: 'chain-headers',
  bytesOf: ({ listed }) => 400 + 40 * listed.expirations.length,
};

function withListed(header: StoredHeader, expirations: readonly (number | null)[]): CaptureHeader {
  const dates = expirations.map((day) => dateOfEpochDay(day!));
  return { ...header, listed: { capturedAt: header.capturedAt, expirations: dates } };
}

/**
 * The header of the last published capture as of each instant, in order, or of the subset of exactly that instant; null
 * if there is none. One statement, none if all are cached.
 */
function headersAsOf(store: Store, times: readonly ChainAsOf[]): Promise<(CaptureHeader | null)[]> {
  const asked = times.map(({ underlying, atMs }) => ({ symbol: underlying, atMs }));
  return readHeldAsOf(store, heldHeaders, asked, async (missing) => {
    const underlyings = missing.map(({ symbol }) => symbol);
    const atMs = missing.map((each) => each.atMs);
    const rows = await lastAsOf.rows(readFrom(store, 'chain', underlyings), { underlyings, atMs });
    const intervals: Interval<CaptureHeader>[] = [];
    for (const { nth, nextMs, lastMs, expirations, ...header } of rows) {
      const value = header.capturedAt === null ? null : withListed(header as StoredHeader, expirations);
      intervals[nth - 1] = { ...standing({ ...header, nextMs, lastMs }), value };
    }
    return intervals;
  });
}

const decodePricing = (text: string | null) => (text === null ? {} : { pricing: JSON.parse(text) as StoredPricing });

const cacheKey = ({ underlying, capturedAt, version }: StoredHeader) => `chain:${underlying}:${capturedAt}:${version}`;

/** Bytes of a decoded row, measured: an object of boxed numbers. */
export const rowBytes = 740;

async function readMissing(store: Store, missing: readonly CaptureHeader[]): Promise<Map<string, ChainCapture>> {
  const read = new Map<string, ChainCapture>();
  if (missing.length === 0) return read;
  // Headers are read again with the payload: a capture rewritten in between must not be mixed.
  const keys = { by: ['underlying', 'capturedAt'] as const, keys: missing };
  const from = readFrom(store, 'chain', new Set(missing.map(({ underlying }) => underlying)));
  const rows = await findKnownRows(store, from, 'ChainCapture', keys, [...headerFields, 'pricing', 'payload']);
  for (const { payload, pricing, ...header } of rows) {
    const { version: _, ...rest } = header;
    const capture: ChainCapture = { ...rest, ...decodePricing(pricing), rows: await decodeRows(payload) };
    store.blocks.set(cacheKey(header), capture, capture.rows.length * rowBytes + 100);
    read.set(`${header.underlying} ${header.capturedAt}`, capture);
    await yieldToEventLoop();
  }
  return read;
}

/**
 * The last published capture as of each time, in the order of `times`, or the subset of exactly that time; null if
 * there is none. Two statements, none if all are cached. A capture is shared by its readers and must not be changed.
 */
export async function chainCapturesAt(store: Store, times: readonly ChainAsOf[]): Promise<(ChainCapture | null)[]> {
  const wanted = await headersAsOf(store, times);
  const cached = wanted.map((header) => header && store.blocks.get<ChainCapture>(cacheKey(header)));
  const distinct = new Map(
    wanted.flatMap((header, i) => (header === null || cached[i] ? [] : [[cacheKey(header), header] as const])),
  );
  const read = await readMissing(store, [...distinct.values()]);
  return wanted.map(
    (header, i) => header && (cached[i] ?? read.get(`${header.underlying} ${header.capturedAt}`) ?? null),
  );
}

const heldTimes: HeldKind<readonly CaptureInstant[]> = {
  subject: 'chain',
  name: 'chain-session',
  bytesOf: (instants) => 100 + 80 * instants.length,
};

/**
 * The time of the last published capture of a session (`lastOfSession`) as of each time, in order, epoch ms; null
 * without one. One statement, none if all are cached.
 */
export async function lastChainTimes(
  store: Store,
  times: readonly ChainAsOf[],
  sessionDate: SessionDate,
): Promise<(number | null)[]> {
  const asked = times.map(({ underlying }) => ({ symbol: underlying, part: sessionDate }));
  const held = await readHeld(store, heldTimes, asked, async (missing) => {
    const keys = missing.map(({ symbol }) => ({ underlying: symbol, sessionDate }));
    const from = readFrom(store, 'chain', new Set(times.map(({ underlying }) => underlying)));
    const by = { by: ['underlying', 'sessionDate'] as const, keys };
    const rows = await findRows(from, 'ChainCapture', by, [
      'underlying',
      'capturedAt',
      'delayMs',
      'sessionDate',
      'subset',
    ]);
    const whole = rows.filter(({ subset }) => subset !== true);
    return Map.groupBy(whole, ({ underlying }) => heldId({ symbol: underlying, part: sessionDate }));
  });
  return times.map(({ atMs }, i) => {
    const instants = held.get(heldId(asked[i]!)) ?? [];
    return lastOfSession(instants.filter(({ capturedAt }) => capturedAt <= atMs))?.capturedAt ?? null;
  });
}

/**
 * The capture of an underlying at exactly an instant, published or not, inside the caller's transaction; null if there
 * is none.
 */
export async function chainCaptureOf(
  from: Reader,
  underlying: string,
  capturedAt: number,
): Promise<ChainCapture | null> {
  const keys = { by: ['underlying', 'capturedAt'] as const, keys: [{ underlying, capturedAt }] };
  const inside = ['joined', 'referenceVersion', 'fileName', 'fileHash', 'files', 'pricing', 'payload'] as const;
  const [row] = await findRows(from, 'ChainCapture', keys, [...headerFields, ...inside]);
  if (!row) return null;
  const { payload, pricing, version: _, fileName: name, fileHash: hash, files: of, ...header } = row;
  const file = name === null || hash === null ? null : { name, sha256: hash };
  const files = of as unknown as ChainFile[] | null;
  return { ...header, ...decodePricing(pricing), file, hash, files, rows: await decodeRows(payload) };
}

/** When the generation began that wrote a capture, epoch ms; null = before generations were kept, or there is none. */
export async function generationOf({ pool }: Store, underlying: string, capturedAt: number): Promise<number | null> {
  const text = 'SELECT generation_ms FROM chain_captures WHERE underlying = $1 AND captured_at = $2';
  const { rows } = await pool.query<{ generation_ms: number | null }>(text, [underlying, capturedAt]);
  return rows[0]?.generation_ms ?? null;
}

/**
 * The last published capture of an underlying as of an instant, inside the caller's transaction; null if there is none.
 */
export async function chainCaptureAt(from: Reader, underlying: string, atMs: number): Promise<ChainCapture | null> {
  const last = await from.prisma.chainCapture.findFirst({
    where: { underlying, capturedAt: { lte: atMs }, ...published },
    orderBy: { capturedAt: 'desc' },
    select: { capturedAt: true },
  });
  return last && chainCaptureOf(from, underlying, numbered(last).capturedAt);
}

const heldCompleteness: HeldKind<{ isIncomplete: boolean }> = {
  subject: 'chain',
  name: 'chain-completeness',
  bytesOf: () => 100,
};

/**
 * True for each of these captures that is incomplete, in order; false for a missing one. One statement for up to 250
 * instants, none if all are cached.
 */
export async function incompleteChains(
  store: Store,
  captures: readonly Pick<ChainCapture, 'underlying' | 'capturedAt'>[],
): Promise<boolean[]> {
  const asked = captures.map(({ underlying, capturedAt }) => ({ symbol: underlying, part: String(capturedAt) }));
  const held = await readHeld(store, heldCompleteness, asked, async (missing) => {
    const underlyings = new Set(missing.map(({ symbol }) => symbol));
    const { prisma } = readFrom(store, 'chain', underlyings);
    // Reads every combination of underlying and instant: a few more than requested, at no extra cost.
    const rows = await findAny(
      missing.map(({ part }) => Number(part)),
      (capturedAt) =>
        prisma.chainCapture.findMany({
          where: { underlying: anyOf(underlyings), capturedAt },
          select: selection(['underlying', 'capturedAt', 'partial', 'subset']),
        }),
    );
    return new Map(
      rows.map((row) => [
        heldId({ symbol: row.underlying, part: String(row.capturedAt) }),
        { isIncomplete: isIncomplete(row) },
      ]),
    );
  });
  return asked.map((key) => held.get(heldId(key))?.isIncomplete ?? false);
}

/** The expiries of the last open interest as of each time; a time without any is absent. */
async function interestExpirations(
  store: Store,
  times: readonly ChainAsOf[],
): Promise<Map<ChainAsOf, ListedExpirations>> {
  const listed = new Map<ChainAsOf, ListedExpirations>();
  for (const [date, some] of Map.groupBy(times, ({ atMs }) => exchangeDate(atMs))) {
    const underlyings = some.map(({ underlying }) => underlying);
    for (const [i, interest] of (await latestOpenInterest(store, underlyings, date)).entries())
      if (interest !== null) listed.set(some[i]!, interest.listed);
  }
  return listed;
}

/**
 * The expiries listed by the last published capture as of each time, or the subset of exactly that time, in the order
 * of `times`; without a capture, those of the last open interest by then, published once a day; null if there is
 * neither. One statement, and three more for open interest; none if all are cached.
 */
export async function expirationsAt(store: Store, times: readonly ChainAsOf[]): Promise<(ListedExpirations | null)[]> {
  const headers = await headersAsOf(store, times);
  const others = await interestExpirations(
    store,
    times.filter((_, i) => headers[i] === null),
  );
  return headers.map((header, i) => header?.listed ?? others.get(times[i]!) ?? null);
}
