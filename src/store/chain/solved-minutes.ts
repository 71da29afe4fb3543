import type { GreeksSolve } from '../../core/domain/chain/greeks.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Reader } from '../rows/reader.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import type { ChainAsOf } from './chain-captures.ts';
import { assertSolves, decodeSolve } from './greeks.ts';

/** All solves of an underlying at a minute. Shared by its readers; do not change it. */
export interface SolvedMinute {
  underlying: string;
  sessionDate: SessionDate;
  tsMs: number;
  /** Dollars, as used by the solves; null if unknown. */
  spot: number | null;
  /** By contract path form. */
  solves: ReadonlyMap<string, GreeksSolve>;
}

type MinuteKey = Pick<SolvedMinute, 'underlying' | 'sessionDate' | 'tsMs'> & { version: string };

const cacheKey = ({ underlying, tsMs, version }: MinuteKey) => `solved-minute:${underlying}:${tsMs}:${version}`;
const nameOf = ({ underlying, tsMs }: Pick<MinuteKey, 'underlying' | 'tsMs'>) => `${underlying} ${tsMs}`;
/** Approximate bytes of a cached solve, whose numbers are boxed. */
const solveBytes = 400;

const payloads = statement(
  'chain/solved-minutes',
  { underlyings: 'text[]', sessionDates: 'text[]', tsMs: 'int8[]' },
  {
    underlying: 'text',
    sessionDate: 'text',
    tsMs: 'int8',
    version: 'text',
    spot: 'float8?',
    payload: 'bytea',
    count: 'int4',
    contracts: 'text[]',
  },
);

async function readMinutes(
  from: Reader,
  wanted: readonly Omit<MinuteKey, 'version'>[],
): Promise<{ minute: SolvedMinute; version: string }[]> {
  if (wanted.length === 0) return [];
  // Minute and slots in one statement, for one snapshot of the store.
  const rows = await payloads.rows(from, {
    underlyings: wanted.map((one) => one.underlying),
    sessionDates: wanted.map((one) => one.sessionDate),
    tsMs: wanted.map((one) => one.tsMs),
  });
  return rows.map(({ payload, count, contracts, spot, version, ...header }) => {
    assertSolves.onRead({ of: header.underlying, sessionDate: header.sessionDate, tsMs: [header.tsMs] });
    const bytes = payload.length / count;
    const solves = new Map<string, GreeksSolve>();
    contracts.forEach((contract, slot) => {
      const solve = decodeSolve(payload.subarray(slot * bytes, (slot + 1) * bytes), header.tsMs);
      if (solve !== null) solves.set(contract, solve);
    });
    return { minute: { ...header, spot, solves }, version };
  });
}

/**
 * The last solved minute of an underlying's session as of an instant, inside the caller's transaction; null if there is
 * none.
 */
export async function solvedMinuteAt(
  from: Reader,
  underlying: string,
  sessionDate: SessionDate,
  throughMs: number,
): Promise<SolvedMinute | null> {
  const { _max } = await from.prisma.greeksMinute.aggregate({
    where: { underlying, sessionDate, tsMs: { lte: throughMs } },
    _max: { tsMs: true },
  });
  const { tsMs } = numbered(_max);
  const [found] = tsMs === null ? [] : await readMinutes(from, [{ underlying, sessionDate, tsMs }]);
  return found?.minute ?? null;
}

const last = statement(
  'chain/last-solved-minutes',
  { underlyings: 'text[]', todays: 'text[]', throughMs: 'int8[]' },
  { nth: 'int8', underlying: 'text', sessionDate: 'text', tsMs: 'int8', version: 'text' },
);

/**
 * The last solved minute of an underlying as of each instant, in order; null if there is none. Two statements, one if
 * all are cached.
 */
export async function lastSolvedMinutes(store: Store, times: readonly ChainAsOf[]): Promise<(SolvedMinute | null)[]> {
  const underlyings = times.map(({ underlying }) => underlying);
  const from = readFrom(store, 'chain', underlyings);
  const throughMs = times.map(({ atMs }) => atMs);
  const rows = await last.rows(from, { underlyings, todays: throughMs.map(exchangeDate), throughMs });
  const headers: (MinuteKey | null)[] = times.map(() => null);
  for (const { nth, ...header } of rows) headers[nth - 1] = header;
  const found = new Map<string, SolvedMinute>();
  const missing = new Map<string, MinuteKey>();
  for (const header of headers) {
    if (header === null) continue;
    const cached = store.blocks.get<SolvedMinute>(cacheKey(header));
    if (cached) found.set(nameOf(header), cached);
    else missing.set(nameOf(header), header);
  }
  for (const { minute, version } of await readMinutes(from, [...missing.values()])) {
    store.blocks.set(cacheKey({ ...minute, version }), minute, 200 + minute.solves.size * solveBytes);
    found.set(nameOf(minute), minute);
  }
  return headers.map((header) => (header && found.get(nameOf(header))) ?? null);
}

/** An underlying's session with minutes solved by another version. */
interface OutdatedMinutes {
  underlying: string;
  session: SessionDate;
}

/**
 * The sessions with minutes solved by another version than this one, or by an unknown one, by session and underlying.
 */
export async function outdatedMinutes({ primary }: Store, methodologyVersion: string): Promise<OutdatedMinutes[]> {
  const found = await primary.prisma.greeksMinute.groupBy({
    by: ['sessionDate', 'underlying'],
    where: { OR: [{ methodologyVersion: null }, { methodologyVersion: { not: methodologyVersion } }] },
    orderBy: [{ sessionDate: 'asc' }, { underlying: 'asc' }],
  });
  return found.map(({ underlying, sessionDate }) => ({ underlying, session: sessionDate }));
}

/** The sessions with minutes that were solved without a price of the underlying; of these symbols only, unless null. */
export async function unpricedMinutes(
  { prisma }: Pick<Transaction, 'prisma'>,
  of: { symbols: readonly string[]; sessions: readonly SessionDate[] } | null,
): Promise<OutdatedMinutes[]> {
  const found = await prisma.greeksMinute.groupBy({
    by: ['sessionDate', 'underlying'],
    where: { spot: null, ...(of && { underlying: anyOf(of.symbols), sessionDate: anyOf(of.sessions) }) },
    orderBy: [{ sessionDate: 'asc' }, { underlying: 'asc' }],
  });
  return found.map(({ underlying, sessionDate }) => ({ underlying, session: sessionDate }));
}

/** The rate of a solved minute; null from before rates were stored. */
interface RateOfMinute {
  tsMs: number;
  rate: number | null;
}

/** The solved minutes of an underlying's session, ascending, inside the caller's transaction. */
export async function ratesOfMinutes(
  { prisma }: Transaction,
  underlying: string,
  sessionDate: SessionDate,
): Promise<RateOfMinute[]> {
  const rows = await prisma.greeksMinute.findMany({
    where: { underlying, sessionDate },
    select: { tsMs: true, rate: true },
    orderBy: { tsMs: 'asc' },
  });
  return rows.map(numbered);
}
