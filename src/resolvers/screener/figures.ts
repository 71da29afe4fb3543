import { distanceFrom } from '../../core/analytics/gex/levels.ts';
import { variancePremium } from '../../core/analytics/volatility/premium.ts';
import { splitFactor } from '../../core/domain/market/splits.ts';
import type { SymbolEntry } from '../../core/domain/market/symbol.ts';
import type { FigureName, FigureValue } from '../../core/domain/screener.ts';
import { spotOf } from '../levels/levels.ts';
import type { Pieces } from './groups.ts';

/** A symbol with what the groups know of it. */
export interface Screened {
  entry: SymbolEntry;
  pieces: Partial<Pieces>;
}

type Read = (screened: Screened) => FigureValue;

/** Percent from the spot to a price of the capture, dollars, as `levels` has it; null if either is unknown. */
function distancePct({ gex, quote }: Partial<Pieces>, priceOf: (gex: NonNullable<Pieces['gex']>) => number | null) {
  const price = gex ? priceOf(gex) : null;
  if (!gex || price === null) return null;
  const { spot, session } = spotOf(quote ?? null, gex);
  const shared = session === null ? price : price / splitFactor(gex.splits, gex.sessionDate, session);
  return distanceFrom(spot, shared).distancePct;
}

const dollars = (thousandths: number | null) => (thousandths === null ? null : thousandths / 1000);

const maturity =
  (days: 7 | 30 | 60 | 90): Read =>
  ({ pieces: { volatility } }) =>
    volatility?.maturities[days] ?? null;

const premiumOf = ({ pieces: { volatility, realized } }: Screened) =>
  variancePremium(volatility?.maturities[30] ?? null, realized?.closeToClose ?? null);

/** Time of the quotes behind the figures of captures: the earlier of two. */
function asOf({ pieces: { gex, volatility } }: Screened): number | null {
  const known = [gex?.asOf ?? null, volatility?.asOfMs ?? null].filter((ms) => ms !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Figures of a symbol, from what the groups know of it. */
export const figures: Record<FigureName, Read> = {
  class: ({ entry }) => entry.class,
  sector: ({ entry }) => entry.sector,
  spot: ({ pieces: { quote } }) => quote?.spot ?? null,
  changePct: ({ pieces: { quote } }) => quote?.changePct ?? null,
  volume: ({ pieces: { quote } }) => quote?.volume ?? null,
  asOf,
  netGex: ({ pieces: { gex } }) => gex?.netGex ?? null,
  flipStatus: ({ pieces: { gex } }) => gex?.flipStatus ?? null,
  openInterest: ({ pieces: { gex } }) => gex?.openInterest ?? null,
  flipDistancePct: ({ pieces }) => distancePct(pieces, ({ flipPoint }) => flipPoint),
  zeroGammaDistancePct: ({ pieces }) => distancePct(pieces, ({ zeroGamma }) => zeroGamma),
  callWallDistancePct: ({ pieces }) => distancePct(pieces, ({ callWall }) => dollars(callWall)),
  putWallDistancePct: ({ pieces }) => distancePct(pieces, ({ putWall }) => dollars(putWall)),
  iv7: maturity(7),
  iv30: maturity(30),
  iv60: maturity(60),
  iv90: maturity(90),
  ivRank: ({ pieces: { volatility } }) => volatility?.rank ?? null,
  ivPercentile: ({ pieces: { volatility } }) => volatility?.percentile ?? null,
  riskReversal25: ({ pieces: { volatility } }) => volatility?.skew?.riskReversal25 ?? null,
  butterfly25: ({ pieces: { volatility } }) => volatility?.skew?.butterfly25 ?? null,
  realizedVolatility: ({ pieces: { realized } }) => realized?.closeToClose ?? null,
  variancePremium: (screened) => premiumOf(screened)?.variance ?? null,
  volatilityPremium: (screened) => premiumOf(screened)?.volatility ?? null,
  callPremiumUsd: ({ pieces: { flow } }) => flow?.callPremiumUsd ?? null,
  putPremiumUsd: ({ pieces: { flow } }) => flow?.putPremiumUsd ?? null,
  callPremiumRatio: ({ pieces: { flow } }) => flow?.callRatio ?? null,
  putPremiumRatio: ({ pieces: { flow } }) => flow?.putRatio ?? null,
  offExchangePct: ({ pieces: { offExchange } }) => offExchange?.offExchPct ?? null,
  offExchangeVolume: ({ pieces: { offExchange } }) => offExchange?.offExchVolume ?? null,
};
