import { requireOffExchange, requireReadable } from '../../access/entitlement/entitlement.ts';
import { splitFactor } from '../../core/domain/market/splits.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { nearestIndex } from '../../core/domain/nearest-index.ts';
import { offExchangeLimits } from '../../core/domain/offexchange/off-exchange.ts';
import { fromThousandths } from '../../core/domain/units.ts';
import { oncePerRequest } from '../../platform/runtime/once-per-request.ts';
import type { StoredRow } from '../../store/offexchange/session-rows.ts';
import { requireNow } from '../as-of.ts';
import { storedCapture } from '../captures-at.ts';
import { findSymbol, fromSource, type RequestContext, realTicker } from '../context.ts';
import { loadSplits } from '../corporate.ts';
import { type GexStrike, rowAtStrike, servedCaptures } from '../gex/gex.ts';
import { lastOffExchangeSession } from '../publication.ts';
import { storedHistory, storedRows } from './off-exchange.ts';

/** A price of off-exchange trading, dollars, with the session whose shares it is in. */
export interface OffExchangePrice {
  symbol: string;
  date: SessionDate;
  price: number;
}

interface Distance {
  /** Dollars from the price that was asked from, in shares of the capture's session; negative below it. */
  distance: number;
  /** The same, in basis points of that price. */
  distanceBps: number;
}

/** The strike nearest to a price of off-exchange trading. */
export interface NearestStrike extends Distance {
  strike: GexStrike;
}

/** The off-exchange price bucket nearest to a strike. */
export interface NearestLevel extends Distance {
  level: StoredRow<'concentration'>;
}

const distanceTo = (to: number, from: number): Distance => ({
  distance: to - from,
  distanceBps: (10_000 * (to - from)) / from,
});

/** Divisor that makes prices of the session `from` comparable with those of `to`, which may be earlier. */
async function factorBetween(context: RequestContext, symbol: string, from: SessionDate, to: SessionDate) {
  const splits = await loadSplits(context, symbol);
  return from <= to ? splitFactor(splits, from, to) : 1 / splitFactor(splits, to, from);
}

/** The latest net capture of a symbol; null if there is none. */
function latestCapture(context: RequestContext, symbol: string) {
  return oncePerRequest(context, `nearest strikes ${symbol} ${context.nowMs}`, async () => {
    requireReadable(context.caller, await findSymbol(context, symbol));
    const stored = await storedCapture(context, symbol, { byExpiry: false });
    return stored && servedCaptures([stored], false, null)[0]!;
  });
}

/**
 * The strike of the symbol's latest GEX capture that is nearest to a price of off-exchange trading; null if there is no
 * capture. The price is divided by the splits since.
 */
export async function nearestStrike(
  context: RequestContext,
  { symbol, date, price }: OffExchangePrice,
): Promise<NearestStrike | null> {
  const capture = await latestCapture(context, symbol);
  if (capture === null) return null;
  const from = price / (await factorBetween(context, symbol, date, capture.sessionDate));
  const index = nearestIndex(capture.columns.strike, from * 1000);
  if (index === -1) return null;
  const strike = rowAtStrike(capture, capture.columns.strike[index]!)!;
  return { strike, ...distanceTo(fromThousandths(strike.strike), from) };
}

/** The price buckets of a session, ascending, with their prices in shares of a capture's session. */
interface Levels {
  levels: StoredRow<'concentration'>[];
  prices: number[];
}

async function readLevels(context: RequestContext, symbol: string, last: SessionDate) {
  requireOffExchange(context.caller);
  requireReadable(context.caller, await realTicker(context, symbol));
  return fromSource(context, 'stock_tape', async () => {
    // Open to the past: the last session of the range counts, however long ago it was.
    const { session } = await storedHistory(context, { symbol, first: null, last });
    if (session === null) return [];
    const range = { symbol, first: session, last: session, after: null };
    return storedRows(context, 'concentration', range, offExchangeLimits.max);
  });
}

/** The price buckets of the last session that had been published when a capture was taken. */
function levelsOf(
  context: RequestContext,
  { underlying, capturedAt, sessionDate }: GexStrike['capture'],
): Promise<Levels> {
  requireNow(context, 'off-exchange data');
  const last = lastOffExchangeSession({ nowMs: capturedAt, past: { atMs: capturedAt, knownMs: null } });
  const name = `nearest levels ${underlying} ${last} ${sessionDate} ${context.nowMs}`;
  return oncePerRequest(context, name, async () => {
    const rows = await readLevels(context, underlying, last);
    const levels = rows.toSorted((a, b) => a.bucketMidpoint - b.bucketMidpoint);
    const factor = await factorBetween(context, underlying, levels[0]?.date ?? sessionDate, sessionDate);
    return { levels, prices: levels.map(({ bucketMidpoint }) => bucketMidpoint / factor) };
  });
}

/**
 * The off-exchange price bucket nearest to a strike, of the last session that had been published when the capture was
 * taken; null if there is none. Its price is divided by the splits since.
 */
export async function nearestLevel(context: RequestContext, row: GexStrike): Promise<NearestLevel | null> {
  const { levels, prices } = await levelsOf(context, row.capture);
  const strike = fromThousandths(row.strike);
  const index = nearestIndex(prices, strike);
  return index === -1 ? null : { level: levels[index]!, ...distanceTo(prices[index]!, strike) };
}
