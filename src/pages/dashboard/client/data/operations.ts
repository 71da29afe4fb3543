// Every operation the dashboard sends, in one place. Their types are made of them: `npm run operations`.
import type { Operation } from './graph.ts';
import type * as types from './operation-types.ts';

/** Strikes of the latest capture: those with the most gamma. */
const topStrikes = 120;
/** Strikes of each capture of the session; more than 100 cost ten times as much. */
const historyStrikes = 80;
/** Large trades first shown: each costs a point, so no more than a page of them. */
const firstTrades = 50;

const quote = `fragment Quote on Quote { symbol spot changePct volume officialClose sessionDate eventTsMs }`;

const bar = `fragment Bar on StockBar { tsMs open high low close volume }`;
const barsPage = `
fragment BarColumns on BarColumns { tsMs open high low close volume }
fragment BarsPage on StockBarsPage { columns { ...BarColumns } meta { cursor } }`;

const market = `
fragment MarketClock on MarketClock { nowMs isOpen sessionDate openMs closeMs nextOpenMs }`;
const daily = `
fragment DailyColumns on BarColumns { tsMs close volume }`;

const capture = `
fragment GexStrikeRow on GexStrike { strike gex gex0dte callOi putOi }
fragment GexCapture on GexCapture {
  capturedAt sessionDate spot impliedSpot spotStale inconsistentExpiries netGex flipPoint zeroGamma callWall putWall
  strikes { ...GexStrikeRow }
  expiries { expiry maxPain expectedMoveStraddle atmIv }
}`;
const history = `
fragment GexColumn on GexCapture { capturedAt spot strikes { strike gex } }
fragment GexHistory on GexHistory { sessionDate captures { ...GexColumn } meta { sessionOpen sessionClose } }`;

const crossSection = `
fragment FlowMeasures on FlowMeasures {
  callPremiumUsd putPremiumUsd callVolume putVolume callTradeCount putTradeCount
}
fragment CrossSection on CrossSection {
  seq
  coverage { status complete sessionDate observedThroughMs }
  update {
    byStrike { strikeThousandths measures { ...FlowMeasures } }
    byExpiration { expiry measures { ...FlowMeasures } }
  }
}`;
const crossSectionPage = `
fragment CrossSectionPage on CrossSectionPage { snapshot { ...CrossSection } meta { note } }${crossSection}`;

const largeTrade = `
fragment FlowEvent on FlowEvent {
  eventId eventKind eventTsMs side premiumUsd totalSize priceLow priceHigh
  legs { contract { id expiry right strike } price size }
}
fragment LargeTrade on LargeTrade { seq update { event { ...FlowEvent } } }`;

const surface = `
fragment VolatilityExpiry on VolatilityExpiry { expiry dte atmIv atmStrike contractCount }
fragment VolatilityPoint on VolatilityPoint { expiry right strike iv }
fragment VolatilitySurface on VolatilitySurface {
  asOfMs spot expiries { ...VolatilityExpiry } points { ...VolatilityPoint } meta { note }
}`;

const offExchange = `
fragment OffExchangeMeta on OffExchangeMeta { note session }
fragment CompositionRow on OffExchangeCompositionRow {
  date category notional volume tradeCount shareOfOffExchNotional
}
fragment ConcentrationRow on OffExchangeConcentrationRow {
  date rank bucketMidpoint bucketWidth notional volume rankScore distinctSessions lookbackSessions distanceBps
}
fragment ActivityRow on OffExchangeActivityRow { date offExchVolume offExchPct notional }`;

/** Everything that is first shown. `past`: a session that was chosen, of which the last capture is shown instead of the latest. */
export const dashboardQuery: Operation<types.Dashboard, types.DashboardVariables> = `query Dashboard(
  $symbol: Ticker!, $session: SessionDate!, $past: Boolean!, $flowSession: SessionDate, $sessionAt: PointInTime!,
  $timeframe: Timeframe!, $from: PointInTime!, $to: PointInTime!, $quotes: [Ticker!]!, $offFrom: PointInTime, $offTo: PointInTime, $activityFrom: PointInTime!,
  $dailyFrom: PointInTime!, $dailyTo: PointInTime!
) {
  market { ...MarketClock }
  me { tier attested }
  watchlists { rows { ...Watchlist } }
  quotes(symbols: $quotes) { rows { ...Quote } meta { restricted } }
  movers(limit: 15) { rows { symbol } }
  symbol(symbol: $symbol) { ...SymbolAnswer }
}
fragment Watchlist on Watchlist { id name tickers }
fragment SymbolAnswer on Symbol {
  symbol name class
  access { allowed reason requiredTier }
  bars(from: $from, to: $to, timeframe: $timeframe, limit: 1000) { ...BarsPage }
  daily: bars(from: $dailyFrom, to: $dailyTo, timeframe: "1d", limit: 400) { columns { ...DailyColumns } }
  gex {
    latest(topStrikes: ${topStrikes}) @skip(if: $past) { ...GexCapture }
    at(time: $sessionAt, topStrikes: ${topStrikes}) @include(if: $past) { ...GexCapture }
    history(date: $session, top: ${historyStrikes}) { ...GexHistory }
  }
  flow {
    crossSection(session: $flowSession) { ...CrossSectionPage }
    largeTrades(session: $flowSession, limit: ${firstTrades}) { events { ...LargeTrade } }
  }
  volatility {
    surface @skip(if: $past) { ...VolatilitySurface }
  }
  offExchange {
    composition(from: $offFrom, to: $offTo) { rows { ...CompositionRow } meta { ...OffExchangeMeta } }
    concentration(from: $offFrom, to: $offTo, limit: 30) { rows { ...ConcentrationRow } meta { ...OffExchangeMeta } }
    activity(from: $activityFrom, to: $offTo, limit: 60) { rows { ...ActivityRow } meta { ...OffExchangeMeta } }
  }
}
${market}${quote}${barsPage}${daily}${capture}${history}${crossSectionPage}${largeTrade}${surface}${offExchange}`;

/** Candles of another length, or what follows a page. */
export const barsQuery: Operation<types.Bars, types.BarsVariables> =
  `query Bars($symbol: Ticker!, $timeframe: Timeframe!, $from: PointInTime!, $to: PointInTime!, $cursor: String) {
  symbol(symbol: $symbol) { bars(from: $from, to: $to, timeframe: $timeframe, limit: 1000, cursor: $cursor) { ...BarsPage } }
}${barsPage}`;

/** The captures of a session, where the one asked for first has none yet. */
export const historyQuery: Operation<types.History, types.HistoryVariables> =
  `query History($symbol: Ticker!, $session: SessionDate!) {
  symbol(symbol: $symbol) { gex { history(date: $session, top: ${historyStrikes}) { ...GexHistory } } }
}${history}`;

/** Volatilities, which change with every chain that is captured. */
export const surfaceQuery: Operation<types.Surface, types.SurfaceVariables> = `query Surface($symbol: Ticker!) {
  symbol(symbol: $symbol) { volatility { surface { ...VolatilitySurface } } }
}${surface}`;

/** Quotes of a watchlist that came with the first answer. */
export const quotesQuery: Operation<types.Quotes, types.QuotesVariables> = `query Quotes($quotes: [Ticker!]!) {
  quotes(symbols: $quotes) { rows { ...Quote } meta { restricted } }
}
${quote}`;

/** Large trades further back that pass a premium filter. */
export const tradesQuery: Operation<types.LargeTrades, types.LargeTradesVariables> =
  `query LargeTrades($symbol: Ticker!, $session: SessionDate, $minPremiumUsd: Float!) {
  symbol(symbol: $symbol) { flow { largeTrades(session: $session, minPremiumUsd: $minPremiumUsd, limit: ${firstTrades}) { events { ...LargeTrade } } } }
}${largeTrade}`;

/** Symbols for the search field. */
export const searchQuery: Operation<types.Search, types.SearchVariables> = `query Search($search: String!) {
  symbols(first: 8, search: $search) { nodes { ...FoundSymbol } }
}
fragment FoundSymbol on Symbol { symbol name }`;

export const quotesSubscription: Operation<types.LiveQuotes, types.LiveQuotesVariables> =
  `subscription LiveQuotes($quotes: [Ticker!]!) {
  quotes(symbols: $quotes) { ...Quote }
}
${quote}`;

export const barsSubscription: Operation<types.LiveBars, types.LiveBarsVariables> =
  `subscription LiveBars($symbol: Ticker!, $timeframe: Timeframe!) {
  bars(symbol: $symbol, timeframe: $timeframe) { ...Bar }
}
${bar}`;

export const gexSubscription: Operation<types.LiveGex, types.LiveGexVariables> =
  `subscription LiveGex($symbol: Ticker!) {
  gexCaptured(symbol: $symbol, topStrikes: ${topStrikes}) { ...GexCapture }
}${capture}`;

export const tradesSubscription: Operation<types.LiveTrades, types.LiveTradesVariables> =
  `subscription LiveTrades($symbol: Ticker!) {
  largeTrades(symbol: $symbol) { ...LargeTrade }
}${largeTrade}`;

export const crossSectionSubscription: Operation<types.LiveCrossSection, types.LiveCrossSectionVariables> =
  `subscription LiveCrossSection($symbol: Ticker!) {
  crossSection(symbol: $symbol) { ...CrossSection }
}${crossSection}`;
