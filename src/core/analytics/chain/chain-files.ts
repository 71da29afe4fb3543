import { type ChainCapture, type ChainFile, type ChainRow, sourceTime } from '../../domain/chain/chain.ts';
import { type ContractList, compareLists } from '../../domain/chain/contract-list.ts';
import { compareContracts } from '../../domain/chain/option-contract.ts';
import { lastInstant, type OptionRoots } from '../../domain/chain/option-root.ts';
import { dateOfEpochDay } from '../../domain/market-time.ts';
import { methodologySettings } from '../methodology.ts';

const { wholeShare, joinedSpanMs, joinedSpotTolerance, spotTolerance } = methodologySettings;

/** A file of a session's chains, as its group depends on it. */
export interface GroupedFile {
  hash: string;
  /** Time of its quotes, epoch ms. */
  sourceMs: number;
  /** Dollars; null = unknown. */
  spot: number | null;
}

/** Comparisons of files that need their rows. */
export interface FileTests<F extends GroupedFile> {
  areDisjoint(a: F, b: F): Promise<boolean>;
  /** True if the spot that a file's own quotes imply is its spot. */
  impliesSpot(file: F): Promise<boolean>;
}

/** Orders files by the time of their quotes, then by hash: their groups follow from it alone. */
export function compareFiles(a: GroupedFile, b: GroupedFile): number {
  return a.sourceMs - b.sourceMs || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0);
}

/** True if a file joins the group of files that are open before it. */
export async function joinsGroup<F extends GroupedFile>(
  group: readonly F[],
  file: F,
  tests: FileTests<F>,
): Promise<boolean> {
  if (group.length === 0 || file.sourceMs - group[0]!.sourceMs > joinedSpanMs) return false;
  for (const other of group) if (!(await tests.areDisjoint(other, file))) return false;
  const priced = group.filter(({ spot }) => spot !== null);
  const { spot } = file;
  if (spot === null || priced.every((other) => Math.abs(spot / other.spot! - 1) <= joinedSpotTolerance)) return true;
  for (const each of [...priced, file]) if (!(await tests.impliesSpot(each))) return false;
  return true;
}

/** True if a spot is the one that quotes imply. */
export function isImplied(spot: number, impliedSpot: number | null): boolean {
  return impliedSpot !== null && Math.abs(impliedSpot / spot - 1) <= spotTolerance;
}

function fileOf({ hash, file, capturedAt, delayMs, spot, priorCloseSpot, partial }: ChainCapture): ChainFile {
  const name = file?.name ?? null;
  return { hash: hash!, name, capturedAt, delayMs: delayMs ?? null, spot, priorCloseSpot, partial };
}

/**
 * The capture that files of one group make, given as they came, in order: at the instant of the latest, with the prices
 * of the latest that knows them.
 */
export function groupOf(files: readonly ChainCapture[]): ChainCapture {
  const latest = files.at(-1)!;
  if (files.length === 1) return latest;
  const lastKnown = (name: 'spot' | 'priorCloseSpot') => files.findLast((file) => file[name] !== null)?.[name] ?? null;
  const rows = files.flatMap((file, part) => file.rows.map((row): ChainRow => ({ ...row, part })));
  return {
    ...latest,
    spot: lastKnown('spot'),
    priorCloseSpot: lastKnown('priorCloseSpot'),
    partial: files.some(({ partial }) => partial),
    files: files.map(fileOf),
    rows: rows.sort(compareContracts),
  };
}

/** A row as its file has it. */
function rowOfFile({ solved: _s, filled: _f, part: _p, joinedInterest, ...row }: ChainRow): ChainRow {
  if (joinedInterest) row.openInterest = null;
  return row;
}

/** The files of a capture as they came, in order. */
export function filesOf(capture: ChainCapture): ChainCapture[] {
  const { files = null, joined, alone: _a, subset: _s, referenceVersion: _v, ...own } = capture;
  const others = new Set(joined);
  const isOwn = ({ root, expiry }: ChainRow) => others.size === 0 || !others.has(`${root} ${expiry}`);
  if (files === null) return [{ ...own, rows: own.rows.filter(isOwn).map(rowOfFile) }];
  return files.map(({ hash, name, ...header }, part) => {
    const file = name === null ? null : { name, sha256: hash };
    return { ...own, ...header, hash, file, rows: own.rows.filter((row) => row.part === part).map(rowOfFile) };
  });
}

/** A capture's pairs of expiry and right beside those of a larger one. */
export interface Completeness {
  /** Pairs of the larger one that have not settled. */
  pairs: number;
  /** Those of which most contracts are missing. */
  lacking: number;
}

/**
 * Counts what a capture lacks of another: an expiry and right counts as lacking with less than `wholeShare` of the
 * contracts that have not settled at the time of the capture's quotes.
 */
export function completeness(
  capture: Pick<ChainCapture, 'capturedAt' | 'delayMs' | 'sessionDate'>,
  contracts: ContractList,
  reference: ContractList,
  roots: OptionRoots,
): Completeness {
  const nowMs = sourceTime(capture);
  const pairs = new Map<number, { listed: number; found: number }>();
  const settled = new Map<string, boolean>();
  const isSettled = (root: string, day: number) => {
    const key = `${root} ${day}`;
    let known = settled.get(key);
    if (known === undefined) {
      known = lastInstant(dateOfEpochDay(day), roots.of(root, capture.sessionDate).settlement) <= nowMs;
      settled.set(key, known);
    }
    return known;
  };
  compareLists(reference, contracts, (i, isCommon) => {
    const day = reference.day[i]!;
    if (isSettled(reference.root[i]!, day)) return undefined;
    const key = day * 2 + reference.put[i]!;
    const pair = pairs.get(key) ?? { listed: 0, found: 0 };
    pair.listed++;
    pair.found += Number(isCommon);
    pairs.set(key, pair);
    return undefined;
  });
  const lacking = [...pairs.values()].filter(({ listed, found }) => found < wholeShare * listed).length;
  return { pairs: pairs.size, lacking };
}

const quotedCount = ({ rows }: ChainCapture) => rows.filter(({ bid, ask }) => bid !== null && ask !== null).length;

/** True if a chain lacks the price of the underlying, or most of the quotes, of another with the same contracts. */
export function knowsLess(chain: ChainCapture, other: ChainCapture): boolean {
  if (chain.spot === null && other.spot !== null) return true;
  return quotedCount(chain) < wholeShare * quotedCount(other);
}
