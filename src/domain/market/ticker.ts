import { invalidParameter } from '../../wire/failure.ts';

/**
 * A root of up to six characters, and an optional class or series suffix (contract-notes 1), in either case. Vendors
 * separate the two by a point, a hyphen, a slash or one space.
 */
const tickerPattern = /^[A-Za-z][A-Za-z0-9]{0,5}([.\-/ ][A-Za-z0-9]{1,3})?$/;

/** The ticker that `text` is a spelling of, upper-cased, its suffix after a point; null when it is none. */
export function readTicker(text: string): string | null {
  // Before it is upper-cased: letters beyond ASCII, such as ſ and ı, become ASCII ones.
  return tickerPattern.test(text) ? text.toUpperCase().replace(/[-/ ]/, '.') : null;
}

/** As `readTicker`, but throws 400 naming `parameter`. */
export function parseTicker(text: string, parameter = 'symbol'): string {
  const ticker = readTicker(text);
  if (ticker === null)
    throw invalidParameter(
      parameter,
      `expected a ticker such as SPY or BRK.B, got ${JSON.stringify(text.slice(0, 40))}`,
    );
  return ticker;
}
