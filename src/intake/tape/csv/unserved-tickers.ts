/**
 * A vendor's ticker that the contract's pattern cannot express: several suffixes or marks, such as `VST.WS.A`,
 * `BAC/WS/A`, `AAFpJ/CL` and `AAC+A`, a suffix of four characters, a mark that no table has (`AAC~`), or an index with
 * a long name.
 */
const unservedPattern =
  /^(?:[A-Z][A-Z0-9]{0,5}(?:[.\-/ ][A-Z0-9]{1,4}|p[A-Z]?|[rw]|[$^#+=*~!%@-][A-Z]?){1,4}|I:[A-Z0-9.]{1,12})$/;

const listedMost = 5;

/** Counter of lines with real tickers that no parameter can express: they are not stored, and are not bad lines. */
export interface UnservedTickers {
  /** True if `text`, which is not a ticker of the contract, is one of these; counts its line. */
  counts(text: string): boolean;
  /** Notes for the report; empty if there were none. */
  notes(): string[];
}

/** Creates a counter without lines. */
export function unservedTickers(): UnservedTickers {
  const tickers = new Set<string>();
  let lines = 0;
  return {
    counts(text) {
      if (!unservedPattern.test(text)) return false;
      tickers.add(text);
      lines++;
      return true;
    },
    notes() {
      if (lines === 0) return [];
      const listed = [...tickers].slice(0, listedMost).join(', ');
      const more = tickers.size > listedMost ? ` and ${tickers.size - listedMost} more` : '';
      return [
        `not servable: ${lines} lines of ${tickers.size} tickers with a suffix of another form: ${listed}${more}`,
      ];
    },
  };
}
