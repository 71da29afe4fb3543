// Made by `npm run generate` of operations.ts and the graph. Do not edit.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
export type AccessRefusal = 'attestation_required' | 'not_entitled_tier';

export type CoverageStatus = 'eod_reconciled' | 'observed_live';

export type FlipStatus = 'crosses' | 'fragile' | 'no_crossing' | 'no_strikes' | 'partial' | 'remote';

export type FlowEventKind = 'multi_leg' | 'single_block' | 'sweep';

export type FlowSide = 'buy_inferred' | 'neutral' | 'sell_inferred' | 'unknown';

export type OptionRight = 'call' | 'put';

export type SymbolClass = 'equity' | 'index';

export type Tier = 'basic' | 'free' | 'pro';

export type BarsVariables = Exact<{
  symbol: string;
  timeframe: string;
  from: string;
  to: string;
  cursor?: string | null | undefined;
}>;

export type Bars = { symbol: { bars: BarsPage | null } };

export type BarColumns = {
  tsMs: Array<number>;
  open: Array<number>;
  high: Array<number>;
  low: Array<number>;
  close: Array<number>;
  volume: Array<number>;
};

export type BarsPage = { columns: BarColumns; meta: { cursor: string | null } };

export type LiveBarsVariables = Exact<{
  symbol: string;
  timeframe: string;
}>;

export type LiveBars = { bars: Bar };

export type Bar = { tsMs: number; open: number; high: number; low: number; close: number; volume: number };

export type LiveCrossSectionVariables = Exact<{
  symbol: string;
}>;

export type LiveCrossSection = { crossSection: CrossSection };

export type FlowMeasures = {
  callPremiumUsd: number;
  putPremiumUsd: number;
  callVolume: number;
  putVolume: number;
  callTradeCount: number;
  putTradeCount: number;
};

export type CrossSection = {
  seq: number;
  coverage: { status: CoverageStatus; complete: boolean; sessionDate: string; observedThroughMs: number };
  update: {
    byStrike: Array<{ strikeThousandths: number; measures: FlowMeasures }>;
    byExpiration: Array<{ expiry: string; measures: FlowMeasures }>;
  };
};

export type DashboardVariables = Exact<{
  symbol: string;
  past: boolean;
  sessionAt: string;
  timeframe: string;
  from: string;
  to: string;
  quotes: Array<string> | string;
  activityFrom: string;
  dailyFrom: string;
  dailyTo: string;
  lists: boolean;
  flow: boolean;
  activity: boolean;
  session: string;
  flowSession?: string | null | undefined;
  offFrom?: string | null | undefined;
  offTo?: string | null | undefined;
  heat: boolean;
  trades: boolean;
  volatility: boolean;
  offExchange: boolean;
}>;

export type Dashboard = {
  market: MarketClock;
  me: { tier: Tier; attested: boolean };
  watchlists?: { rows: Array<Watchlist> } | null;
  quotes: { rows: Array<Quote>; meta: { restricted: Array<string> | null } } | null;
  movers?: { rows: Array<{ symbol: string }> } | null;
  symbol: SymbolAnswer;
};

export type Watchlist = { id: string; name: string; tickers: Array<string> };

export type SymbolAnswer = {
  symbol: string;
  name: string | null;
  class: SymbolClass | null;
  lastSession: string | null;
  sessionDates: Array<string> | null;
  access: { allowed: boolean; reason: AccessRefusal | null; requiredTier: Tier | null } | null;
  bars: BarsPage | null;
  daily: { columns: DailyColumns } | null;
  gex: { latest?: GexCapture | null; at?: GexCapture | null };
  flow: { crossSection?: CrossSectionPage | null };
  offExchange: { activity?: { rows: Array<ActivityRow> } | null };
} & SymbolParts;

export type ActivityRow = { date: string; offExchVolume: number; offExchPct: number | null; notional: number };

export type MarketClock = {
  nowMs: number;
  isOpen: boolean;
  sessionDate: string;
  openMs: number;
  closeMs: number;
  nextOpenMs: number;
};

export type Quote = {
  symbol: string;
  spot: number | null;
  changePct: number | null;
  volume: number | null;
  officialClose: number | null;
  sessionDate: string | null;
  eventTsMs: number | null;
};

export type DailyColumns = { tsMs: Array<number>; close: Array<number>; volume: Array<number> };

export type GexStrikeRow = {
  strike: number;
  gex: number;
  gex0dte: number | null;
  callOi: number | null;
  putOi: number | null;
};

export type GexCapture = {
  capturedAt: number;
  sessionDate: string;
  spot: number | null;
  impliedSpot: number | null;
  spotStale: boolean | null;
  inconsistentExpiries: number | null;
  netGex: number;
  flipPoint: number | null;
  flipStatus: FlipStatus | null;
  zeroGamma: number | null;
  callWall: number | null;
  putWall: number | null;
  strikes: Array<GexStrikeRow>;
  expiries: Array<{
    expiry: string;
    maxPain: number | null;
    expectedMoveStraddle: number | null;
    atmIv: number | null;
  }>;
};

export type CrossSectionPage = { snapshot: CrossSection | null; meta: { note: string | null } };

export type SymbolParts = {
  gex: { history?: GexHistory | null };
  flow: { largeTrades?: LargeTradesPage | null };
  volatility: { surface?: VolatilitySurface | null };
  offExchange: { composition?: CompositionPage | null; concentration?: ConcentrationPage | null };
};

export type GexColumn = { capturedAt: number; spot: number | null; strikes: Array<{ strike: number; gex: number }> };

export type GexHistory = {
  sessionDate: string;
  captures: Array<GexColumn>;
  meta: { sessionOpen: string | null; sessionClose: string | null };
};

export type LargeTradesPage = {
  events: Array<LargeTrade>;
  meta: { cursor: string | null; total: { count: number; premiumUsd: number } | null };
};

export type FlowEvent = {
  id: string;
  eventId: string;
  eventKind: FlowEventKind;
  eventTsMs: number;
  side: FlowSide;
  premiumUsd: number;
  totalSize: number;
  priceLow: number;
  priceHigh: number;
  legs: Array<{ price: number; size: number; contract: TradedContract }>;
};

export type LargeTrade = { seq: number; update: { event: FlowEvent } };

export type TradedContract = { id: string; expiry: string; right: OptionRight; strike: number };

export type VolatilityExpiry = {
  expiry: string;
  dte: number;
  atmIv: number | null;
  atmStrike: number | null;
  contractCount: number;
};

export type VolatilityPoint = { expiry: string; right: OptionRight; strike: number; iv: number };

export type VolatilitySurface = {
  asOfMs: number | null;
  spot: number | null;
  expiries: Array<VolatilityExpiry>;
  points: Array<VolatilityPoint>;
  meta: { note: string | null };
};

export type OffExchangeMeta = { note: string | null; session: string | null };

export type CompositionPage = { rows: Array<CompositionRow>; meta: OffExchangeMeta };

export type ConcentrationPage = { rows: Array<ConcentrationRow>; meta: OffExchangeMeta };

export type CompositionRow = {
  date: string;
  category: string;
  notional: number;
  volume: number;
  tradeCount: number;
  shareOfOffExchNotional: number;
};

export type ConcentrationRow = {
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
};

export type LiveGexVariables = Exact<{
  symbol: string;
}>;

export type LiveGex = { gexCaptured: GexCapture };

export type HistoryVariables = Exact<{
  symbol: string;
  session: string;
}>;

export type History = { symbol: { gex: { history: GexHistory | null } } };

export type PartsVariables = Exact<{
  symbol: string;
  session: string;
  flowSession?: string | null | undefined;
  offFrom?: string | null | undefined;
  offTo?: string | null | undefined;
  heat: boolean;
  trades: boolean;
  volatility: boolean;
  offExchange: boolean;
}>;

export type Parts = { symbol: SymbolParts };

export type QuotesVariables = Exact<{
  quotes: Array<string> | string;
}>;

export type Quotes = { quotes: { rows: Array<Quote>; meta: { restricted: Array<string> | null } } | null };

export type LiveQuotesVariables = Exact<{
  quotes: Array<string> | string;
}>;

export type LiveQuotes = { quotes: Quote };

export type RegistryVariables = Exact<{ [key: string]: never }>;

export type Registry = { symbols: { nodes: Array<FoundSymbol>; pageInfo: { hasNextPage: boolean } } | null };

export type FoundSymbol = { symbol: string; name: string | null };

export type SearchVariables = Exact<{
  search: string;
}>;

export type Search = { symbols: { nodes: Array<FoundSymbol> } | null };

export type SessionsVariables = Exact<{
  symbol: string;
}>;

export type Sessions = { symbol: { sessions: Array<SessionContents> } };

export type SessionContents = {
  sessionDate: string;
  bars: boolean;
  chains: boolean;
  flow: boolean;
  offExchange: boolean;
};

export type SurfaceVariables = Exact<{
  symbol: string;
}>;

export type Surface = { symbol: { volatility: { surface: VolatilitySurface | null } } };

export type TradeVariables = Exact<{
  id: string;
}>;

export type Trade = { node: { legs: Array<TradedLeg> } | Record<PropertyKey, never> | null };

export type TradedLeg = {
  price: number;
  size: number;
  side: FlowSide;
  premiumUsd: number;
  exchange: number;
  contract: TradedContract;
  context: { symbol: { quote: { spot: number | null } | null }; contract: { chainRow: TradedChainRow | null } | null };
};

export type TradedChainRow = {
  bid: number | null;
  ask: number | null;
  volume: number | null;
  openInterest: number | null;
  iv: number | null;
  delta: number | null;
};

export type LargeTradesVariables = Exact<{
  symbol: string;
  session?: string | null | undefined;
  limit: number;
  cursor?: string | null | undefined;
  kind?: FlowEventKind | null | undefined;
  side?: FlowSide | null | undefined;
  right?: OptionRight | null | undefined;
  expiry?: string | null | undefined;
  minPremiumUsd?: number | null | undefined;
}>;

export type LargeTrades = { symbol: { flow: { largeTrades: LargeTradesPage | null } } };

export type LiveTradesVariables = Exact<{
  symbol: string;
}>;

export type LiveTrades = { largeTrades: LargeTrade };
