import { InvalidValue } from '../../../platform/runtime/invalid-value.ts';

/**
 * A root of up to six characters, and an optional class or series suffix (contract-notes 1), in either case. Vendors
 * separate the two by a point, a hyphen, a slash or one space.
 */
const tickerPattern = /^[A-Za-z][A-Za-z0-9]{0,5}([.\-/ ][A-Za-z0-9]{1,3})?$/;

/** The ticker of a spelling, in upper case, with a point before its suffix; null if invalid. */
export function readTicker(text: string): string | null {
  // Before conversion to upper case: letters beyond ASCII, such as ſ and ı, would become ASCII ones.
  return tickerPattern.test(text) ? text.toUpperCase().replace(/[-/ ]/, '.') : null;
}

/** Like `readTicker`, but throws `InvalidValue` naming `parameter`. */
export function parseTicker(text: string, parameter = 'symbol'): string {
  const ticker = readTicker(text);
  if (ticker === null)
    throw new InvalidValue(
      parameter,
      `expected a ticker such as SPY or BRK.B, got ${JSON.stringify(text.slice(0, 40))}`,
    );
  return ticker;
}
