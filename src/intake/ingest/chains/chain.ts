import { sourcePrice } from '../../../core/analytics/chain/solve-chain.ts';
import { vendorNetGex } from '../../../core/analytics/gex/capture.ts';
import { roundingBias } from '../../../core/analytics/gex/exposure.ts';
import { methodologySettings, methodologyVersion } from '../../../core/analytics/methodology.ts';
import { baseNameOf } from '../../../core/domain/chain/capture-inputs.ts';
import type { ChainCapture } from '../../../core/domain/chain/chain.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { GexCapture } from '../../../core/domain/gex/gex.ts';
import { instantBounds, isWithin, outOfBounds } from '../../../core/domain/instant-gate.ts';
import { lockCapturesOfAll } from '../../../store/chain/session-captures.ts';
import { forgetFiles } from '../../../store/market/ingested-files.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { rejectSealed } from '../../../store/market/session-seals.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { chainFormats, readChains } from '../../tape/chains/chain-file.ts';
import { TapeFileError } from '../../tape/csv/tape-file.ts';
import type { FileJob, IngestSettings, Loader, RemadePart } from '../files/file-job.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';
import type { Placement } from './reference-capture.ts';
import { writeRegrouped } from './regroup.ts';
import { asFile, asStored, sessionGroups } from './session-groups.ts';
import type { ChainSettings, WrittenChain } from './write-chain.ts';

const millions = (dollars: number) => `${(dollars / 1e6).toFixed(1)}m`;

/** The error of a sum of gammas that are printed with few decimals, as far as the capture's own gammas reveal it. */
function biasNote(
  chain: ChainCapture,
  { gammaDecimals: decimals, gammaSource }: GexCapture,
  price: number,
  roots: OptionRoots,
): string {
  if (decimals === null) return '';
  const printed = `, which are printed with ${decimals} ${decimals === 1 ? 'decimal' : 'decimals'}`;
  if (gammaSource === 'vendor') return printed;
  const bias = roundingBias(chain, decimals, price, roots);
  return `${printed}: rounding alone moves the net by ${bias < 0 ? '' : '+'}${millions(bias)}`;
}

/**
 * The two nets of a capture side by side, for people: small differences of large sums, and the vendor rounds its
 * gammas. Null if the vendor provides too few. `chain` is the solved one.
 */
function netTotals(chain: ChainCapture, gex: GexCapture, roots: OptionRoots): string | null {
  const isVendor = gex.gammaSource === 'vendor';
  const price = gex.spot ?? gex.priorCloseSpot!;
  const vendor = isVendor ? gex.netGex : vendorNetGex(chain, price, roots);
  if (vendor === null) return null;
  const solved = isVendor ? '' : `${millions(gex.netGex)} solved, `;
  const totals = `${solved}${millions(vendor)} by the vendor's gammas`;
  return `net GEX in dollars per $1: ${totals}${biasNote(chain, gex, price, roots)}`;
}

/** Reason for which a chain, as stored, has no GEX capture, for people. */
export function noGexNote(chain: ChainCapture): string {
  const share = Math.round(100 * methodologySettings.minimumOiCoverage);
  const isKnown = chain.rows.some(({ openInterest }) => openInterest !== null);
  if (sourcePrice(chain) === null) return 'no GEX capture: the price of the underlying is unknown';
  if (!isKnown) return 'no GEX capture: the open interest is unknown; a file of open-interest of the session adds it';
  return `no GEX capture: gamma is known for less than ${share}% of open interest`;
}

/** Reason for which a chain was skipped, for people. */
const coveredNote = 'not stored: the capture of this instant that is stored has all of it, or more';

const iso = (tsMs: number) => new Date(tsMs).toISOString();

/** The first of some contracts, and the number of the others. */
function some(contracts: readonly string[]): string {
  const [shown, others] = [contracts.slice(0, 3).join(', '), contracts.length - 3];
  return others > 0 ? `${shown} and ${others} more` : shown;
}

/** Describes the capture that a chain became a part of, for people; null if it is one by itself, and whole. */
function placementNote({ files }: ChainCapture, { subset, of }: Placement, lost: readonly string[]): string | null {
  const others = (files?.length ?? 1) - 1;
  const notes = [
    ...(lost.length > 0 ? [`replaced: the chain of its instant had ${some(lost)}, which it lacks`] : []),
    ...(others > 0 ? [`one chain with ${others} other ${others === 1 ? 'file' : 'files'} of its session`] : []),
    ...(subset && of
      ? [`partial: it lacks ${of.lacking} of ${of.pairs} expiries and rights of the chain of ${iso(of.capturedAt)}`]
      : []),
  ];
  if (notes.length === 0) return null;
  return `${notes.join('; ')}${subset ? '; stored, served at its own time alone' : ''}`;
}

/** Key of a chain's file: its underlying and instant. */
function chainPart({ underlying, capturedAt }: Pick<ChainCapture, 'underlying' | 'capturedAt'>): string {
  return `${underlying} ${capturedAt}`;
}

/** A stored chain. */
export interface StoredChain extends WrittenChain {
  /** Reason for which it is not published, or its parts, for people; null if it is complete. */
  note: string | null;
  /** Reason for which it is not stored, for people, though it has contracts that are not; null if it is. */
  rejection: string | null;
  /** The captures that changed, and those that are no more. */
  remade: readonly RemadePart[];
}

/** Settings of storing a chain. */
export interface StoreChainSettings extends ChainSettings {
  /** True if it replaces what it lacks of the capture of its instant. */
  replace?: boolean;
}

const unchanged = { gex: null, changed: 0, remade: [], note: null, rejection: null };

/** Describes the contracts that keep a chain from the instant of a stored one, for people. */
function rejectionOf(capturedAt: number, lacked: readonly string[]): string {
  const missing = lacked.length > 0 ? `it lacks ${some(lacked)}` : 'it would be a chain beside it';
  return `not stored: of the stored chain of ${iso(capturedAt)}, ${missing}; --replace stores it in its place`;
}

/**
 * Prepares a transaction for storing chains: their underlyings are in the directory, and their captures are locked. All
 * at once and in this order, as other writers do, so that none waits for another in a circle. Throws `SessionSealed`.
 */
async function holdChains(tx: Transaction, captures: readonly ChainCapture[]): Promise<OptionRoots> {
  await rejectSealed(
    tx,
    captures.map(({ underlying, sessionDate }) => ({ symbol: underlying, sessionDate })),
  );
  const roots = await readRoots(tx);
  const names = new Set<string>();
  for (const { rows } of captures) for (const { root } of rows) names.add(root);
  await saveUnderlyings(tx, names, roots);
  await lockCapturesOfAll(
    tx,
    captures.map(({ underlying }) => underlying),
  );
  return roots;
}

/**
 * Stores a chain and its GEX capture in the group of files that it belongs to, and updates the captures that this
 * changes: the result depends on the set of files, not on the order of arrival. A chain whose contracts the stored
 * files of its instant already have is skipped, and one that lacks some is refused. Throws `SessionSealed`.
 */
export async function storeChain(
  tx: Transaction,
  capture: ChainCapture,
  settings: StoreChainSettings,
): Promise<StoredChain> {
  const roots = await holdChains(tx, [capture]);
  return storeHeld(tx, capture, settings, roots);
}

/** The part of `storeChain` in a transaction that holds the chain. */
async function storeHeld(
  tx: Transaction,
  capture: ChainCapture,
  { replace = false, ...given }: StoreChainSettings,
  roots: OptionRoots,
): Promise<StoredChain> {
  const { underlying, capturedAt } = capture;
  const settings = { given, roots, rate: given.rate, delayMs: null, all: false, source: asStored };
  const groups = await sessionGroups(tx, capture, settings);
  const file = groups.add(asFile(capture));
  const { isCovered, replaced, lost } = await groups.taking(file, replace);
  if (isCovered) return { ...unchanged, chain: capture, note: coveredNote };
  const regrouped = await groups.regrouped(file, replaced);
  if (regrouped.doubled !== null) {
    const rejection = rejectionOf(regrouped.doubled, await groups.lackedBy(file, regrouped.doubled));
    return { ...unchanged, chain: capture, rejection };
  }
  const { written, remade } = await writeRegrouped(tx, groups, regrouped, settings);
  const own = written.get(regrouped.changed.find(({ files }) => files.includes(file))!.capturedAt)!;
  const changed = own.changed + Number(own.changed === 0 && remade.length > 0);
  if (replaced.length > 0 && changed > 0) await forgetFiles(tx, ['chain'], [chainPart({ underlying, capturedAt })]);
  return { ...own, changed, remade, note: placementNote(own.chain, own.placement, lost), rejection: null };
}

/** A chain with the given delay of its source; null: the delay of its format. */
export function withDelay(chain: ChainCapture, delayMs: number | null): ChainCapture {
  return delayMs === null ? chain : { ...chain, delayMs };
}

/** The settings that change the result of a chain's file. */
export function chainShape({ gammaSource, rate, delayMs, symbols }: IngestSettings): string {
  const delays = chainFormats.flatMap((format) => (format.delayMs > 0 ? `${format.name} ${format.delayMs}` : []));
  const only = symbols === null ? '' : ` of ${symbols.toSorted().join()}`;
  return `${gammaSource} ${rate} ${methodologyVersion} ${delayMs ?? delays.join()}${only}`;
}

/** The chains to store of a file. Throws `TapeFileError`. */
function chosen(path: string, captures: readonly ChainCapture[], { symbols }: IngestSettings): readonly ChainCapture[] {
  const own = captures.filter(({ underlying }) => symbols?.includes(underlying) ?? true);
  if (own.length > 0) return own;
  const present = some(captures.map(({ underlying }) => underlying));
  throw new TapeFileError(path, `expected the chain of ${symbols!.join(' or ')}; the file has that of ${present}`);
}

/** Stores a chain of a file, and reports what there is to note of it. Throws `TapeFileError`. */
async function storeFileChain(
  { path, tx, settings, onNote }: FileJob,
  capture: ChainCapture,
  { roots, isAlone }: { roots: OptionRoots; isAlone: boolean },
): Promise<StoredChain> {
  const named = (text: string) => (isAlone ? text : `${capture.underlying}: ${text}`);
  const stored = await storeHeld(tx, capture, settings, roots);
  const { chain, gex, note, rejection } = stored;
  if (rejection !== null) throw new TapeFileError(path, named(rejection));
  if (note !== null) onNote(named(note));
  const missing = note === coveredNote ? null : noGexNote(chain);
  const figures = gex ? netTotals(chain, gex, roots) : missing;
  if (figures !== null) onNote(named(figures));
  return stored;
}

/**
 * A file of chains: of each underlying in it its capture, and the GEX capture that follows from it. All are stored or
 * none.
 */
export const loadChain: Loader = async (job) => {
  const { path, tx, settings, now, onBadLine, onBytes, onNote, refused } = job;
  const roots = await readRoots(tx);
  const { captures: read, halfLines, headerLines } = await readChains(path, onBadLine, onBytes, roots);
  const file = { name: baseNameOf(job.name), sha256: job.sha256() };
  const captures = chosen(path, read, settings).map((each) => ({ ...withDelay(each, settings.delayMs), file }));
  const isAlone = read.length === 1;
  const outside = captures.find(({ capturedAt }) => !isWithin(instantBounds(now()), capturedAt));
  if (outside) {
    const of = isAlone ? 'the chain' : `the chain of ${outside.underlying}`;
    throw new TapeFileError(path, `time of ${of}: ${outOfBounds(outside.capturedAt)}`);
  }
  for (const { line, reason } of halfLines) onNote(`line ${line}, only one side stored: ${reason}`);
  const rows = captures.reduce((sum, capture) => sum + capture.rows.length, 0);
  if (refused()) return { rows, changed: 0 };
  if (!isAlone)
    onNote(`${captures.length} of ${read.length} underlyings: ${some(captures.map(({ underlying }) => underlying))}`);
  const held = await holdChains(tx, captures);
  let changed = 0;
  const remade: RemadePart[] = [];
  for (const capture of captures) {
    // The reader looks whether it was stopped.
    onBytes(0);
    const stored = await storeFileChain(job, capture, { roots: held, isAlone });
    changed += stored.changed;
    remade.push(...stored.remade);
  }
  return { rows, changed, parts: captures.map(chainPart), remade, headerLines };
};
