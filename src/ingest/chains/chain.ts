import { computeGexCapture } from '../../analytics/gex/capture.ts';
import { solveCapture } from '../../analytics/gex/solve-capture.ts';
import { methodologySettings, methodologyVersion } from '../../analytics/methodology.ts';
import type { ChainCapture, SolveOrigin } from '../../domain/chain/chain.ts';
import { contractId } from '../../domain/chain/option-contract.ts';
import type { GexCapture } from '../../domain/gex.ts';
import { instantBounds, isWithin, outOfBounds } from '../../domain/instant-gate.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { chainCaptureAt, saveChainCapture } from '../../store/chain/chain-captures.ts';
import type { WrittenMinute } from '../../store/chain/greeks-minutes.ts';
import {
  type ComputedCapture,
  capturedFrom,
  capturesAfter,
  lockCaptures,
  lockCapturesOfAll,
} from '../../store/chain/session-captures.ts';
import { solvedMinuteAt } from '../../store/chain/solved-minutes.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import { removeGexCapture, saveGexCapture } from '../../store/gex/captures.ts';
import { forgetFiles } from '../../store/market/ingested-files.ts';
import { rejectSealed } from '../../store/market/session-seals.ts';
import { readChain } from '../../tape/chains/chain-file.ts';
import { TapeFileError } from '../../tape/csv/tape-file.ts';
import type { IngestSettings, Loader } from '../files/file-job.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';

/**
 * The volatilities of the session's last solves, by contract path form: those of the last solved minute, else of the
 * chain before.
 */
async function previousSolves(tx: Transaction, chain: ChainCapture): Promise<Map<string, number>> {
  const { underlying, capturedAt, sessionDate } = chain;
  const solves = new Map<string, number>();
  const before = await chainCaptureAt(tx, underlying, capturedAt - 1);
  if (before?.sessionDate === sessionDate) {
    for (const { solved, ...row } of before.rows) {
      // What the source said then is no solve.
      if (solved && solved.iv !== null && solved.origin !== 'source') solves.set(contractId(row), solved.iv);
    }
  }
  const minute = await solvedMinuteAt(tx, underlying, sessionDate, capturedAt);
  for (const [id, { iv }] of minute?.solves ?? []) if (iv !== null) solves.set(id, iv);
  return solves;
}

/** Where the volatility of a contract comes from that the capture's own quotes tell. */
const quotedOrigins = new Set<SolveOrigin>(['outOfTheMoney', 'inTheMoney', 'interpolated']);

const millions = (dollars: number) => `${(dollars / 1e6).toFixed(1)}m`;

/**
 * The two totals beside each other: small differences of large sums, and the vendor rounds its gammas. Null when there
 * is only one.
 */
function totals(chain: ChainCapture, gex: GexCapture, rate: number): string | null {
  if (gex.gammaSource === 'vendor') return null;
  const vendor = computeGexCapture(chain, { gammaSource: 'vendor', rate });
  return (
    vendor &&
    `net GEX in dollars per $1: ${millions(gex.netGex)} solved, ${millions(vendor.netGex)} by the vendor's gammas`
  );
}

/** Why a chain has no GEX capture, for people. */
export function noGexNote(): string {
  const share = Math.round(100 * methodologySettings.minimumOiCoverage);
  return `no GEX capture: the price of the underlying is unknown, or gamma is known for less than ${share}% of open interest`;
}

/** What a chain's file is of: its underlying and instant. */
function chainPart({ underlying, capturedAt }: ChainCapture): string {
  return `${underlying} ${capturedAt}`;
}

/** How chains are solved. */
export type ChainSettings = Pick<IngestSettings, 'gammaSource' | 'rate'>;

/**
 * A chain that was written: the GEX capture that follows from it, null when none may be published, and how many of the
 * two are new or different.
 */
export interface WrittenChain {
  gex: GexCapture | null;
  changed: number;
}

/**
 * Solves a chain after those stored before it in its session, and writes it and its GEX, in a transaction that holds
 * the captures.
 */
export async function writeChain(
  tx: Transaction,
  capture: ChainCapture,
  { gammaSource, rate }: ChainSettings,
): Promise<WrittenChain> {
  const { chain, gex } = await solveCapture(capture, {
    ...{ gammaSource, rate },
    previousSolves: () => previousSolves(tx, capture),
  });
  const changed = Number(await saveChainCapture(tx, chain));
  const gexChanged = gex ? saveGexCapture(tx, gex) : removeGexCapture(tx, chain.underlying, chain.capturedAt);
  return { gex, changed: changed + Number(await gexChanged) };
}

/** The settings that a stored chain was computed with; `rate` where it holds none. */
export function settingsOf(
  chain: ChainCapture,
  { gammaSource }: Pick<ComputedCapture, 'gammaSource'>,
  rate: number,
): ChainSettings {
  const isSolved = chain.rows.some(({ solved }) => solved !== undefined) || chain.rate == null;
  return { gammaSource: gammaSource ?? (isSolved ? 'solve' : 'vendor'), rate: chain.rate ?? rate };
}

/**
 * Solves the session's captures after an instant again, in a transaction that holds them: each may have used a solve
 * before it, or its absence. Ends with the first that stays as it was. Those that an older version computed are left to
 * `recompute`.
 */
export async function solveFollowing(
  tx: Transaction,
  { underlying, sessionDate, capturedAt }: Pick<ChainCapture, 'underlying' | 'sessionDate' | 'capturedAt'>,
  rate: number,
): Promise<void> {
  for (const next of await capturesAfter(tx, underlying, sessionDate, capturedAt)) {
    if (next.methodologyVersion !== null && next.methodologyVersion !== methodologyVersion) return;
    const chain = (await chainCaptureAt(tx, underlying, next.capturedAt))!;
    if ((await writeChain(tx, chain, settingsOf(chain, next, rate))).changed === 0) return;
  }
}

/** Whether a stored chain has contracts that take their volatility from the session's last solves, or would. */
async function usesMinutes(tx: Transaction, chain: ChainCapture): Promise<boolean> {
  const gaps = chain.rows.filter(({ solved }) => solved && !quotedOrigins.has(solved.origin));
  if (gaps.some(({ solved }) => solved!.origin === 'previous')) return true;
  if (gaps.length === 0) return false;
  const minute = await solvedMinuteAt(tx, chain.underlying, chain.sessionDate, chain.capturedAt);
  return gaps.some((row) => (minute?.solves.get(contractId(row))?.iv ?? null) !== null);
}

/**
 * Solves the captures of a session from an instant on again whose quotes leave gaps, in the transaction that wrote the
 * session's minute solves: the solves fill the gaps, whether they or the chains came first. Captures of an older
 * version are left to `recompute`.
 */
export async function solveWithMinutes(
  tx: Transaction,
  { underlying, sessionDate, fromMs }: Pick<ChainCapture, 'underlying' | 'sessionDate'> & { fromMs: number },
  rate: number,
): Promise<void> {
  await lockCaptures(tx, underlying);
  for (const stored of await capturesAfter(tx, underlying, sessionDate, fromMs - 1)) {
    if (stored.methodologyVersion !== null && stored.methodologyVersion !== methodologyVersion) continue;
    const chain = (await chainCaptureAt(tx, underlying, stored.capturedAt))!;
    if (await usesMinutes(tx, chain)) await writeChain(tx, chain, settingsOf(chain, stored, rate));
  }
}

/** `solveWithMinutes` for all underlyings whose minutes a transaction has just written. */
export async function solveWithWrittenMinutes(
  tx: Transaction,
  sessionDate: SessionDate,
  minutes: readonly Pick<WrittenMinute, 'underlying' | 'tsMs'>[],
  rate: number,
): Promise<void> {
  if (minutes.length === 0) return;
  const underlyings = [...new Set(minutes.map(({ underlying }) => underlying))];
  const fromMs = Math.min(...minutes.map(({ tsMs }) => tsMs));
  // A chain that is being stored was solved without the minutes: it is waited for.
  await lockCapturesOfAll(tx, underlyings);
  for (const underlying of await capturedFrom(tx, underlyings, sessionDate, fromMs))
    await solveWithMinutes(tx, { underlying, sessionDate, fromMs }, rate);
}

/**
 * Stores a chain and the GEX capture computed from it, and solves the later chains of its session again, so that the
 * order in which chains arrive changes nothing. Throws `SessionSealed`.
 */
export async function storeChain(
  tx: Transaction,
  capture: ChainCapture,
  settings: ChainSettings,
): Promise<WrittenChain> {
  const { underlying, sessionDate } = capture;
  await rejectSealed(tx, [{ symbol: underlying, sessionDate }]);
  await saveUnderlyings(tx, new Set(capture.rows.map((row) => row.root)));
  await lockCaptures(tx, underlying);
  const written = await writeChain(tx, capture, settings);
  if (written.changed > 0) {
    await forgetFiles(tx, ['chain'], [chainPart(capture)]);
    await solveFollowing(tx, capture, settings.rate);
  }
  return written;
}

/** A whole chain: its capture, and the GEX capture that follows from it. */
export const loadChain: Loader = async ({ path, tx, settings, now, onBadLine, onBytes, onNote, refused }) => {
  const { capture, halfLines } = await readChain(path, onBadLine, onBytes);
  if (!isWithin(instantBounds(now()), capture.capturedAt))
    throw new TapeFileError(path, `time of the chain: ${outOfBounds(capture.capturedAt)}`);
  for (const { line, reason } of halfLines) onNote(`line ${line}, only one side stored: ${reason}`);
  const rows = capture.rows.length;
  if (refused()) return { rows, changed: 0 };
  const { changed, gex } = await storeChain(tx, capture, settings);
  const note = gex ? totals(capture, gex, settings.rate) : noGexNote();
  if (note !== null) onNote(note);
  return { rows, changed, parts: [chainPart(capture)] };
};
