/** The server's inputs of a page. */
export interface FrameParts {
  /** Path and query of the page's address. */
  pathname: string;
  search: string;
  /** The symbol of an address without one. */
  symbol: string;
  /** Tickers with data: the default list of readers without lists. */
  symbols: readonly string[];
  latestSession: string;
  /** True if the browser has a key: panels await figures; else the page asks for a key. */
  hasKey: boolean;
  /** The sample market's key; '' = not shown. */
  sampleKey: string;
}
