import { mayRead, requireReadable } from '../../access/entitlement/entitlement.ts';
import { captureLevels, levelAt } from '../../core/analytics/gex/levels.ts';
import { tradeSpan } from '../../core/domain/calendar.ts';
import type { Level, LevelKind, SourceLevel } from '../../core/domain/levels.ts';
import type { Quote } from '../../core/domain/market/quote.ts';
import { splitFactor } from '../../core/domain/market/splits.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { clampedCaps, contextAtTime, parseAsOf } from '../as-of.ts';
import { findSymbol, type RequestContext, requireSource, rootsOf } from '../context.ts';
import { loadSplits } from '../corporate.ts';
import type { FigureInstant } from '../figure-instant.ts';
import { flipStatusOf, isPartial, type ServedGexCapture, servedInstant } from '../gex/gex.ts';
import { storedInputs } from '../gex/inputs.ts';
import { type PriceChecked, priceChecksOf } from '../gex/price-checks.ts';
import { symbolQuote } from '../market/quotes.ts';
import { type OffExchangePage, offExchangePage } from '../offexchange.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { captureSource, offExchangeSource, priceSource } from '../source-keys.ts';

export type { Level, LevelKind };

/** Off-exchange levels: the price buckets with the most trading. */
export const mostOffExchange = 5;

/** The largest basis, dollars. */
const mostBasis = 100_000;

export interface LevelsArgs {
  basis?: number | null | undefined;
  at?: string | null | undefined;
  tz?: string | null | undefined;
}

export interface LevelsMeta extends ResponseMeta, PriceChecked {
  /** Dollars added to each level; null = none was sent. */
  basis: number | null;
  /** Kinds of levels that the caller may not read; null = none. */
  restricted: LevelKind[] | null;
  /** Number of levels. */
  count: number;
  /** Why there are no gamma levels, or the date of an old capture; null if there are levels of the last session. */
  note: string | null;
}

/** Price levels of a symbol. */
export interface LevelsPage {
  symbol: string;
  /** The quote's price, or that of a newer capture, dollars; null when unknown. */
  spot: number | null;
  levels: Level[];
  meta: LevelsMeta;
}

function checkedBasis(basis: number | null | undefined): number {
  if (basis == null) return 0;
  if (!(Math.abs(basis) <= mostBasis))
    throw invalidParameter('basis', `expected dollars from -${mostBasis} to ${mostBasis}`);
  return basis;
}

/** True unless options follow a forward; for captures of earlier versions, which do not say so. */
async function rootFollowsSpot(context: RequestContext, { underlying, sessionDate }: ServedGexCapture) {
  return (await rootsOf(context)).of(underlying, sessionDate).followsSpot;
}

/** The gamma levels of the latest capture; none without one. */
async function gammaLevels(
  context: RequestContext,
  { capture, hasSettled }: FigureInstant<ServedGexCapture>,
): Promise<SourceLevel[]> {
  if (capture === null) return [];
  const expiry = capture.expiries.find((each) => !hasSettled(each.expiry)) ?? null;
  const [partial, flipStatus, inputs] = await Promise.all([
    isPartial(context, capture),
    flipStatusOf(context, capture),
    // Where options follow a forward, quotes imply no spot.
    capture.impliedSpot === null ? storedInputs(context, capture) : null,
  ]);
  const priced = capture.spotStale ? capture.impliedSpot : capture.spot;
  const own = inputs?.expiries.find((each) => each.expiry === expiry?.expiry);
  const followsSpot = capture.impliedSpot !== null || (own?.followsSpot ?? (await rootFollowsSpot(context, capture)));
  const centre = followsSpot ? priced : (own?.forward ?? null);
  return captureLevels({ ...capture, flipStatus }, { expiry, centre, isPartial: partial });
}

type Concentration = OffExchangePage<'concentration'>;

const offExchangeLevels = ({ rows }: Concentration): SourceLevel[] =>
  rows.map(({ date, bucketMidpoint, rank }) => ({
    kind: 'off_exchange',
    price: bucketMidpoint,
    rank,
    status: 'stands',
    sessionDate: date as SessionDate,
    asOf: tradeSpan(date as SessionDate).toMs,
    capturedAt: null,
    expiry: null,
  }));

/** The latest price with its session: the quote's, unless a capture is of a later session. */
export function spotOf(
  quote: Pick<Quote, 'spot' | 'sessionDate'> | null,
  capture: Pick<ServedGexCapture, 'spot' | 'sessionDate'> | null,
) {
  const quoted = { spot: quote?.spot ?? null, session: (quote?.sessionDate ?? null) as SessionDate | null };
  const captured = { spot: capture?.spot ?? null, session: capture?.sessionDate ?? null };
  if (captured.spot === null || captured.session === null) return quoted;
  return quoted.spot === null || quoted.session === null || quoted.session < captured.session ? captured : quoted;
}

/** Levels in shares of `session`, that of the spot. */
async function inSharesOf(context: RequestContext, symbol: string, session: SessionDate, levels: SourceLevel[]) {
  const splits = await loadSplits(context, symbol);
  if (splits.length === 0) return levels;
  return levels.map((level) => ({
    ...level,
    price: level.price === null ? null : level.price / splitFactor(splits, level.sessionDate, session),
  }));
}

/** The context of an instant that is an argument of the field, and the instant; null = none was sent. */
function instantOf(context: RequestContext, { at, tz }: LevelsArgs) {
  if (at == null) return { at: context, asOf: null };
  const asOf = parseAsOf(at, tz, 'at', context);
  return { at: contextAtTime(context, asOf.atMs), asOf };
}

/**
 * Walls, flip point, zero gamma, max pain, expected moves and off-exchange levels, as of now or an instant. `basis`
 * shifts them. Off-exchange levels are omitted as known before, if the caller may not read them, or if no source is
 * configured.
 */
export async function symbolLevels(given: RequestContext, symbol: string, args: LevelsArgs): Promise<LevelsPage> {
  const { at: context, asOf } = instantOf(given, args);
  const entry = await findSymbol(context, symbol);
  const basis = checkedBasis(args.basis);
  requireReadable(context.caller, entry);
  requireSource(context, 'chain');
  const hasOffExchange = entry !== null && entry.class !== 'index';
  // Off-exchange data as it was known before is not kept.
  const readsOffExchange = mayRead(context.caller, 'offExchange') && context.past?.knownMs == null;
  const [instant, quote, concentration] = await Promise.all([
    servedInstant(context, symbol, null, {}),
    context.sources.bars ? symbolQuote(context, symbol) : null,
    hasOffExchange && readsOffExchange && context.sources.stock_tape
      ? offExchangePage(context, symbol, 'concentration', { limit: mostOffExchange })
      : null,
  ]);
  const { capture } = instant;
  const { spot, session } = spotOf(quote, capture);
  const found = [...(await gammaLevels(context, instant)), ...(concentration ? offExchangeLevels(concentration) : [])];
  const levels = session ? await inSharesOf(context, symbol, session, found) : found;
  return {
    symbol,
    spot,
    levels: levels.map((level) => levelAt(level, spot, basis)),
    meta: {
      ...responseMeta(context, instant.plane, clampedCaps(asOf), () => [
        ...captureSource(symbol, capture),
        ...(quote?.sessionDate ? [priceSource(symbol, quote.sessionDate as SessionDate)] : []),
        ...(concentration?.rows[0] ? [offExchangeSource(symbol, concentration.rows[0].date as SessionDate)] : []),
      ]),
      priceChecks: () => priceChecksOf(capture),
      basis: args.basis ?? null,
      count: levels.length,
      restricted: hasOffExchange && !readsOffExchange ? ['off_exchange'] : null,
      note: instant.note ?? (capture ? null : `No option chain of ${symbol} has been captured.`),
    },
  };
}
