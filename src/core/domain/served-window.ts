import { InvalidValue } from '../../platform/runtime/invalid-value.ts';

/** The years that can have market data; a window outside of them is an error. */
const servedYears = { first: 1990, last: 2200 };
/** The first instant that can have market data, epoch ms. */
export const earliestServedMs = Date.UTC(servedYears.first, 0);
const endMs = Date.UTC(servedYears.last + 1, 0);

/** An end of a window: its parameter's name, and its time, epoch ms; null = absent. */
interface WindowEnd {
  name: string;
  ms: number | null;
}

/**
 * Throws `InvalidValue` for a window of times that ends before it begins, or that is completely outside of the served
 * years.
 */
export function requireServedWindow(from: WindowEnd, to: WindowEnd): void {
  if (from.ms !== null && to.ms !== null && from.ms > to.ms)
    throw new InvalidValue(from.name, `expected a time that is not after \`${to.name}\``);
  if (to.ms !== null && to.ms < earliestServedMs)
    throw new InvalidValue(to.name, `expected a time from ${servedYears.first} on`);
  if (from.ms !== null && from.ms >= endMs)
    throw new InvalidValue(from.name, `expected a time up to ${servedYears.last}`);
}
