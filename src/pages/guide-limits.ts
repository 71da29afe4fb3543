import type { Rates } from '../domain/request-rates.ts';

/** Rows of a page: by default, at most, and at most with an API key where that is less. */
export interface PageLimit {
  /** The route's name. */
  route: string;
  default: number;
  max: number;
  keyMax?: number;
}

/** The limits that the guides tell: the constants that hold them, and this server's settings. */
export interface PublishedLimits {
  /** Requests per minute of each tier, and of an address without a credential. */
  rates: Rates;
  /** Streams at a time with one credential, in each process. */
  streams: number;
  /** Stock-bar requests at a time with one API key. */
  inFlight: number;
  /** Points that cost as much as one request. */
  pointsPerRequest: number;
  /** Live keys that an account can create by itself. */
  liveKeys: number;
  pages: readonly PageLimit[];
  /** Days of stock bars that an API key can read at once, by timeframe. */
  barSpanDays: Readonly<Record<string, number>>;
  /** Strikes of a GEX capture that an API key gets unless it asks for another number. */
  gexTop: number;
  /** Requests that the dashboard takes at most to show a symbol: the first, each further one, and one of a free key. */
  view: { first: number; next: number; nextFree: number };
  /** Symbols of one request for quotes. */
  quotes: number;
  /** The definitions that figures are computed by. */
  methodologyVersion: string;
}
