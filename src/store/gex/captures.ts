import { isAfterClose, lastOfSession, sourceTime } from '../../core/domain/chain/chain.ts';
import { type InColumns, inColumns, type RowOf, rowReader } from '../../core/domain/columns.ts';
import {
  type GexCapture,
  type GexColumns,
  type GexExpiry,
  type GexProfilePoint,
  gexColumns,
} from '../../core/domain/gex/gex.ts';
import {
  type captureColumns,
  expiryColumns,
  profileColumns,
  strikeColumns,
} from '../../core/domain/gex/gex-columns.ts';
import { dateOfEpochDay, epochDay, type SessionDate } from '../../core/domain/market-time.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { columnTypes, type PlainRow, plainFields } from '../rows/models/columns.ts';
import { findKnownRows } from '../rows/models/known-rows.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { deleteRows, findRows, upsertRows } from '../rows/models/sets.ts';
import { nullable, statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { ascends, blockAssertions, isSumOf } from '../series/assertions.ts';
import { blockVersion, decodeBlock, encodeBlock, measures, numbers } from '../series/codec.ts';
import { rowColumns } from '../series/row-columns.ts';
import { standing } from '../versions/published.ts';
import { type HeldKind, heldId, type Interval, readHeld, readHeldAsOf } from '../versions/versioned-cache.ts';
import { encodeInputs } from './inputs.ts';

/** A GEX capture as read: its rows are columns, `byExpiry` is null unless requested; `gexInputsOf` reads its inputs. */
export type StoredGexCapture = Omit<GexCapture, 'strikes' | 'byExpiry' | 'inputs'> & {
  strikes: GexColumns;
  byExpiry: GexColumns | null;
};

/** Range of a session's captures: captured in [fromMs, toMs). */
export interface GexWindow {
  fromMs: number;
  toMs: number;
  byExpiry: boolean;
}

const key = ['underlying', 'capturedAt'] as const;
const headerFields = plainFields('GexCapture');
type CaptureHeader = PlainRow<'GexCapture'>;
type GexKey = Pick<CaptureHeader, 'underlying' | 'capturedAt'>;

/** Fields that are no figures, and those that are hashed only if known: older captures keep their versions. */
const apart = new Set<string>([...key, 'delayMs', 'subset', 'alone', 'version', 'productVersion']);
const figureFields = headerFields.filter((field) => !apart.has(field)) as (keyof GexCapture)[];

type Figures = Omit<StoredGexCapture, 'strikes' | 'byExpiry' | 'expiries' | 'profile'>;

/** A capture's own figures. A row holds what was checked when it was written. */
const figuresOf = ({ version: _, productVersion: _p, ...figures }: CaptureHeader) =>
  figures satisfies RowOf<typeof captureColumns> as Figures;

function encodeExpiries(expiries: readonly GexExpiry[]): Uint8Array {
  return encodeBlock({
    expiry: Float64Array.from(expiries, ({ expiry }) => epochDay(expiry)),
    ...inColumns(expiryColumns, expiries),
    inconsistent: Float64Array.from(expiries, ({ inconsistent }) => Number(inconsistent)),
  });
}

const expiryNumbers = rowReader<InColumns<typeof expiryColumns>, RowOf<typeof expiryColumns>>(expiryColumns);
const profilePoint = rowReader<InColumns<typeof profileColumns>, GexProfilePoint>(profileColumns);

/** The expiries of a block. */
export function decodeExpiries(payload: Uint8Array): GexExpiry[] {
  const block = decodeBlock(payload);
  const figures = rowColumns(block, expiryColumns);
  const inconsistent = measures(block, 'inconsistent');
  return Array.from(numbers(block, 'expiry'), (day, index) => ({
    expiry: dateOfEpochDay(day),
    ...expiryNumbers(figures, index),
    inconsistent: inconsistent[index] === 1,
  }));
}

function decodeProfile(payload: Uint8Array): GexProfilePoint[] {
  const points = rowColumns(decodeBlock(payload), profileColumns);
  return Array.from(points.price, (_, index) => profilePoint(points, index));
}

function decodeCurve(payload: Uint8Array): GexColumns {
  const block = decodeBlock(payload);
  const [strike, expiry] = [numbers(block, 'strike'), measures(block, 'expiry')];
  return { strike, expiry, ...rowColumns(block, strikeColumns) };
}

/** The parts of a capture that depend on each other; `byExpiry` is null if it is not read. */
type AssertedCapture = GexKey &
  Pick<CaptureHeader, 'netGex'> &
  Omit<Curves, 'profile'> &
  Pick<StoredGexCapture, 'byExpiry'>;

function isNetGex({ netGex, strikes: { gex } }: AssertedCapture): boolean {
  let [total, gross] = [0, 0];
  for (let i = 0; i < gex.length; i++) {
    total += gex[i]!;
    gross += Math.abs(gex[i]!);
  }
  return isSumOf(netGex, { total, gross, count: gex.length });
}

/**
 * True if the rows by expiry ascend by strike and expiry, and those of each net row add up to it. A capture may be
 * stored without any.
 */
function areSums({ strikes: net, byExpiry: rows }: AssertedCapture): boolean {
  if (rows === null || rows.strike.length === 0) return true;
  const { strike, expiry, gex } = rows;
  let i = 0;
  for (let at = 0; at < net.strike.length; at++) {
    const [first, ofStrike] = [i, net.strike[at]!];
    let total = 0;
    let gross = 0;
    for (; strike[i] === ofStrike; i++) {
      if (!(i === first ? expiry[i]! > -Infinity : expiry[i]! > expiry[i - 1]!)) return false;
      const value = gex[i]!;
      total += value;
      gross += Math.abs(value);
    }
    if (i === first || !isSumOf(net.gex[at]!, { total, gross, count: i - first })) return false;
  }
  return i === strike.length;
}

const assertions = blockAssertions<AssertedCapture>(
  'GEX captures',
  ({ underlying, capturedAt }) => `${underlying} ${new Date(capturedAt).toISOString()}`,
  {
    'its strikes ascend': ({ strikes }) => ascends(strikes.strike),
    'its expiries ascend': ({ expiries }) =>
      expiries.every(({ expiry }, i) => i === 0 || expiry > expiries[i - 1]!.expiry),
    'its net gex is the sum over its strikes': isNetGex,
    'the gex of each strike is the sum over its expiries': areSums,
  },
);

/**
 * Writes a whole capture, inside the caller's transaction, replacing one of the same instant. False if an equal one was
 * stored.
 */
export async function saveGexCapture(tx: Transaction, capture: GexCapture): Promise<boolean> {
  const [net, rows] = [gexColumns(capture.strikes), gexColumns(capture.byExpiry)];
  assertions.onWrite({ ...capture, strikes: net, byExpiry: rows });
  const blocks = [
    encodeBlock({ ...net }),
    encodeBlock({ ...rows }),
    encodeExpiries(capture.expiries),
    encodeBlock(inColumns(profileColumns, capture.profile ?? [])),
  ].map((block) => Buffer.from(block));
  // Captures of unknown delay have the version from before delays were stored.
  const delay = capture.delayMs === null ? [] : [capture.delayMs];
  const subset = capture.subset === true;
  const alone = capture.alone === true;
  const place = [...(subset ? ['subset'] : []), ...(alone ? ['alone'] : [])];
  const values = [...figureFields.map((name) => capture[name]), ...delay, ...place];
  // The same figures by another release of the program are the same capture.
  const inputs = capture.inputs && Buffer.from(encodeInputs(capture.inputs.expiries));
  const parts = [Buffer.from(JSON.stringify(values)), ...blocks, ...(inputs ? [inputs] : [])];
  const version = blockVersion(Buffer.concat(parts));
  const [strikes, byExpiry, expiries, curve] = blocks as [Buffer, Buffer, Buffer, Buffer];
  const profile = capture.profile && curve;
  const productVersion = capture.inputs?.productVersion ?? null;
  const row = { ...capture, subset, alone, version, strikes, byExpiry, expiries, profile, inputs, productVersion };
  return (await upsertRows(tx, 'GexCapture', [row], { ifDifferent: ['version'] })) === 1;
}

/**
 * Deletes the capture of an instant, inside the caller's transaction: its chain was replaced by one without a capture.
 * True if there was one.
 */
export async function removeGexCapture(tx: Transaction, underlying: string, capturedAt: number): Promise<boolean> {
  const keys = [{ underlying, capturedAt }];
  return (await deleteRows(tx, 'GexCapture', { by: ['underlying', 'capturedAt'], keys })) === 1;
}

/** Decoded parts of a cached capture, keyed by its version: a rewritten capture is another entry. */
interface Curves {
  strikes: GexColumns;
  expiries: GexExpiry[];
  profile: GexProfilePoint[] | null;
}

const cacheKey = (what: 'net' | 'expiry', { underlying, capturedAt, version }: CaptureHeader) =>
  `gex:${what}:${underlying}:${capturedAt}:${version}`;

const bytesOf = (columns: GexColumns) => columns.strike.length * Object.keys(columns).length * 8;

/** Bytes of payload decoded before a yield to the event loop: about 2 ms of work. */
const yieldBytes = 256 * 1024;

function fromCache(store: Store, header: CaptureHeader, byExpiry: boolean): StoredGexCapture | null {
  const curves = store.blocks.get<Curves>(cacheKey('net', header));
  const rows = byExpiry ? store.blocks.get<GexColumns>(cacheKey('expiry', header)) : null;
  return curves && rows !== undefined ? { ...figuresOf(header), ...curves, byExpiry: rows } : null;
}

type PayloadRow = CaptureHeader & { strikes: Buffer; byExpiry?: Buffer; expiries: Buffer; profile: Buffer | null };

function decoded(store: Store, row: PayloadRow): StoredGexCapture {
  const { strikes, byExpiry: expiryRows, expiries, profile, ...header } = row;
  const curves: Curves = {
    strikes: decodeCurve(strikes),
    expiries: decodeExpiries(expiries),
    profile: profile && decodeProfile(profile),
  };
  const byExpiry = expiryRows ? decodeCurve(expiryRows) : null;
  assertions.onRead({ ...header, ...curves, byExpiry });
  store.blocks.set(cacheKey('net', header), curves, bytesOf(curves.strikes) + curves.expiries.length * 120 + 2400);
  if (byExpiry) store.blocks.set(cacheKey('expiry', header), byExpiry, bytesOf(byExpiry));
  return { ...figuresOf(header), ...curves, byExpiry };
}

/** The captures of `wanted`, in order: from the cache, the others with one statement. */
async function withCurves(
  store: Store,
  wanted: readonly CaptureHeader[],
  byExpiry: boolean,
): Promise<StoredGexCapture[]> {
  const cached = wanted.map((header) => fromCache(store, header, byExpiry));
  const missing = wanted.filter((_, i) => cached[i] === null);
  if (missing.length === 0) return cached as StoredGexCapture[];
  // Headers are read again with the payload: a capture rewritten in between must not be half old, half new.
  const fields = [
    ...headerFields,
    'strikes',
    'expiries',
    'profile',
    ...(byExpiry ? (['byExpiry'] as const) : []),
  ] as const;
  const from = readFrom(store, 'gex', new Set(missing.map(({ underlying }) => underlying)));
  const found = await findKnownRows(store, from, 'GexCapture', { by: key, keys: missing }, fields);
  const rows = found as PayloadRow[];
  const read = new Map<string, StoredGexCapture>();
  let bytes = 0;
  for (const row of rows) {
    read.set(`${row.underlying} ${row.capturedAt}`, decoded(store, row));
    bytes += row.strikes.length + (row.byExpiry?.length ?? 0);
    if (bytes < yieldBytes) continue;
    bytes = 0;
    await yieldToEventLoop();
  }
  return wanted.flatMap((header, i) => cached[i] ?? read.get(`${header.underlying} ${header.capturedAt}`) ?? []);
}

/** Approximate bytes of a cached header. */
const headerBytes = 400;

const heldSessions: HeldKind<CaptureHeader[]> = {
  subject: 'gex',
  name: 'gex-session',
  bytesOf: (headers) => headers.length * headerBytes,
};

/** An underlying's session. */
export type UnderlyingSession = Pick<CaptureHeader, 'underlying' | 'sessionDate'>;

/**
 * The headers of the captures of sessions, in order, each ascending by time. One statement, none if all are cached.
 */
export async function sessionHeaders(
  store: Store,
  sessions: readonly UnderlyingSession[],
): Promise<(readonly CaptureHeader[])[]> {
  const asked = sessions.map(({ underlying, sessionDate }) => ({ symbol: underlying, part: sessionDate }));
  const held = await readHeld(store, heldSessions, asked, async (missing) => {
    const keys = missing.map(({ symbol, part }) => ({ underlying: symbol, sessionDate: part! }));
    const from = readFrom(store, 'gex', new Set(sessions.map(({ underlying }) => underlying)));
    const rows = await findRows(from, 'GexCapture', { by: ['underlying', 'sessionDate'], keys }, headerFields);
    rows.sort((a, b) => a.capturedAt - b.capturedAt);
    return Map.groupBy(rows, ({ underlying, sessionDate }) => heldId({ symbol: underlying, part: sessionDate }));
  });
  return asked.map((each) => held.get(heldId(each)) ?? []);
}

/**
 * Published captures of one session by underlying, ascending by time; an underlying without any is absent. Two
 * statements, none if all are cached.
 */
export async function gexCapturesOf(
  store: Store,
  underlyings: readonly string[],
  sessionDate: SessionDate,
  { fromMs, toMs, byExpiry }: GexWindow,
): Promise<Map<string, StoredGexCapture[]>> {
  const sessions = underlyings.map((underlying) => ({ underlying, sessionDate }));
  const headers = (await sessionHeaders(store, sessions)).flat();
  const within = headers.filter(
    ({ capturedAt, subset }) => subset !== true && capturedAt >= fromMs && capturedAt < toMs,
  );
  const captures = await withCurves(store, within, byExpiry);
  return Map.groupBy(captures, (capture) => capture.underlying);
}

/** An underlying and an instant, epoch ms. */
export interface GexAsOf {
  underlying: string;
  atMs: number;
}

const latest = statement(
  'gex/latest-gex-captures',
  { underlyings: 'text[]', atMs: 'int8[]' },
  { nth: 'int8', nextMs: 'int8?', lastMs: 'int8?', ...nullable(columnTypes('GexCapture')) },
);

const heldLatest: HeldKind<CaptureHeader> = { subject: 'gex', name: 'gex-latest', bytesOf: () => headerBytes };

/**
 * The header of the last published capture as of each time, in order, or of the subset of exactly that instant; null if
 * there is none. One statement, none if all are cached.
 */
function latestHeaders(store: Store, times: readonly GexAsOf[]): Promise<(CaptureHeader | null)[]> {
  const asked = times.map(({ underlying, atMs }) => ({ symbol: underlying, atMs }));
  return readHeldAsOf(store, heldLatest, asked, async (missing) => {
    const underlyings = missing.map(({ symbol }) => symbol);
    const atMs = missing.map((each) => each.atMs);
    const rows = await latest.rows(readFrom(store, 'gex', new Set(underlyings)), { underlyings, atMs });
    const intervals: Interval<CaptureHeader>[] = [];
    for (const { nth, nextMs, lastMs, ...header } of rows) {
      const value = header.capturedAt === null ? null : (header as CaptureHeader);
      intervals[nth - 1] = { ...standing({ ...header, nextMs, lastMs }), value };
    }
    return intervals;
  });
}

/**
 * The header of a session's last capture (`lastOfSession`) as of each time, or of the subset of exactly that instant.
 */
async function headersOfSession(
  store: Store,
  times: readonly GexAsOf[],
  sessionDate: SessionDate,
): Promise<(CaptureHeader | null)[]> {
  const sessions = await sessionHeaders(
    store,
    times.map(({ underlying }) => ({ underlying, sessionDate })),
  );
  return times.map(({ atMs }, i) => {
    const headers = sessions[i]!;
    const subset = headers.find((header) => header.subset === true && header.capturedAt === atMs);
    return subset ?? lastOfSession(headers.filter((header) => header.subset !== true && header.capturedAt <= atMs));
  });
}

/**
 * The last published capture as of each time, in order, or the subset of exactly that instant, only of `sessionDate` if
 * given; null if there is none. Two statements for any number, none if all are cached.
 */
export async function gexCapturesAt(
  store: Store,
  times: readonly GexAsOf[],
  { byExpiry, sessionDate = null }: { byExpiry: boolean; sessionDate?: SessionDate | null },
): Promise<(StoredGexCapture | null)[]> {
  const headers =
    sessionDate === null ? await latestHeaders(store, times) : await headersOfSession(store, times, sessionDate);
  const idOf = ({ underlying, capturedAt }: GexKey) => `${underlying} ${capturedAt}`;
  const distinct = new Map(headers.flatMap((header) => (header ? [[idOf(header), header] as const] : [])));
  const captures = await withCurves(store, [...distinct.values()], byExpiry);
  const byId = new Map(captures.map((capture) => [idOf(capture), capture]));
  return headers.map((header) => (header && byId.get(idOf(header))) ?? null);
}

/** As `gexCapturesAt`, of one instant, by underlying; an underlying without a capture is absent. */
export async function latestGexCaptures(
  store: Store,
  underlyings: readonly string[],
  atMs: number,
  options: { byExpiry: boolean; sessionDate?: SessionDate | null },
): Promise<Map<string, StoredGexCapture>> {
  const times = Array.from(new Set(underlyings), (underlying) => ({ underlying, atMs }));
  const captures = await gexCapturesAt(store, times, options);
  return new Map(captures.flatMap((capture) => (capture ? [[capture.underlying, capture] as const] : [])));
}

const following = statement(
  'gex/gex-captures-from',
  { underlyings: 'text[]', fromMs: 'int8[]', throughMs: 'int8', limit: 'int8' },
  columnTypes('GexCapture'),
);

/**
 * The published captures of each underlying from its instant (epoch ms, included) up to `throughMs`, ascending, at most
 * `limit` of each; an underlying without any is absent. Two statements, one if all are cached.
 */
export async function gexCapturesFrom(
  store: Store,
  from: ReadonlyMap<string, number>,
  throughMs: number,
  limit: number,
): Promise<Map<string, StoredGexCapture[]>> {
  const [underlyings, fromMs] = [[...from.keys()], [...from.values()]];
  const rows = await following.rows(readFrom(store, 'gex', underlyings), { underlyings, fromMs, throughMs, limit });
  return Map.groupBy(await withCurves(store, rows, false), (capture) => capture.underlying);
}

/**
 * The first published capture of a session up to `throughMs` with quotes of a time in the window, by underlying; an
 * underlying without one is absent. Two statements, none if all are cached.
 */
export async function firstGexCaptures(
  store: Store,
  underlyings: readonly string[],
  sessionDate: SessionDate,
  { fromMs, toMs, throughMs, byExpiry }: GexWindow & { throughMs: number },
): Promise<Map<string, StoredGexCapture>> {
  const sessions = await sessionHeaders(
    store,
    underlyings.map((underlying) => ({ underlying, sessionDate })),
  );
  const isWithin = (header: CaptureHeader) => {
    const quotedAt = sourceTime(header);
    return header.subset !== true && quotedAt >= fromMs && quotedAt < toMs && header.capturedAt <= throughMs;
  };
  const first = sessions.map((headers) => headers.find(isWithin)).filter((one) => one !== undefined);
  return new Map((await withCurves(store, first, byExpiry)).map((capture) => [capture.underlying, capture]));
}

const fields = {
  netGex: true,
  flipPoint: true,
  flipStatus: true,
  zeroGamma: true,
  methodologyVersion: true,
  callWall: true,
  putWall: true,
  callGexPeak: true,
  putGexPeak: true,
  netVanna: true,
  netCharm: true,
  impliedSpot: true,
  spotStale: true,
  inconsistentExpiries: true,
  expiries: true,
} as const;

/** The main figures of a capture. */
export type PublishedFigures = Pick<GexCapture, keyof typeof fields>;

/** The main figures of a session's captures by instant (epoch ms), inside the caller's transaction. */
export async function publishedFigures(
  { prisma }: Transaction,
  underlying: string,
  sessionDate: SessionDate,
): Promise<Map<number, PublishedFigures>> {
  const select = { capturedAt: true, ...fields } as const;
  const rows = await prisma.gexCapture.findMany({ where: { underlying, sessionDate }, select });
  return new Map(
    rows.map(numbered).map(({ capturedAt, expiries, ...figures }) => {
      const flipStatus = figures.flipStatus as GexCapture['flipStatus'];
      return [capturedAt, { ...figures, flipStatus, expiries: decodeExpiries(expiries) }];
    }),
  );
}

/** Figures of a session's last capture. */
export type SessionEnd = Pick<
  GexCapture,
  | 'underlying'
  | 'capturedAt'
  | 'sessionDate'
  | 'delayMs'
  | 'spot'
  | 'netGex'
  | 'flipPoint'
  | 'flipStatus'
  | 'zeroGamma'
  | 'callWall'
  | 'putWall'
>;

const ends = statement(
  'gex/session-ends',
  { underlyings: 'text[]', atMs: 'int8', limit: 'int8' },
  {
    underlying: 'text',
    capturedAt: 'int8',
    sessionDate: 'text',
    spot: 'float8?',
    netGex: 'float8',
    flipPoint: 'float8?',
    zeroGamma: 'float8?',
    callWall: 'int4?',
    putWall: 'int4?',
    flipStatus: 'text?',
    delayMs: 'int4?',
  },
);

/**
 * The last published capture (`lastOfSession`) by `atMs` (epoch ms) of each of the latest sessions by underlying,
 * newest first, at most `limit` of each; an underlying without any is absent. One statement, two if a session has
 * quotes of after its close.
 */
export async function sessionEnds(
  store: Store,
  underlyings: readonly string[],
  atMs: number,
  limit: number,
): Promise<Map<string, SessionEnd[]>> {
  const rows = await ends.rows(readFrom(store, 'gex', underlyings), { underlyings, atMs, limit });
  const found = rows as SessionEnd[];
  const late = found.filter(isAfterClose);
  const sessions = late.length > 0 ? await sessionHeaders(store, late) : [];
  const traded = new Map(
    late.map((end, i) => {
      const come = sessions[i]!.filter(({ capturedAt, subset }) => subset !== true && capturedAt <= atMs);
      return [end, (lastOfSession(come) ?? end) as SessionEnd] as const;
    }),
  );
  return Map.groupBy(
    found.map((end) => traded.get(end) ?? end),
    ({ underlying }) => underlying,
  );
}
