import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { sourcePrice } from '../../core/analytics/chain/solve-chain.ts';
import { chainPricing } from '../../core/analytics/chain/stored-pricing.ts';
import { type ChainExposures, chainExposures } from '../../core/analytics/gex/chain-exposures.ts';
import { methodologySettings } from '../../core/analytics/methodology.ts';
import type { ChainCapture } from '../../core/domain/chain/chain.ts';
import type { ExpiryExposures, Exposures, StrikeExposures } from '../../core/domain/gex/gex.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { clampedCaps, parseAsOf } from '../as-of.ts';
import { findSymbol, type RequestContext } from '../context.ts';
import { chainInstant, type FigureInstant } from '../figure-instant.ts';
import { type PriceChecked, priceChecksOfChain } from '../gex/price-checks.ts';
import { delayedSourceTime, type QuoteTime, quoteTimeOf } from '../quote-time.ts';
import { instantMeta, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { captureSource } from '../source-keys.ts';
import { chainFigures } from './chain-figures.ts';

export type { ExpiryExposures, Exposures, StrikeExposures };

export interface ExposuresMeta extends ResponseMeta, PriceChecked {
  /** Epoch ms; null where it is the capture's own time. */
  sourceTime: number | null;
  /** Why there are no exposures, or the date of an old capture; null if there are some of the last session. */
  note: string | null;
}

/** The exposures of a chain capture. */
export interface ExposuresPage extends QuoteTime {
  symbol: string;
  sessionDate: SessionDate | null;
  /** Epoch ms; null when nothing was captured. */
  capturedAt: number | null;
  /** Dollars; null when unknown. */
  spot: number | null;
  /** Null without a capture, or without a price of the underlying. */
  exposures: ChainExposures | null;
  meta: ExposuresMeta;
}

/** Makes the exposures of a chain's open expiries; the last ones are cached. */
const exposuresOf = chainFigures((chain, { roots, ...reference }) => {
  const price = sourcePrice(chain);
  if (price === null) return null;
  const rate = chain.rate ?? methodologySettings.usualRate;
  const priced = chainPricing(chain, { ...reference, rate, roots }).priced();
  let last: { count: number; exposures: ChainExposures } | null = null;
  return (instant: FigureInstant): ChainExposures => {
    const groups = priced.groups.filter(({ expiry }) => !instant.hasSettled(expiry));
    // Expiries settle in their order, so their number names the open ones.
    if (last?.count !== groups.length)
      last = { count: groups.length, exposures: chainExposures(chain, { ...priced, groups }, price) };
    return last.exposures;
  };
});

function noteOf(symbol: string, capture: ChainCapture | null, exposures: ChainExposures | null): string | null {
  if (capture === null) return `No option chain of ${symbol} has been captured.`;
  return exposures === null ? `The option chain of ${symbol} has no price of the underlying.` : null;
}

/** Delta, vanna, charm and vega exposure of the last chain captured at or before a time; null = now. */
export async function symbolExposures(
  context: RequestContext,
  symbol: string,
  { at, tz }: { at?: string | null | undefined; tz?: string | null | undefined },
): Promise<ExposuresPage> {
  const asOf = at == null ? null : parseAsOf(at, tz, 'at', context);
  requireReadable(context.caller, await findSymbol(context, symbol));
  const instant = await chainInstant(context, symbol, asOf);
  const { capture } = instant;
  const exposures = (capture && (await exposuresOf(context, capture))?.(instant)) ?? null;
  const shown = new Set(exposures?.byExpiry.map(({ expiry }) => expiry));
  return {
    symbol,
    sessionDate: capture?.sessionDate ?? null,
    capturedAt: capture?.capturedAt ?? null,
    ...quoteTimeOf(capture),
    spot: capture?.spot ?? null,
    exposures,
    meta: {
      ...responseMeta(context, instant.plane, clampedCaps(asOf), () => captureSource(symbol, capture)),
      ...instantMeta(context, asOf, capture?.capturedAt ?? null),
      priceChecks: () => priceChecksOfChain(context, capture, (expiry) => shown.has(expiry)),
      sourceTime: delayedSourceTime(capture),
      note: capture === null && instant.note ? instant.note : (noteOf(symbol, capture, exposures) ?? instant.note),
    },
  };
}
