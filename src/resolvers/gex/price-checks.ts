import type { SessionDate } from '../../core/domain/market-time.ts';
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts';
import type { StoredGexCapture } from '../../store/gex/captures.ts';
import { storedCapture } from '../captures-at.ts';
import type { RequestContext } from '../context.ts';

/** Checks of the prices behind an answer's figures. */
export interface PriceChecks {
  /** True if spot and quotes have different times; null if nothing was compared. */
  spotStale: boolean | null;
  /** Expiries that fail the self-check, ascending; null if not checked. */
  inconsistentExpiries: SessionDate[] | null;
}

/** The checks of an answer, read on demand. */
export interface PriceChecked {
  priceChecks: () => MaybePromise<PriceChecks>;
}

const unchecked: PriceChecks = { spotStale: null, inconsistentExpiries: null };

type Checked = Pick<StoredGexCapture, 'spotStale' | 'inconsistentExpiries' | 'expiries'>;

/** The checks of the shown expiries of a capture; `null` = there is no capture. */
export function priceChecksOf(
  capture: Checked | null,
  shows: (expiry: SessionDate) => boolean = () => true,
): PriceChecks {
  if (capture === null) return unchecked;
  const failing = capture.expiries.filter(({ expiry, inconsistent }) => inconsistent && shows(expiry));
  return {
    spotStale: capture.spotStale,
    inconsistentExpiries: capture.inconsistentExpiries === null ? null : failing.map(({ expiry }) => expiry),
  };
}

/**
 * The checks of several captures: a spot is stale if that of one is, and expiries are those that fail in any. Null
 * unless something fails or all were checked.
 */
export function priceChecksOfAll(captures: readonly Checked[]): PriceChecks {
  if (captures.length === 0) return unchecked;
  const stale = captures.map(({ spotStale }) => spotStale);
  const each = captures.map((capture) => priceChecksOf(capture).inconsistentExpiries);
  const failing = [...new Set(each.flatMap((expiries) => expiries ?? []))].sort();
  return {
    spotStale: stale.includes(true) ? true : stale.includes(null) ? null : false,
    inconsistentExpiries: failing.length === 0 && each.includes(null) ? null : failing,
  };
}

/** The checks of the GEX capture of a chain, for the shown expiries; nothing is checked for a chain without one. */
export async function priceChecksOfChain(
  context: RequestContext,
  chain: { underlying: string; capturedAt: number } | null,
  shows: (expiry: SessionDate) => boolean,
): Promise<PriceChecks> {
  if (chain === null) return unchecked;
  const { underlying, capturedAt } = chain;
  const capture = await storedCapture(context, underlying, { atMs: capturedAt, byExpiry: false });
  return capture?.capturedAt === capturedAt ? priceChecksOf(capture, shows) : unchecked;
}
