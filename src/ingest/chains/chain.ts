import { combined, joinParts, ownPart } from '../../analytics/chain/subset.ts';
import { methodologySettings, methodologyVersion } from '../../analytics/methodology.ts';
import { baseNameOf } from '../../domain/chain/capture-inputs.ts';
import type { ChainCapture } from '../../domain/chain/chain.ts';
import type { GenerationPart } from '../../domain/generation.ts';
import { instantBounds, isWithin, outOfBounds } from '../../domain/instant-gate.ts';
import { chainCaptureOf } from '../../store/chain/chain-captures.ts';
import { computationOf, lockCaptures } from '../../store/chain/session-captures.ts';
import { forgetFiles } from '../../store/market/ingested-files.ts';
import { readRoots } from '../../store/market/option-roots.ts';
import { rejectSealed, sealedSessions } from '../../store/market/session-seals.ts';
import type { Transaction } from '../../store/rows/transaction.ts';
import { readChain } from '../../tape/chains/chain-file.ts';
import { TapeFileError } from '../../tape/csv/tape-file.ts';
import type { Loader } from '../files/file-job.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';
import { type CaptureTimeline, captureTimeline, type Placement } from './capture-timeline.ts';
import { netTotals } from './net-totals.ts';
import { type ChainSettings, settingsOf, type WrittenChain, writeChain } from './write-chain.ts';

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
