/**
 * A vendor's ticker with more than the contract's pattern can name: several suffixes, such as `VST.WS.A` and
 * `BAC/WS/A`, a marked share class with a suffix (`AAFpJ/CL`), or a suffix of four characters.
 */
const unservedPattern = /^[A-Z][A-Z0-9]{0,5}(?:p[A-Z]?|[rw])?(?:[.\-/ ][A-Z0-9]{1,4}){1,3}$/;

const listedMost = 5;

/** Lines of real tickers that no parameter can name: they are counted, not stored, and no bad lines. */
export interface UnservedTickers {
  /** True if `text`, which is no ticker of the contract, is one of these; its line is counted. */
  counts(text: string): boolean;
  /** Notes for the report; empty = there were none. */
  notes(): string[];
}

/** No lines yet. */
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
