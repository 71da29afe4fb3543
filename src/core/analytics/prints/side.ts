import { flowSides } from '../../domain/flow/flow.ts';
import { tapeSettings } from '../methodology.ts';

/** Sides as small numbers: the index into `flowSides`. */
export const sideIndex = {
  buy: flowSides.indexOf('buy_inferred'),
  sell: flowSides.indexOf('sell_inferred'),
  neutral: flowSides.indexOf('neutral'),
  unknown: flowSides.indexOf('unknown'),
} as const;

/**
 * The aggressor's side, by the position of the price between bid and ask (methodology 3): from 0.6 of the spread up the
 * buyer, up to 0.4 the seller. In a locked market the price at it is neutral, any other beyond it. Unknown without an
 * ask (0) or in a crossed market. All arguments in one unit, integers, so that the bounds are exact. Returns an index
 * into `flowSides`.
 */
export function sideOf(price: number, bid: number, ask: number): number {
  if (ask <= 0 || bid < 0 || bid > ask) return sideIndex.unknown;
  const spread = ask - bid;
  if (spread === 0) return price > bid ? sideIndex.buy : price < bid ? sideIndex.sell : sideIndex.neutral;
  const tenths = (price - bid) * 10;
  if (tenths >= tapeSettings.buyFromTenths * spread) return sideIndex.buy;
  return tenths <= tapeSettings.sellToTenths * spread ? sideIndex.sell : sideIndex.neutral;
}
