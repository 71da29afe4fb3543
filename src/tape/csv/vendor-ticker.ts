import { readTicker } from '../../domain/market/ticker.ts';

/**
 * A ticker of the vendor's flat files. There a small letter marks what a share is (`BACpL` preferred series L, `XYZr`
 * rights, `XYZw` when issued); upper-cased it would be another company's ticker, so it becomes the consolidated tape's
 * suffix: `BAC.PRL`, `XYZ.RT`, `XYZ.WI`. Null when it is no ticker.
 */
export function readVendorTicker(text: string): string | null {
  const marked = /^([A-Z]{1,5})(?:p([A-Z]?)|([rw]))$/.exec(text);
  if (!marked) return /[a-z]/.test(text) ? null : readTicker(text);
  const [, root, series, mark] = marked;
  return `${root}.${mark === 'r' ? 'RT' : mark === 'w' ? 'WI' : `PR${series ?? ''}`}`;
}
