import { readTicker } from '../../../core/domain/market/ticker.ts';

/**
 * Marks of the kind of a security after a root, as the tapes write them: those of the consolidated tape (small
 * letters), of Nasdaq (`+ = ^ #`) and of ACT (`$`). In upper case, or without its mark, each would be another company's
 * ticker. The value is the suffix of the contract's ticker; `L` stands for a series. What has none of these marks is
 * read as `readTicker` does, so `ABR-D` is `ABR.D`; what none of them fits is not servable.
 */
const marks: Readonly<Record<string, string>> = {
  // Preferred shares
  p: 'PR',
  pL: 'PRL',
  $: 'PR',
  $L: 'PRL',
  // Rights, when issued, warrants, units
  r: 'RT',
  '^': 'RT',
  w: 'WI',
  '#': 'WI',
  '+': 'WS',
  '=': 'U',
};
const marked = /^([A-Z]{1,5})([a-z$^#+=])([A-Z]?)$/;

/**
 * A ticker of vendors' files, in the consolidated tape's suffixes: `BAC.PRL` of `BACpL` and `BAC$L`, `AAC.WS` of
 * `AAC+`. Null if it is not a ticker.
 */
export function readVendorTicker(text: string): string | null {
  const [, root, mark, series] = marked.exec(text) ?? [];
  if (root === undefined) return /[a-z]/.test(text) ? null : readTicker(text);
  const suffix = marks[series ? `${mark}L` : mark!];
  return suffix === undefined ? null : `${root}.${series ? suffix.replace('L', series) : suffix}`;
}

/** Prefix of an index's ticker in vendors' files. */
const indexPrefix = 'I:';

/** The ticker of an index such as `I:SPX`, without its prefix; null if it is not one. */
export function readIndexTicker(text: string): string | null {
  return text.startsWith(indexPrefix) ? readTicker(text.slice(indexPrefix.length)) : null;
}
