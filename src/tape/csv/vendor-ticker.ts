import { readTicker } from '../../domain/market/ticker.ts';

/**
 * A ticker of the vendor's flat files. A small letter marks the kind of share there (`BACpL` preferred series L, `XYZr`
 * rights, `XYZw` when issued); in upper case it would be another company's ticker, so it becomes the consolidated
 * tape's suffix: `BAC.PRL`, `XYZ.RT`, `XYZ.WI`. Null if it is not a ticker.
 */
export function readVendorTicker(text: string): string | null {
  const marked = /^([A-Z]{1,5})(?:p([A-Z]?)|([rw]))$/.exec(text);
  if (!marked) return /[a-z]/.test(text) ? null : readTicker(text);
  const [, root, series, mark] = marked;
  return `${root}.${mark === 'r' ? 'RT' : mark === 'w' ? 'WI' : `PR${series ?? ''}`}`;
}
