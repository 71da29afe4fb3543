import type { Rates } from '../platform/config/tiers.ts';

/** Rows per page: default, maximum, and maximum with an API key if that is lower. */
export interface PageLimit {
  /** The route's name. */
  route: string;
  default: number;
  max: number;
  keyMax?: number;
}

/** The limits in the guides: the constants that enforce them, and this server's settings. */
export interface PublishedLimits {
  /** Requests per minute of each tier, and of an address without a credential. */
  rates: Rates;
  /** Maximum number of concurrent streams with one credential, in each process. */
  streams: number;
  /** Maximum number of concurrent stock-bar requests with one API key. */
  inFlight: number;
  /** Number of points that cost one request. */
  pointsPerRequest: number;
  /** Maximum number of live keys that an account can create. */
  liveKeys: number;
  pages: readonly PageLimit[];
  /** Maximum number of days of stock bars in one request of an API key, by timeframe. */
  barSpanDays: Readonly<Record<string, number>>;
  /** Default number of strikes of a GEX capture for an API key. */
  gexTop: number;
  /**
   * Maximum number of requests with which the dashboard shows a symbol: the first, each further one, and one with a
   * free key.
   */
  view: { first: number; next: number; nextFree: number };
  /** Maximum number of symbols of one request for quotes. */
  quotes: number;
  /** Version of the definitions of the figures. */
  methodologyVersion: string;
}
