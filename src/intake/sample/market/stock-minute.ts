import { priceUnits } from '../../../core/domain/market/print.ts';
import type { Random } from './random.ts';

/** One record of the simulated stock tape. */
export interface SampleStockPrint {
  tsMs: number;
  tsNanos: number;
  exchange: number;
  /** The FINRA facility; 0 = executed on an exchange. */
  trf: number;
  /** Trade id, unique within the ticker. */
  id: number;
  /** 1e-4 dollars. */
  price: number;
  /** Shares. */
  size: number;
  conditions: readonly number[];
  correction: number;
  /** The position of its line among its ticker's, from 1. */
  sequence: number;
}

/** A minute bar, dollars and shares. */
export interface MinuteBar {
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

/** Role of a print in its minute: one of those that set its bar's prices, or any other priced within the bar. */
export type PrintRole = 'open' | 'high' | 'low' | 'close' | 'ordinary' | 'odd_lot' | 'special';

/** A print of a minute before its venue is chosen. */
export interface MinutePrint {
  role: PrintRole;
  /** 1e-4 dollars. */
  price: number;
  size: number;
}

const units = (dollars: number) => Math.round(dollars * priceUnits);

/** Integer parts of `volume`, one per weight, at least 1 each. */
function parts(volume: number, weights: readonly number[]): number[] {
  const spare = volume - weights.length;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const sizes = weights.map((weight) => 1 + Math.floor((spare * weight) / total));
  sizes[sizes.length - 1]! += volume - sizes.reduce((sum, size) => sum + size, 0);
  return sizes;
}

function roleOf(random: Random): PrintRole {
  const drawn = random.next();
  return drawn < 0.4 ? 'odd_lot' : drawn < 0.55 ? 'special' : 'ordinary';
}

/**
 * Values with the unknown ones (null) interpolated linearly between their known neighbours. The first and the last are
 * known.
 */
function pathBetween(values: readonly (number | null)[]): number[] {
  const path: number[] = [];
  let [before, after] = [0, 0];
  for (const [i, value] of values.entries()) {
    if (value !== null) before = i;
    else if (after <= i) after = values.findIndex((next, at) => at > i && next !== null);
    const [from, to] = [values[before]!, values[value === null ? after : i]!];
    path.push(value ?? from + ((to - from) * (i - before)) / (after - before));
  }
  return path;
}

/**
 * The prints of a minute bar, in order of time: its open first, its close last, high and low between, all its volume.
 * Others lie within the bar: odd lots, and `special` ones whose conditions keep them from setting open or close.
 * `count` is their approximate number.
 */
export function minutePrints(bar: MinuteBar, count: number, random: Random): MinutePrint[] {
  const [low, high] = [units(bar.low), units(bar.high)];
  const inner: PrintRole[] = random.next() < 0.5 ? ['high', 'low'] : ['low', 'high'];
  const needed = 4;
  // A minute of few shares is not divided into odd lots only.
  const extra = Math.min(count - needed, Math.floor(bar.volume / 100) - needed);
  for (let i = 0; i < extra; i++) inner.splice(Math.floor(random.next() * (inner.length + 1)), 0, roleOf(random));
  const roles: PrintRole[] = ['open', ...inner, 'close'];
  const odd = roles.map((role) => (role === 'odd_lot' ? 1 + Math.floor(random.next() * 99) : 0));
  const rest = parts(
    bar.volume - odd.reduce((sum, size) => sum + size, 0),
    roles.filter((role) => role !== 'odd_lot').map(() => 0.15 - Math.log(1 - random.next())),
  );
  const prices: Partial<Record<PrintRole, number>> = { open: units(bar.open), close: units(bar.close), high, low };
  const path = pathBetween(roles.map((role) => prices[role] ?? null));
  // The others are near the path from one of the bar's prices to the next, within a tenth of the bar to either side.
  const near = (price: number) => Math.round(price + 0.2 * (random.next() - 0.5) * (high - low));
  return roles.map((role, i) => {
    const price = prices[role] ?? Math.min(high, Math.max(low, near(path[i]!)));
    const size = odd[i] || rest.shift()!;
    return { role: role === 'ordinary' && size < 100 ? 'odd_lot' : role, price, size };
  });
}
