/** The server's part of a page. */
export interface FrameParts {
  /** Path and query of the page's address. */
  pathname: string;
  search: string;
  /** The symbol of an address that names none. */
  symbol: string;
  /** Tickers with data: the list of who has none of their own. */
  symbols: readonly string[];
  latestSession: string;
  /** True if the browser has a key: panels that wait for figures, else what asks for a key. */
  hasKey: boolean;
  /** The sample market's key; '' = none is shown. */
  sampleKey: string;
}
