import { finraExchange } from '../../../core/domain/market/exchanges.ts';
import type { CompositionCategory } from '../../../core/domain/market/stock-trade-conditions.ts';
import type { Random } from './random.ts';
import type { PrintRole } from './stock-minute.ts';
import type { SampleSymbol } from './universe.ts';

/** Venue of a print, and its conditions on the tape. */
export interface Execution {
  exchange: number;
  trf: number;
  conditions: readonly number[];
  category: CompositionCategory;
}

const exchanges = [12, 12, 12, 10, 11, 19, 19, 9, 8, 21, 20, 15, 2, 3];
const facilities = [202, 202, 202, 201, 203];
const listedOnNasdaq = new Set(
  'AAPL MSFT NVDA AMD INTC CSCO GOOGL META NFLX AMZN TSLA SBUX COIN QQQ TQQQ TLT'.split(' '),
);

/** The tape of a ticker (1, 2, 3 = A, B, C) and its listing exchange. */
export function listingOf({ symbol, kind }: SampleSymbol): { tape: number; exchange: number } {
  if (listedOnNasdaq.has(symbol)) return { tape: 3, exchange: 12 };
  return kind === 'fund' ? { tape: 2, exchange: 11 } : { tape: 1, exchange: 10 };
}

/**
 * Conditions of prints that set neither open nor close, by frequency (cumulative); the first group occurs only off
 * exchange.
 */
const offExchangeSpecials: readonly (readonly [number, readonly number[], CompositionCategory])[] = [
  [0.45, [2], 'average_price'],
  [0.7, [10], 'derivatively_priced'],
  [0.86, [53, 41], 'package_price'],
  [0.92, [22], 'late_oos'],
  [0.98, [32], 'late_oos'],
  [1, [7], 'other'],
];
const onExchangeSpecials: typeof offExchangeSpecials = [
  [0.5, [32], 'late_oos'],
  [0.9, [41, 53], 'package_price'],
  [1, [29], 'other'],
];

const regular: readonly (readonly number[])[] = [[], [], [41], [14, 41], [14]];

/** Gives a print an exchange, or a facility, and the conditions of its role. */
export function executionOf(role: PrintRole, offExchange: boolean, random: Random): Execution {
  const pick = (from: readonly number[]) => from[Math.floor(random.next() * from.length)]!;
  const where = offExchange
    ? { exchange: finraExchange, trf: pick(facilities) }
    : { exchange: pick(exchanges), trf: 0 };
  if (role === 'odd_lot') {
    return { ...where, conditions: offExchange ? [37] : [14, 37, 41], category: 'odd_lot' };
  }
  if (role === 'special') {
    const drawn = random.next();
    const table = offExchange ? offExchangeSpecials : onExchangeSpecials;
    const [, conditions, category] = table.find(([upTo]) => drawn < upTo)!;
    return { ...where, conditions, category };
  }
  const conditions = offExchange ? regular[Math.floor(random.next() * 3)]! : regular[Math.floor(random.next() * 5)]!;
  return { ...where, conditions, category: 'regular_way' };
}
