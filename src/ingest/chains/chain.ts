import { combined, joinParts, ownPart } from '../../analytics/chain/subset.ts';
import { solveCapture } from '../../analytics/gex/solve-capture.ts';
import { methodologySettings, methodologyVersion } from '../../analytics/methodology.ts';
import { baseNameOf } from '../../domain/chain/capture-inputs.ts';
import { type ChainCapture, type SolveOrigin, sourceTime } from '../../domain/chain/chain.ts';
import { contractId } from '../../domain/chain/option-contract.ts';
import type { GenerationPart } from '../../domain/generation.ts';
import type { GexCapture } from '../../domain/gex/gex.ts';
import { instantBounds, isWithin, outOfBounds } from '../../domain/instant-gate.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { chainCaptureAt, chainCaptureOf, saveChainCapture } from '../../store/chain/chain-captures.ts';
import type { WrittenMinute } from '../../store/chain/greeks-minutes.ts';
import {
  type ComputedCapture,
  capturedFrom,
  capturesAfter,
  computationOf,
  lockCaptures,
  lockCapturesOfAll,
} from '../../store/chain/session-captures.ts';
import { solvedMinuteAt } from '../../store/chain/solved-minutes.ts';
import { removeGexCapture, saveGexCapture } from '../../store/gex/captures.ts';
import { forgetFiles } from '../../store/market/ingested-files.ts';
import { readRoots } from '../../store/market/option-roots.ts';
import { rejectSealed, sealedSessions } from '../../store/market/session-seals.ts';
import type { Transaction } from '../../store/rows/transaction.ts';
import { readChain } from '../../tape/chains/chain-file.ts';
import { TapeFileError } from '../../tape/csv/tape-file.ts';
import type { IngestSettings, Loader } from '../files/file-job.ts';
import { referenceVersion } from '../files/lists/reference-version.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';
import { type CaptureTimeline, captureTimeline, type Placement } from './capture-timeline.ts';
import { readReference } from './market-reference.ts';
import { netTotals } from './net-totals.ts';

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

/** Reason for which a chain has no GEX capture, for people. */
export function noGexNote(): string {
  const share = Math.round(100 * methodologySettings.minimumOiCoverage);
  return `no GEX capture: the price of the underlying is unknown, or gamma is known for less than ${share}% of open interest`;
}

/** Reason for which a chain was skipped, for people. */
const coveredNote = 'not stored: the capture of this instant that is stored has all of it, or more';

const percent = (share: number | null) => (share === null ? 'an unknown share' : `${Math.round(100 * share)}%`);
const iso = (tsMs: number) => new Date(tsMs).toISOString();

/** Describes an incomplete chain for people; null for a complete one. */
function placementNote({ subset, parts, of }: Placement): string | null {
  if (of === null) return null;
  const made = parts.length === 0 ? 'a subset' : `joined with the captures of ${parts.toSorted().map(iso).join(', ')}`;
  const shares = `${percent(of.openInterest)} of the open interest and ${percent(of.contracts)} of the contracts`;
  return `${made}: it has ${shares} of the capture of ${iso(of.capturedAt)}${subset ? '; stored, not published' : ''}`;
}

/** Key of a chain's file: its underlying and instant. */
function chainPart({ underlying, capturedAt }: ChainCapture): string {
  return `${underlying} ${capturedAt}`;
}

/** A capture as a generation. */
export function capturePart({ underlying, sessionDate, capturedAt }: ChainCapture): GenerationPart {
  return { symbol: underlying, from: sessionDate, through: sessionDate, instantMs: capturedAt };
}

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

/** Solves a chain after those stored before it in its session, and gives it and its GEX as they would be stored. */
export async function computeChain(
  tx: Transaction,
  capture: ChainCapture,
  { gammaSource, rate }: ChainSettings,
): Promise<Omit<WrittenChain, 'changed'>> {
  const [reference, roots] = [await readReference(tx, capture, rate), await readRoots(tx)];
  const settings = { ...reference, gammaSource, roots };
  const { chain, gex } = await solveCapture(capture, {
    ...settings,
    previousSolves: () => previousSolves(tx, capture),
  });
  const { sessionDate, rows } = chain;
  const names = rows.map(({ root }) => root);
  const version = referenceVersion({ roots: names, sessionDate }, reference, roots);
  const computed = gex && { ...gex, subset: chain.subset ?? false };
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

/** Writes a capture, given with its own contracts only, joined with its parts. */
async function writePlaced(
  tx: Transaction,
  own: ChainCapture,
  { subset, joined, parts }: Placement,
  settings: ChainSettings,
): Promise<WrittenChain> {
  const others: ChainCapture[] = [];
  for (const part of parts) others.push(ownPart((await chainCaptureOf(tx, own.underlying, part))!));
  return writeChain(tx, { ...joinParts(own, others), subset, joined }, settings);
}

/**
 * Updates the placement of captures after a changed one, and solves those of its session again, in a transaction that
 * holds the captures' lock: each may have been measured against it, joined with it, or depend on a solve before it.
 * Stops at the first whole capture that is unchanged. Captures of an older version are left to `recompute` unless their
 * placement changes, and sealed sessions are not changed.
 */
async function placeFollowing(
  tx: Transaction,
  { underlying, sessionDate, capturedAt }: ChainCapture,
  timeline: CaptureTimeline,
  rate: number,
): Promise<void> {
  const to = timeline.later.at(-1)?.sessionDate;
  if (to === undefined) return;
  const sealed = new Set(
    (await sealedSessions(tx, [{ symbol: underlying, from: sessionDate, to }])).map((each) => each.sessionDate),
  );
  const changed = new Set([capturedAt]);
  const resolved = new Set([sessionDate]);
  for (const next of timeline.later) {
    if (sealed.has(next.sessionDate)) continue;
    const placement = await timeline.place(next.capturedAt);
    const isMoved =
      placement.subset !== next.subset ||
      placement.joined.join() !== next.joined.join() ||
      placement.parts.some((part) => changed.has(part));
    const computed = await computationOf(tx, underlying, next.capturedAt);
    const isOld = computed.methodologyVersion !== null && computed.methodologyVersion !== methodologyVersion;
    let isChanged = isMoved;
    if (isMoved || (resolved.has(next.sessionDate) && !isOld)) {
      const chain = (await chainCaptureOf(tx, underlying, next.capturedAt))!;
      const written = await writePlaced(tx, ownPart(chain), placement, settingsOf(chain, computed, rate));
      timeline.placed(next.capturedAt, placement);
      isChanged ||= written.changed > 0;
    }
    if (isChanged) {
      changed.add(next.capturedAt);
      resolved.add(next.sessionDate);
    } else if (!placement.subset && placement.joined.length === 0) return;
  }
}

/** True if a stored chain has contracts whose volatility is from the session's last solves, or would be. */
async function usesMinutes(tx: Transaction, chain: ChainCapture): Promise<boolean> {
  const gaps = chain.rows.filter(({ solved }) => solved && !quotedOrigins.has(solved.origin));
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

/** A stored chain. */
export interface StoredChain extends WrittenChain {
  /** Reason for which it is not published, or its parts, for people; null if it is complete. */
  note: string | null;
  /** True if it holds contracts of the capture of its instant that was stored before. */
  isJoined: boolean;
}

/**
 * Stores a chain and its GEX capture, and updates the later ones that this changes, so that the result does not depend
 * on the order of arrival. A chain whose contracts the stored capture of its instant already has is skipped. Throws
 * `SessionSealed`.
 */
export async function storeChain(
  tx: Transaction,
  capture: ChainCapture,
  settings: ChainSettings,
): Promise<StoredChain> {
  const { underlying, sessionDate, capturedAt } = capture;
  await rejectSealed(tx, [{ symbol: underlying, sessionDate }]);
  const roots = await readRoots(tx);
  await saveUnderlyings(tx, new Set(capture.rows.map((row) => row.root)), roots);
  await lockCaptures(tx, underlying);
  const stored = await chainCaptureOf(tx, underlying, capturedAt);
  const own = stored === null ? capture : combined(ownPart(stored), capture, roots);
  if (own === null) return { chain: stored!, gex: null, changed: 0, note: coveredNote, isJoined: false };
  const timeline = await captureTimeline(tx, own, roots);
  const placement = await timeline.place(capturedAt);
  const written = await writePlaced(tx, own, placement, settings);
  timeline.placed(capturedAt, placement);
  if (written.changed > 0) {
    await forgetFiles(tx, ['chain'], [chainPart(capture)]);
    await placeFollowing(tx, capture, timeline, settings.rate);
  }
  const isJoined = stored !== null && own.rows.length > capture.rows.length;
  return { ...written, note: placementNote(placement), isJoined };
}

/** A chain with the given delay of its source; null: the delay of its format. */
export function withDelay(chain: ChainCapture, delayMs: number | null): ChainCapture {
  return delayMs === null ? chain : { ...chain, delayMs };
}

/** A whole chain: its capture, and the GEX capture that follows from it. */
export const loadChain: Loader = async (job) => {
  const { path, name, tx, settings, now, onBadLine, onBytes, onNote, refused } = job;
  const roots = await readRoots(tx);
  const { capture: read, halfLines, headerLines } = await readChain(path, onBadLine, onBytes, roots);
  const file = { name: baseNameOf(name), sha256: job.sha256() };
  const capture = { ...withDelay(read, settings.delayMs), file };
  if (!isWithin(instantBounds(now()), capture.capturedAt))
    throw new TapeFileError(path, `time of the chain: ${outOfBounds(capture.capturedAt)}`);
  for (const { line, reason } of halfLines) onNote(`line ${line}, only one side stored: ${reason}`);
  const rows = capture.rows.length;
  if (refused()) return { rows, changed: 0 };
  const { chain, changed, gex, note, isJoined } = await storeChain(tx, capture, settings);
  if (note !== null) onNote(note);
  const missing = note === coveredNote ? null : noGexNote();
  const figures = gex ? netTotals(chain, gex, roots) : missing;
  if (figures !== null) onNote(figures);
  const written = changed > 0 ? [capturePart(capture)] : [];
  return { rows, changed, parts: [chainPart(capture)], written, isJoined, headerLines };
};
