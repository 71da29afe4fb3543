import { requireFlow, requireReadable } from '../../access/entitlement/entitlement.ts';
import {
  type ConventionFigures,
  conventionFigures,
  type SignedVolumes,
  type StrikeValue,
} from '../../core/analytics/gex/convention-figures.ts';
import { topStrikes } from '../../core/analytics/gex/gex-rows.ts';
import { methodologySettings } from '../../core/analytics/methodology.ts';
import { tradingDayAtOrBefore } from '../../core/domain/calendar.ts';
import { type ChainCapture, sourceTime } from '../../core/domain/chain/chain.ts';
import type { Coverage } from '../../core/domain/flow/flow.ts';
import {
  type ConventionPreset,
  captureConvention,
  conventionPresets,
  type GexConvention,
} from '../../core/domain/gex/convention.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import type { StoredGexCapture } from '../../store/gex/captures.ts';
import { clampedCaps, parseAsOf } from '../as-of.ts';
import { chainAt } from '../captures-at.ts';
import { findSymbol, type RequestContext } from '../context.ts';
import { type FigureInstant, gexInstant } from '../figure-instant.ts';
import { type SignedVolumes as FoundVolumes, signedVolume } from '../flow/signed-volume.ts';
import { checkTop } from '../gex/gex.ts';
import { type PriceChecked, priceChecksOf } from '../gex/price-checks.ts';
import { delayedSourceTime, type QuoteTime, quoteTimeOf } from '../quote-time.ts';
import { instantMeta, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { captureSource } from '../source-keys.ts';
import { chainFigures } from './chain-figures.ts';

export type { StrikeValue };

/** A convention as a caller chooses it: a named one, and choices in place of its own. Null = its own. */
export type AskedConvention = { readonly [Name in keyof GexConvention]?: GexConvention[Name] | null | undefined } & {
  preset?: ConventionPreset | null | undefined;
};

export interface GexFiguresMeta extends ResponseMeta, PriceChecked {
  /** Epoch ms; null if it is the capture's own time. */
  sourceTime: number | null;
  flipStatus: ConventionFigures['flipStatus'];
  /** Observed part of the session whose signed volume is counted; null unless it is. */
  flowCoverage: (Coverage & { symbol: string }) | null;
  /** Why there are no figures, or the date of an old capture; null if there are some of the last session. */
  note: string | null;
}

/** Figures of a capture in a convention. */
export interface GexFigures extends QuoteTime {
  symbol: string;
  sessionDate: SessionDate | null;
  /** Epoch ms; null when nothing was captured. */
  capturedAt: number | null;
  /** Price of the underlying in the figures, dollars; null without a capture. */
  price: number | null;
  convention: GexConvention;
  /** Null without a capture. */
  figures: ConventionFigures | null;
  meta: GexFiguresMeta;
}

export interface GexFiguresArgs {
  convention?: AskedConvention | null | undefined;
  at?: string | null | undefined;
  tz?: string | null | undefined;
}

/** The choice of expiries. Throws 400 for one without its days or dates, and for these with another choice. */
function askedExpiries({ expiries, withinDays, dates }: AskedConvention): Partial<GexConvention> {
  const implied = withinDays != null ? 'within_days' : dates != null ? 'list' : null;
  const chosen = expiries ?? implied;
  if (withinDays != null && (chosen !== 'within_days' || withinDays < 0))
    throw invalidParameter('within_days', `expected 0 or more days, and no other choice of expiries`);
  if (dates != null && (chosen !== 'list' || dates.length === 0))
    throw invalidParameter('dates', 'expected at least one date, and no other choice of expiries');
  if (chosen === 'within_days' && withinDays == null) throw invalidParameter('within_days', 'is required');
  if (chosen === 'list' && dates == null) throw invalidParameter('dates', 'is required');
  return chosen === null ? {} : { expiries: chosen, withinDays: withinDays ?? null, dates: dates ?? null };
}

/** Completes a convention, the source of gammas by that of the capture. Throws 400 for choices that exclude others. */
function completed(asked: AskedConvention, gammaSource: StoredGexCapture['gammaSource'] | null): GexConvention {
  const { preset, expiries: _e, withinDays: _w, dates: _d, ...choices } = asked;
  const sent = Object.fromEntries(Object.entries(choices).filter(([, value]) => value != null));
  const gamma = gammaSource === 'vendor' ? 'vendor' : 'solved';
  const named = conventionPresets[preset ?? 'capture'];
  const convention: GexConvention = { ...captureConvention, gamma, ...named, ...sent, ...askedExpiries(asked) };
  if (convention.sign === 'by_flow' && convention.weight !== 'volume')
    throw invalidParameter('weight', 'expected volume, the only weight of sign by_flow');
  return convention;
}

/** Conventions whose figures are cached with a chain. */
const cachedConventions = 8;

/** Makes the figures of a chain in conventions; the last ones are cached. */
const figuresOfChain = chainFigures((chain, reference) => {
  const known = new Map<string, ConventionFigures | null>();
  const options = { ...reference, rate: chain.rate ?? methodologySettings.usualRate };
  const expiries = [...new Set(chain.rows.map(({ expiry }) => expiry))];
  return async (
    convention: GexConvention,
    { hasSettled }: FigureInstant,
    flow?: SignedVolumes,
  ): Promise<ConventionFigures | null> => {
    const settled = new Set(expiries.filter(hasSettled));
    // Late prints change signed volumes.
    if (flow) return conventionFigures(chain, convention, { ...options, settled }, flow);
    const key = JSON.stringify([convention, settled.size]);
    if (known.has(key)) return known.get(key)!;
    await yieldToEventLoop();
    const figures = await conventionFigures(chain, convention, { ...options, settled });
    if (known.size >= cachedConventions) known.delete(known.keys().next().value!);
    known.set(key, figures);
    return figures;
  };
});

/** A capture with all that its figures come from; null = there is none. */
interface Found {
  capture: StoredGexCapture | null;
  chain: ChainCapture | null;
  /** Undefined = not asked for. */
  flow: SignedVolumes | null | undefined;
  figures: ConventionFigures | null;
}

/** Why there are no figures; null if there are. */
function noteOf(symbol: string, { capture, chain, flow, figures }: Found): string | null {
  if (capture === null) return `No dealer gamma of ${symbol} has been captured.`;
  if (chain === null) return `The option chain of this capture of ${symbol} is not stored.`;
  if (flow === null) return `No contracts bought and sold of ${symbol} are known in the session of the capture.`;
  if (figures === null || figures.net !== null) return null;
  if (figures.coverage === null) return `The option chain of ${symbol} has no such contracts in these expiries.`;
  return `Gammas are known for less than ${100 * methodologySettings.minimumOiCoverage}% of the contracts of ${symbol}.`;
}

/** Keeps the `top` strikes with the largest |value|, ascending; of equals the lower ones. Null = all. 400 below 1. */
export function largestValues(strikes: readonly StrikeValue[], top: number | null): readonly StrikeValue[] {
  checkTop(top, 'top');
  const selected = top === null ? null : topStrikes({ gex: Float64Array.from(strikes, ({ value }) => value) }, top);
  return selected === null ? strikes : Array.from(selected, (index) => strikes[index]!);
}

/**
 * The signed volume up to the quotes of a chain, if the convention counts it; null if none is known, as of underlyings
 * outside the registry. Throws 403 unless the caller may read option flow.
 */
async function flowOf(
  context: RequestContext,
  chain: ChainCapture | null,
  { sign }: GexConvention,
): Promise<FoundVolumes | null | undefined> {
  if (sign !== 'by_flow') return undefined;
  requireFlow(context.caller);
  if (chain === null || !(await findSymbol(context, chain.underlying))?.registered) return null;
  return signedVolume(context, chain.underlying, chain.sessionDate, sourceTime(chain));
}

/**
 * A symbol's figures in a convention, from the latest capture or the last one at or before a time. A bare date means
 * the last capture of its session, or of the session before if it does not trade.
 */
export async function gexFigures(context: RequestContext, symbol: string, args: GexFiguresArgs): Promise<GexFigures> {
  const asked = args.convention ?? {};
  completed(asked, null);
  const asOf = args.at == null ? null : parseAsOf(args.at, args.tz, 'at', context);
  requireReadable(context.caller, await findSymbol(context, symbol));
  // A date after an `asOf` around it was cut to that instant.
  const isDate = asOf !== null && asOf.bareDate !== null && !asOf.isClamped;
  const sessionDate = isDate ? tradingDayAtOrBefore(asOf.bareDate!) : null;
  const instant = await gexInstant(context, symbol, { asOf, sessionDate, byExpiry: false });
  const { capture } = instant;
  const convention = completed(asked, capture?.gammaSource ?? null);
  const found = capture && (await chainAt(context, symbol, capture.capturedAt));
  const chain = found?.capturedAt === capture?.capturedAt ? found : null;
  const signed = await flowOf(context, chain, convention);
  const flow = signed === null ? null : signed?.byContract;
  const isKnown = chain !== null && flow !== null;
  const figures = isKnown ? await (await figuresOfChain(context, chain))(convention, instant, flow) : null;
  const shown = new Set(figures?.expiries);
  return {
    symbol,
    sessionDate: capture?.sessionDate ?? null,
    capturedAt: capture?.capturedAt ?? null,
    ...quoteTimeOf(capture),
    price: capture && (capture.spot ?? capture.priorCloseSpot),
    convention,
    figures,
    meta: {
      ...responseMeta(context, instant.plane, clampedCaps(asOf), () => captureSource(symbol, capture)),
      ...instantMeta(context, asOf, capture?.capturedAt ?? null),
      priceChecks: () => priceChecksOf(capture, (expiry) => shown.has(expiry)),
      sourceTime: delayedSourceTime(capture),
      flipStatus: figures?.flipStatus ?? null,
      flowCoverage: signed ? { symbol, ...signed.coverage } : null,
      note:
        capture === null && instant.note
          ? instant.note
          : (noteOf(symbol, { capture, chain, flow, figures }) ?? instant.note),
    },
  };
}
