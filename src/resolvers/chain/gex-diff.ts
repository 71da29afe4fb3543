import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { diffGex } from '../../core/analytics/gex/diff.ts';
import type { PricedCapture } from '../../core/analytics/gex/diff-capture.ts';
import { topStrikes } from '../../core/analytics/gex/gex-rows.ts';
import type { ChainCapture } from '../../core/domain/chain/chain.ts';
import { type OptionRoots, standardRoots } from '../../core/domain/chain/option-root.ts';
import type { GexDifference, GexStrikeMoves } from '../../core/domain/gex/gex.ts';
import { oncePerRequest } from '../../platform/runtime/once-per-request.ts';
import type { StoredGexCapture } from '../../store/gex/captures.ts';
import { clampedCaps } from '../as-of.ts';
import { chainAt } from '../captures-at.ts';
import { findSymbol, type RequestContext, rootsOf } from '../context.ts';
import { loadDividends } from '../corporate.ts';
import { type CapturePoint, captureAtPoint, parseCapturePoint, requireOrder } from '../gex/capture-point.ts';
import { checkTop, type ServedGexCapture, servedCaptures } from '../gex/gex.ts';
import { gexInputs } from '../gex/inputs.ts';
import { type PriceChecked, priceChecksOfAll } from '../gex/price-checks.ts';
import { planeAt, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { capturesSources } from '../source-keys.ts';

/** A figure of two captures. */
export interface Moved {
  /** Null when unknown, or without a capture. */
  from: number | null;
  to: number | null;
  /** The second less the first; null if either is. */
  moved: number | null;
}

/** Reason for which there is no difference of two captures. */
export type DiffGap = 'no_from' | 'no_to' | 'no_inputs';

/** Both captures with what their contracts are re-priced from, or the reason for which there is no difference. */
type Comparable = { from: PricedCapture; to: PricedCapture } | { reason: DiffGap };

export interface GexDiffMeta extends ResponseMeta, PriceChecked {
  from: ServedGexCapture | null;
  to: ServedGexCapture | null;
  /** Null if there is a difference. */
  reason: () => Promise<DiffGap | null>;
}

/** Difference of two captures of a symbol. */
export interface GexDiff {
  symbol: string;
  /** Null if there is none by then. */
  from: ServedGexCapture | null;
  to: ServedGexCapture | null;
  netGex: Moved;
  flipPoint: Moved;
  zeroGamma: Moved;
  /** Thousandths of a dollar. */
  callWall: Moved;
  putWall: Moved;
  /** Computed when it is asked for; null for the reason that `meta` gives. */
  change: () => Promise<GexDifference | null>;
  meta: GexDiffMeta;
}

export interface GexDiffArgs {
  from: CapturePoint;
  to: CapturePoint;
  tz?: string | null | undefined;
}

/** A difference, with the reference data that it was computed with. */
interface KnownDifference {
  roots: OptionRoots;
  dividends: PricedCapture['dividends'];
  difference: Promise<GexDifference>;
}

// Captures are shared and never change, so results are cached with them, from their beginning on.
const differences = new WeakMap<ChainCapture, WeakMap<ChainCapture, KnownDifference>>();

/** The difference of two priced captures, computed once while both chains and their reference data stay the same. */
async function differenceOf(context: RequestContext, from: PricedCapture, to: PricedCapture): Promise<GexDifference> {
  const isStored = from.chain.pricing && to.chain.pricing;
  const [roots, { dividends }] = [isStored ? standardRoots : await rootsOf(context), to];
  const known = differences.get(from.chain) ?? new WeakMap<ChainCapture, KnownDifference>();
  differences.set(from.chain, known);
  const found = known.get(to.chain);
  if (found?.roots === roots && found.dividends === dividends) {
    const shared = await found.difference.catch(() => null);
    // The client of the request that computed it may have disconnected.
    return shared ?? differenceOf(context, from, to);
  }
  const difference = diffGex(from, to, roots);
  known.set(to.chain, { roots, dividends, difference });
  try {
    return await difference;
  } catch (error) {
    if (known.get(to.chain)?.difference === difference) known.delete(to.chain);
    throw error;
  }
}

/** Dividends of a chain that was stored with its pricing. */
const noneNeeded: PricedCapture['dividends'] = [];

/** A capture with its chain and inputs; null if one of these is not stored. */
async function pricedCapture(context: RequestContext, capture: ServedGexCapture): Promise<PricedCapture | null> {
  const { underlying, capturedAt, impliedSpot } = capture;
  const [chain, inputs] = await Promise.all([chainAt(context, underlying, capturedAt), gexInputs(context, capture)]);
  if (chain?.capturedAt !== capturedAt || inputs === null) return null;
  const dividends = chain.pricing ? noneNeeded : await loadDividends(context, underlying);
  return { chain, impliedSpot, inputs: inputs.expiries, dividends };
}

async function comparable(
  context: RequestContext,
  from: ServedGexCapture | null,
  to: ServedGexCapture | null,
): Promise<Comparable> {
  if (from === null) return { reason: 'no_from' };
  if (to === null) return { reason: 'no_to' };
  const [before, after] = await Promise.all([from, to].map((capture) => pricedCapture(context, capture)));
  return before && after ? { from: before, to: after } : { reason: 'no_inputs' };
}

/** Keeps the `top` strikes with the largest |gex|, ascending; of equals the lower ones. Null = all. 400 below 1. */
export function largestStrikes(strikes: readonly GexStrikeMoves[], top: number | null): readonly GexStrikeMoves[] {
  checkTop(top, 'top');
  const selected = top === null ? null : topStrikes({ gex: Float64Array.from(strikes, ({ gex }) => gex) }, top);
  return selected === null ? strikes : Array.from(selected, (index) => strikes[index]!);
}

const served = (capture: StoredGexCapture | null) => capture && servedCaptures([capture], false, null)[0]!;

/** Derives what two captures differ in from their stored figures. */
function movedFigures(from: ServedGexCapture | null, to: ServedGexCapture | null) {
  const moved = (name: 'netGex' | 'flipPoint' | 'zeroGamma' | 'callWall' | 'putWall'): Moved => {
    const [before, after] = [from?.[name] ?? null, to?.[name] ?? null];
    return { from: before, to: after, moved: before === null || after === null ? null : after - before };
  };
  return {
    netGex: moved('netGex'),
    flipPoint: moved('flipPoint'),
    zeroGamma: moved('zeroGamma'),
    callWall: moved('callWall'),
    putWall: moved('putWall'),
  };
}

/** The change of a symbol's gex between two captures, and its causes (methodology 10). */
export async function gexDiff(context: RequestContext, symbol: string, args: GexDiffArgs): Promise<GexDiff> {
  const terms = { symbol, tz: args.tz, context };
  const start = parseCapturePoint(args.from, { ...terms, parameter: 'from' });
  const end = parseCapturePoint(args.to, { ...terms, parameter: 'to' });
  requireReadable(context.caller, await findSymbol(context, symbol));
  const captures = await Promise.all([start, end].map((asked) => captureAtPoint(context, symbol, asked)));
  const [first, last] = captures as [StoredGexCapture | null, StoredGexCapture | null];
  requireOrder({ asked: start, capture: first }, { asked: end, capture: last });
  const [from, to] = [served(first), served(last)];
  const name = `${symbol} ${from?.capturedAt} ${to?.capturedAt}`;
  const both = () => oncePerRequest(context, `gex pair ${name}`, () => comparable(context, from, to));
  const change = async () => {
    const pair = await both();
    if ('reason' in pair) return null;
    return oncePerRequest(context, `gex diff ${name}`, () => differenceOf(context, pair.from, pair.to));
  };
  const reason = async () => {
    const pair = await both();
    return 'reason' in pair ? pair.reason : null;
  };
  return {
    symbol,
    from,
    to,
    change,
    ...movedFigures(from, to),
    meta: {
      ...responseMeta(context, planeAt(context, end), clampedCaps(start, end), () =>
        capturesSources(symbol, [from, to]),
      ),
      from,
      to,
      reason,
      priceChecks: () => priceChecksOfAll(captures.filter((capture) => capture !== null)),
    },
  };
}
