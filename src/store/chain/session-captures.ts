import type { GammaSource } from '../../core/domain/gex/gex.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { lock, lockAll } from '../rows/locks.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { type Queries, statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { published } from '../versions/published.ts';

const lockKey = (underlying: string) => `chain_captures ${underlying}`;

/** Locks the captures of an underlying for a writer, until its transaction ends: each depends on those before it. */
export async function lockCaptures(tx: Transaction, underlying: string): Promise<void> {
  await lock(tx, lockKey(underlying));
}

/** `lockCaptures` for several underlyings, in an order that is the same for all. */
export async function lockCapturesOfAll(tx: Transaction, underlyings: readonly string[]): Promise<void> {
  await lockAll(tx, underlyings.toSorted().map(lockKey));
}

/** The underlyings with captures of a session at or after an instant, inside the caller's transaction. */
export async function capturedFrom(
  { prisma }: Transaction,
  underlyings: readonly string[],
  sessionDate: SessionDate,
  fromMs: number,
): Promise<string[]> {
  const where = { underlying: anyOf(underlyings), sessionDate, capturedAt: { gte: fromMs } };
  const found = await prisma.chainCapture.groupBy({ by: ['underlying'], where });
  return found.map(({ underlying }) => underlying);
}

/** Computation of a stored capture. */
export interface ComputedCapture {
  capturedAt: number;
  /** The gammas of its exposures and the version of the definitions; null if nothing was published of it. */
  gammaSource: GammaSource | null;
  methodologyVersion: string | null;
}

/** The captures of an underlying's session after an instant, ascending, inside the caller's transaction. */
export async function capturesAfter(
  { prisma }: Transaction,
  underlying: string,
  sessionDate: SessionDate,
  afterMs: number,
): Promise<ComputedCapture[]> {
  const where = { underlying, sessionDate, capturedAt: { gt: afterMs } };
  const chains = await prisma.chainCapture.findMany({
    where,
    select: { capturedAt: true },
    orderBy: { capturedAt: 'asc' },
  });
  const published = await prisma.gexCapture.findMany({
    where,
    select: { capturedAt: true, gammaSource: true, methodologyVersion: true },
  });
  const computed = new Map(published.map(numbered).map((row) => [row.capturedAt, row]));
  return chains.map(numbered).map(({ capturedAt }) => {
    const { gammaSource = null, methodologyVersion = null } = computed.get(capturedAt) ?? {};
    return { capturedAt, gammaSource: gammaSource as GammaSource | null, methodologyVersion };
  });
}

/** Reads the computation of the capture of an instant, inside the caller's transaction. */
export async function computationOf(
  { prisma }: Transaction,
  underlying: string,
  capturedAt: number,
): Promise<ComputedCapture> {
  const found = await prisma.gexCapture.findUnique({
    where: { underlying_capturedAt: { underlying, capturedAt } },
    select: { gammaSource: true, methodologyVersion: true },
  });
  const { gammaSource = null, methodologyVersion = null } = found ?? {};
  return { capturedAt, gammaSource: gammaSource as GammaSource | null, methodologyVersion };
}

/** Captures of an underlying's session that were computed alike. */
export interface ComputedSession {
  underlying: string;
  session: SessionDate;
  /** Their roots, and the version of their pricing inputs; empty and null = unknown. */
  roots: readonly string[];
  referenceVersion: string | null;
  captures: number;
  /** True if one was computed by another version of the methodology, or has another delay than the wanted one. */
  isWanted: boolean;
}

const computed = statement(
  'chain/computed-chains',
  { methodologyVersion: 'text', delayMs: 'int4?', all: 'bool' },
  {
    underlying: 'text',
    session: 'text',
    roots: 'text[]',
    referenceVersion: 'text?',
    captures: 'int8',
    isWanted: 'bool',
  },
);

/**
 * The sessions with captures, by session and underlying. Those are wanted that another version computed or, unless it
 * is null, that have another delay; with `all`, every one.
 */
export function computedSessions(
  from: Queries,
  than: { methodologyVersion: string; delayMs: number | null; all: boolean },
): Promise<ComputedSession[]> {
  return computed.rows(from, than);
}

/** Times of the published captures of an underlying in [fromMs, toMs), epoch ms ascending. */
export async function captureTimes(
  store: Store,
  kind: 'chain' | 'gex',
  underlying: string,
  fromMs: number,
  toMs: number,
): Promise<number[]> {
  const { prisma } = readFrom(store, kind, [underlying]);
  const asked = {
    where: { underlying, capturedAt: { gte: fromMs, lt: toMs }, ...published },
    select: { capturedAt: true },
    orderBy: { capturedAt: 'asc' },
  } as const;
  const rows = kind === 'chain' ? await prisma.chainCapture.findMany(asked) : await prisma.gexCapture.findMany(asked);
  return rows.map((row) => numbered(row).capturedAt);
}

/** The time of the first published GEX capture of an underlying, epoch ms; null if there is none. */
export async function firstCaptureTime(store: Store, underlying: string): Promise<number | null> {
  const { prisma } = readFrom(store, 'gex', [underlying]);
  const first = await prisma.gexCapture.findFirst({
    where: { underlying, ...published },
    select: { capturedAt: true },
    orderBy: { capturedAt: 'asc' },
  });
  return first && numbered(first).capturedAt;
}
