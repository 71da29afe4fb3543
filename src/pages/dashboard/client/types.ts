// What the dashboard asks of the graph, as it comes. Units are those of the schema: dollars, epoch ms, strikes in thousandths of a
// dollar, fractions for volatilities and shares, percent for changes. Null = unknown, or not to be read (an error says which).

/** Lengths of a candle that can be chosen. */
export const timeframes = ['1m', '5m', '1h', '1d'] as const;
export type Timeframe = (typeof timeframes)[number];

export interface Quote {
  symbol: string;
  spot: number | null;
  /** Percent against the prior close. */
  changePct: number | null;
  volume: number | null;
  officialClose: number | null;
  sessionDate: string | null;
  eventTsMs: number | null;
}

/** Columns of bars, ascending by time. */
export interface BarColumns {
  tsMs: number[];
  open: number[];
  high: number[];
  low: number[];
  close: number[];
  volume: number[];
}

/** One bar, as the stream brings it. */
export interface Bar {
  tsMs: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

export interface BarsPage {
  columns: BarColumns;
  meta: { cursor: string | null };
}

export interface GexStrikeRow {
  strike: number;
  gex: number;
  gex0dte: number | null;
  callOi: number | null;
  putOi: number | null;
}

export interface GexExpiry {
  expiry: string;
  maxPain: number | null;
  expectedMoveStraddle: number | null;
  atmIv: number | null;
}

export interface GexCapture {
  capturedAt: number;
  sessionDate: string;
  spot: number | null;
  netGex: number;
  flipPoint: number | null;
  zeroGamma: number | null;
  callWall: number | null;
  putWall: number | null;
  strikes: GexStrikeRow[];
  expiries: GexExpiry[];
}

/** A capture as the heat map needs it. */
export interface GexColumn {
  capturedAt: number;
  spot: number | null;
  strikes: { strike: number; gex: number }[];
}

export interface GexHistory {
  sessionDate: string;
  captures: GexColumn[];
}

export interface FlowMeasures {
  callPremiumUsd: number;
  putPremiumUsd: number;
  callVolume: number;
  putVolume: number;
  callTradeCount: number;
  putTradeCount: number;
}

export interface FlowCoverage {
  status: 'observed_live' | 'eod_reconciled';
  complete: boolean;
  sessionDate: string;
  observedThroughMs: number;
}

export interface CrossSection {
  seq: number;
  coverage: FlowCoverage;
  update: {
    byStrike: { strikeThousandths: number; measures: FlowMeasures }[];
    byExpiration: { expiry: string; measures: FlowMeasures }[];
  };
}

export interface CrossSectionPage {
  snapshot: CrossSection | null;
  meta: { note: string | null };
}

export type EventKind = 'single_block' | 'sweep' | 'multi_leg';
export type Side = 'buy_inferred' | 'sell_inferred' | 'neutral' | 'unknown';

export interface FlowLeg {
  contract: { id: string; expiry: string; right: 'call' | 'put'; strike: number };
  price: number;
  size: number;
}

export interface FlowEvent {
  eventId: string;
  eventKind: EventKind;
  eventTsMs: number;
  side: Side;
  premiumUsd: number;
  totalSize: number;
  priceLow: number;
  priceHigh: number;
  legs: FlowLeg[];
}

export interface LargeTrade {
  seq: number;
  update: { event: FlowEvent };
}

export interface VolatilityPoint {
  expiry: string;
  right: 'call' | 'put';
  strike: number;
  iv: number;
}

export interface VolatilityExpiry {
  expiry: string;
  dte: number;
  atmIv: number | null;
  atmStrike: number | null;
  contractCount: number;
}

export interface Surface {
  asOfMs: number | null;
  spot: number | null;
  expiries: VolatilityExpiry[];
  points: VolatilityPoint[];
  meta: { note: string | null };
}

export interface CompositionRow {
  date: string;
  category: string;
  notional: number;
  volume: number;
  tradeCount: number;
  shareOfOffExchNotional: number;
}

export interface ConcentrationRow {
  date: string;
  rank: number;
  bucketMidpoint: number;
  bucketWidth: number;
  notional: number;
  volume: number;
  rankScore: number;
  distinctSessions: number;
  lookbackSessions: number;
  distanceBps: number | null;
}

export interface ActivityRow {
  date: string;
  offExchVolume: number;
  offExchPct: number | null;
  notional: number;
}

/** A page of off-exchange rows. */
export interface RowsPage<Row> {
  rows: Row[];
  meta: { note: string | null; session: string | null };
}

export interface SymbolAccess {
  allowed: boolean;
  reason: 'not_entitled_tier' | 'attestation_required' | null;
  requiredTier: string | null;
}

export interface SymbolAnswer {
  symbol: string;
  name: string | null;
  class: 'equity' | 'index' | null;
  access: SymbolAccess | null;
  bars: BarsPage | null;
  gex: { latest?: GexCapture | null; at?: GexCapture | null; history: GexHistory | null };
  flow: {
    crossSection: CrossSectionPage | null;
    largeTrades: { events: LargeTrade[] } | null;
  };
  volatility: { surface?: Surface | null };
  offExchange: {
    composition: RowsPage<CompositionRow> | null;
    concentration: RowsPage<ConcentrationRow> | null;
    activity: RowsPage<ActivityRow> | null;
  };
}

export interface Watchlist {
  id: string;
  name: string;
  tickers: string[];
}

/** Everything the dashboard first shows: the answer to its one query. */
export interface Answer {
  me: { tier: string; attested: boolean };
  watchlists: { rows: Watchlist[] } | null;
  quotes: { rows: Quote[]; meta: { restricted: string[] | null } } | null;
  movers: { rows: Quote[] } | null;
  symbol: SymbolAnswer | null;
}

/** An error of the graph at a field: the field is null and the rest of the answer stands. */
export interface FieldError {
  message: string;
  path: readonly (string | number)[];
  /** One of the contract's codes, e.g. not_entitled_tier. */
  code: string;
  /** The tier it would take; null when that is not what is lacking. */
  requiredTier: string | null;
}
