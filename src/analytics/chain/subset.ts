import { type ChainCapture, sourceTime } from '../../domain/chain/chain.ts';
import { type ChainOutline, type ListedExpiry, listingKey, outlineOf } from '../../domain/chain/chain-outline.ts';
import { compareContracts, contractId } from '../../domain/chain/option-contract.ts';
import { lastInstant, type OptionRoots } from '../../domain/chain/option-root.ts';
import { methodologySettings } from '../methodology.ts';

const { wholeShare, joinedSpanMs, joinedSpotTolerance } = methodologySettings;

/** A capture's listing as fractions of another's. */
export interface ListedShares {
  /** Null if the other has none. */
  openInterest: number | null;
  contracts: number | null;
}

const share = (part: number, whole: number) => (whole > 0 ? part / whole : null);

/** Counts the listed contracts that have not expired at the time of the quotes of `at`. */
function unexpired({ listed }: ChainOutline, at: ChainOutline, roots: OptionRoots) {
  const nowMs = sourceTime(at);
  const total = { openInterest: 0, contracts: 0 };
  const isLive = ({ root, expiry }: ListedExpiry) =>
    lastInstant(expiry, roots.of(root, at.sessionDate).settlement) > nowMs;
  for (const each of listed.values()) {
    if (!isLive(each)) continue;
    total.openInterest += each.openInterest;
    total.contracts += each.contracts;
  }
  return total;
}

/** A capture's listing as fractions of the unexpired part of another's. */
export function listedShares(outline: ChainOutline, whole: ChainOutline, roots: OptionRoots): ListedShares {
  const [own, other] = [unexpired(outline, outline, roots), unexpired(whole, outline, roots)];
  return {
    openInterest: share(own.openInterest, other.openInterest),
    contracts: share(own.contracts, other.contracts),
  };
}

/** True if a capture lists much less than a whole one. */
export function isSubset({ openInterest, contracts }: ListedShares): boolean {
  return (openInterest ?? 1) < wholeShare || (contracts ?? 1) < wholeShare;
}

/** True if a capture lists so much of a whole one that it is no subset, whatever has expired; false if unknown. */
export function hasMostOf(
  outline: ChainOutline,
  { rowCount, openInterest }: { rowCount: number; openInterest: number | null },
  roots: OptionRoots,
): boolean {
  if (openInterest === null) return false;
  const own = unexpired(outline, outline, roots);
  return !isSubset({ openInterest: share(own.openInterest, openInterest), contracts: share(own.contracts, rowCount) });
}

/** True if two captures can be parts of one: taken within a short time, at one price, with different expiries. */
export function areParts(a: ChainOutline, b: ChainOutline): boolean {
  if (a.spot === null || b.spot === null || Math.abs(a.capturedAt - b.capturedAt) > joinedSpanMs) return false;
  if (Math.abs(a.spot / b.spot - 1) > joinedSpotTolerance) return false;
  return [...a.listed.keys()].every((key) => !b.listed.has(key));
}

/** A capture without joined contracts. */
export function ownPart({ joined, ...chain }: ChainCapture): ChainCapture {
  const others = new Set(joined);
  return { ...chain, rows: chain.rows.filter(({ root, expiry }) => !others.has(listingKey(root, expiry))) };
}

/** A capture joined with the contracts of others, which are parts of the same chain. */
export function joinParts(chain: ChainCapture, others: readonly ChainCapture[]): ChainCapture {
  if (others.length === 0) return chain;
  const rows = [chain, ...others].flatMap((each) => each.rows).sort(compareContracts);
  return { ...chain, partial: [chain, ...others].some(({ partial }) => partial), rows };
}

/** True if a capture lists a strict subset of another's contracts. */
function isWithin(chain: ChainCapture, other: ChainCapture): boolean {
  if (chain.rows.length >= other.rows.length) return false;
  const listed = new Set(other.rows.map(contractId));
  return chain.rows.every((row) => listed.has(contractId(row)));
}

const quotedCount = ({ rows }: ChainCapture) => rows.filter(({ bid, ask }) => bid !== null && ask !== null).length;

/** True if a capture lacks the price of the underlying, or most of the quotes, of another of its instant. */
function knowsLess(chain: ChainCapture, other: ChainCapture): boolean {
  if (chain.spot === null && other.spot !== null) return true;
  return quotedCount(chain) < wholeShare * quotedCount(other);
}

/**
 * Combines two captures of one instant, given in order of arrival: joins them if they are parts of one chain; returns
 * null if the first has everything of the second; else the second. Joined parts have the higher spot, so that the order
 * of arrival does not matter.
 */
export function combined(first: ChainCapture, second: ChainCapture, roots: OptionRoots): ChainCapture | null {
  const [before, after] = [outlineOf(first), outlineOf(second)];
  if (areParts(before, after)) {
    const isFirst = first.spot! > second.spot!;
    return isFirst ? joinParts(first, [second]) : joinParts(second, [first]);
  }
  const isLess = isWithin(second, first) || knowsLess(second, first) || isSubset(listedShares(after, before, roots));
  return isLess ? null : second;
}
