import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { tradeDate } from '../../core/domain/calendar.ts';
import { splitFactor } from '../../core/domain/market/splits.ts';
import { fromThousandths } from '../../core/domain/units.ts';
import { storedCapture } from '../captures-at.ts';
import { findSymbol, type RequestContext } from '../context.ts';
import { loadSplits } from '../corporate.ts';
import { quoteAtFill, type TradeMarket } from './trade-market.ts';

/** A level of dealer gamma, and its distance from the spot at a fill. */
export interface LevelDistance {
  /** Dollars, in shares of the fill's session. */
  level: number;
  /** Level less spot, dollars; null without a spot. */
  distance: number | null;
  /** The same in basis points of the spot. */
  distanceBps: number | null;
}

/** Dealer gamma at a fill. */
export interface FillGamma {
  /** Time of the capture, epoch ms; null if there was none. */
  capturedAt: number | null;
  /** Spot of the quote at the fill, dollars; null when unknown. */
  spot: number | null;
  netGex: number | null;
  /** True if the spot was above zero gamma; null if either is unknown. */
  isAboveZeroGamma: boolean | null;
  zeroGamma: LevelDistance | null;
  flipPoint: LevelDistance | null;
  callWall: LevelDistance | null;
  putWall: LevelDistance | null;
  note: string | null;
}

function unknownGamma(spot: number | null, note: string): FillGamma {
  const levels = { zeroGamma: null, flipPoint: null, callWall: null, putWall: null };
  return { capturedAt: null, spot, netGex: null, isAboveZeroGamma: null, ...levels, note };
}

/** Dealer gamma at a fill: the last capture by then, and where the spot was. Levels are divided by the splits since. */
export async function fillGamma(context: RequestContext, market: TradeMarket): Promise<FillGamma> {
  const { symbol, note } = market;
  if (note !== null) return unknownGamma(null, note);
  requireReadable(context.caller, await findSymbol(context, symbol));
  const [capture, quote, splits] = await Promise.all([
    storedCapture(context, symbol, { byExpiry: false }),
    quoteAtFill(context, market),
    loadSplits(context, symbol),
  ]);
  const spot = quote?.spot ?? null;
  if (capture === null) return unknownGamma(spot, `No dealer gamma of ${symbol} was captured by the fill.`);
  const factor = splitFactor(splits, capture.sessionDate, tradeDate(context.nowMs));
  const levelOf = (dollars: number | null): LevelDistance | null => {
    if (dollars === null) return null;
    const level = dollars / factor;
    const distance = spot === null ? null : level - spot;
    return { level, distance, distanceBps: distance === null || !spot ? null : (10_000 * distance) / spot };
  };
  const strike = (thousandths: number | null) => levelOf(thousandths === null ? null : fromThousandths(thousandths));
  const zeroGamma = levelOf(capture.zeroGamma);
  return {
    capturedAt: capture.capturedAt,
    spot,
    netGex: capture.netGex,
    isAboveZeroGamma: zeroGamma === null || spot === null ? null : spot > zeroGamma.level,
    zeroGamma,
    flipPoint: levelOf(capture.flipPoint),
    callWall: strike(capture.callWall),
    putWall: strike(capture.putWall),
    note: spot === null ? `No price of ${symbol} is known at the fill.` : null,
  };
}
