import { solveCapture } from '../../../core/analytics/gex/solve-capture.ts';
import { methodologyVersion } from '../../../core/analytics/methodology.ts';
import { type ChainCapture, type ChainRow, type SolveOrigin, sourceTime } from '../../../core/domain/chain/chain.ts';
import { contractId } from '../../../core/domain/chain/option-contract.ts';
import type { GexCapture } from '../../../core/domain/gex/gex.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { chainCaptureAt, chainCaptureOf, saveChainCapture } from '../../../store/chain/chain-captures.ts';
import type { WrittenMinute } from '../../../store/chain/greeks.ts';
import {
  type ComputedCapture,
  capturedFrom,
  capturesAfter,
  lockCaptures,
  lockCapturesOfAll,
} from '../../../store/chain/session-captures.ts';
import { solvedMinuteAt } from '../../../store/chain/solved-minutes.ts';
import { removeGexCapture, saveGexCapture } from '../../../store/gex/captures.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import type { Reader } from '../../../store/rows/reader.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import type { IngestSettings } from '../files/file-job.ts';
import { referenceVersion } from '../files/lists/reference-version.ts';
import { readReference } from './market-reference.ts';

/**
 * The volatilities of the session's last solves, by contract path form: those of the last solved minute, else of the
 * previous chain.
 */
async function previousSolves(tx: Transaction, chain: ChainCapture): Promise<Map<string, number>> {
  const { underlying, capturedAt, sessionDate } = chain;
  const solves = new Map<string, number>();
  const before = await chainCaptureAt(tx, underlying, capturedAt - 1);
  if (before?.sessionDate === sessionDate) {
    for (const { solved, ...row } of before.rows) {
      // A volatility of the source is not a solve.
      if (solved && solved.iv !== null && solved.origin !== 'source') solves.set(contractId(row), solved.iv);
    }
  }
  const minute = await solvedMinuteAt(tx, underlying, sessionDate, sourceTime(chain));
  for (const [id, { iv }] of minute?.solves ?? []) if (iv !== null) solves.set(id, iv);
  return solves;
}

/** Origins of a volatility from the capture's own quotes. */
const quotedOrigins = new Set<SolveOrigin>(['outOfTheMoney', 'inTheMoney', 'interpolated']);

/** Settings of solving chains. */
export type ChainSettings = Pick<IngestSettings, 'gammaSource' | 'rate'>;

/**
 * A written chain, its GEX capture, null if none may be published, and the number of the two that are new or different.
 */
export interface WrittenChain {
  /** The chain as stored. */
  chain: ChainCapture;
  gex: GexCapture | null;
  changed: number;
}

/**
 * Solves a chain after those stored before it in its session, and gives it and its GEX as they would be stored.
 * `lists`: reader of rates, dividends and roots.
 */
export async function computeChain(
  tx: Transaction,
  capture: ChainCapture,
  { gammaSource, rate }: ChainSettings,
  lists: Pick<Reader, 'prisma'> = tx,
): Promise<Omit<WrittenChain, 'changed'>> {
  const [reference, roots] = [await readReference(lists, capture, rate), await readRoots(lists)];
  const settings = { ...reference, gammaSource, roots };
  const { chain, gex } = await solveCapture(capture, {
    ...settings,
    previousSolves: () => previousSolves(tx, capture),
  });
  const { sessionDate, rows } = chain;
  const names = rows.map(({ root }) => root);
  const version = referenceVersion({ roots: names, sessionDate }, reference, roots);
  const computed = gex && { ...gex, subset: chain.subset ?? false, alone: chain.alone ?? false };
  return { chain: { ...chain, referenceVersion: version }, gex: computed };
}

/** Solves a chain as `computeChain` does, and writes it and its GEX, in a transaction that holds the captures. */
export async function writeChain(
  tx: Transaction,
  capture: ChainCapture,
  settings: ChainSettings,
): Promise<WrittenChain> {
  const { chain, gex } = await computeChain(tx, capture, settings);
  const changed = Number(await saveChainCapture(tx, chain));
  const gexChanged = gex ? saveGexCapture(tx, gex) : removeGexCapture(tx, chain.underlying, chain.capturedAt);
  return { chain, gex, changed: changed + Number(await gexChanged) };
}

/** The settings that a stored chain was computed with; `rate` if it has none. */
export function settingsOf(
  chain: ChainCapture,
  { gammaSource }: Pick<ComputedCapture, 'gammaSource'>,
  rate: number,
): ChainSettings {
  const isSolved = chain.rows.some(({ solved }) => solved !== undefined) || chain.rate == null;
  return { gammaSource: gammaSource ?? (isSolved ? 'solve' : 'vendor'), rate: chain.rate ?? rate };
}

/** Live contracts of a stored chain that its own quotes do not solve: their figures depend on earlier solves. */
export function gapsOf({ rows, pricing }: ChainCapture): ChainRow[] {
  const live = pricing && new Set(pricing.groups.map(({ root, expiry }) => `${root.root} ${expiry}`));
  const isLive = ({ root, expiry }: ChainRow) => live?.has(`${root} ${expiry}`) ?? true;
  return rows.filter((row) => row.solved && !quotedOrigins.has(row.solved.origin) && isLive(row));
}

/** True if a stored chain has contracts whose volatility is from the session's last solves, or would be. */
async function usesMinutes(tx: Transaction, chain: ChainCapture): Promise<boolean> {
  const gaps = gapsOf(chain);
  if (gaps.some(({ solved }) => solved!.origin === 'previous')) return true;
  if (gaps.length === 0) return false;
  const minute = await solvedMinuteAt(tx, chain.underlying, chain.sessionDate, sourceTime(chain));
  return gaps.some((row) => (minute?.solves.get(contractId(row))?.iv ?? null) !== null);
}

/**
 * Solves the captures of a session from an instant on again if their quotes leave gaps, in the transaction that wrote
 * the session's minute solves: the solves fill the gaps, whichever was stored first. Captures of an older version are
 * left to `recompute`.
 */
export async function solveWithMinutes(
  tx: Transaction,
  { underlying, sessionDate, fromMs }: Pick<ChainCapture, 'underlying' | 'sessionDate'> & { fromMs: number },
  rate: number,
): Promise<void> {
  await lockCaptures(tx, underlying);
  for (const stored of await capturesAfter(tx, underlying, sessionDate, fromMs - 1)) {
    if (stored.methodologyVersion !== null && stored.methodologyVersion !== methodologyVersion) continue;
    const chain = (await chainCaptureOf(tx, underlying, stored.capturedAt))!;
    if (await usesMinutes(tx, chain)) await writeChain(tx, chain, settingsOf(chain, stored, rate));
  }
}

/** Runs `solveWithMinutes` for all underlyings whose minutes a transaction has just written. */
export async function solveWithWrittenMinutes(
  tx: Transaction,
  sessionDate: SessionDate,
  minutes: readonly Pick<WrittenMinute, 'underlying' | 'tsMs'>[],
  rate: number,
): Promise<void> {
  if (minutes.length === 0) return;
  const underlyings = [...new Set(minutes.map(({ underlying }) => underlying))];
  const fromMs = Math.min(...minutes.map(({ tsMs }) => tsMs));
  // A chain being stored was solved without the minutes, so the lock is awaited.
  await lockCapturesOfAll(tx, underlyings);
  for (const underlying of await capturedFrom(tx, underlyings, sessionDate, fromMs))
    await solveWithMinutes(tx, { underlying, sessionDate, fromMs }, rate);
}
