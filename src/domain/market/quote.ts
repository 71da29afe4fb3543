import type { SessionDate } from '../market-time.ts';

/** A quote row (spec 2.4). All but `symbol` is null where there is no recent price or it may not be read. */
export interface Quote {
  symbol: string;
  /** Dollars. */
  spot: number | null;
  /** Percent against `officialClose`. */
  changePct: number | null;
  /** Always null. */
  netGex: null;
  /** Always null. */
  gexChange: null;
  /** Shares of the session so far. */
  volume: number | null;
  /** Prior close, dollars. */
  officialClose: number | null;
  sessionDate: SessionDate | null;
  /** The price event, epoch ms; null when the price is a daily bar's. */
  eventTsMs: number | null;
  /** A doubt about the change; null = none. */
  note: string | null;
}

/** A quote that says nothing. */
export function emptyQuote(symbol: string): Quote {
  return {
    symbol,
    spot: null,
    changePct: null,
    netGex: null,
    gexChange: null,
    volume: null,
    officialClose: null,
    sessionDate: null,
    eventTsMs: null,
    note: null,
  };
}
