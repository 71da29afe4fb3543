// Every operation of the dashboard. Their types are generated from them: `npm run generate`.

import type * as types from '../../../../../generated/pages/operation-types.ts';
import type { Operation } from './graph-client.ts';
import { tradesPerPage } from './trade-list.ts';

/** Number of strikes of the latest capture: those with the most gamma. */
const topStrikes = 120;
/** Number of strikes of each capture of the session: as many as can be distinguished in the height of a panel. */
const historyStrikes = 40;

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
  capturedAt sessionDate spot impliedSpot spotStale inconsistentExpiries netGex flipPoint flipStatus zeroGamma callWall
  putWall
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

const tradedContract = `
fragment TradedContract on OptionContract { id expiry right strike }`;
const largeTrade = `
fragment FlowEvent on FlowEvent {
  id eventId eventKind eventTsMs side premiumUsd totalSize priceLow priceHigh
  legs { contract { ...TradedContract } price size }
}
fragment LargeTrade on LargeTrade { seq update { event { ...FlowEvent } } }${tradedContract}`;
const largeTradesPage = `
fragment LargeTradesPage on LargeTradesPage { events { ...LargeTrade } meta { cursor total { count premiumUsd } } }${largeTrade}`;

const surface = `
fragment VolatilityExpiry on VolatilityExpiry { expiry dte atmIv atmStrike contractCount }
fragment VolatilityPoint on VolatilityPoint { expiry right strike iv }
fragment VolatilitySurface on VolatilitySurface {
  asOfMs spot expiries { ...VolatilityExpiry } points { ...VolatilityPoint } meta { note }
}`;

const offExchange = `
fragment OffExchangeMeta on OffExchangeMeta { note session }
fragment CompositionPage on OffExchangeCompositionPage { rows { ...CompositionRow } meta { ...OffExchangeMeta } }
fragment ConcentrationPage on OffExchangeConcentrationPage {
  rows { ...ConcentrationRow } meta { ...OffExchangeMeta }
}
fragment CompositionRow on OffExchangeCompositionRow {
  date category notional volume tradeCount shareOfOffExchNotional
}
fragment ConcentrationRow on OffExchangeConcentrationRow {
  date rank bucketMidpoint bucketWidth notional volume rankScore distinctSessions lookbackSessions distanceBps
}`;

/** Fields that load when their panel scrolls into view. */
const symbolParts = `
fragment SymbolParts on Symbol {
  gex { history(date: $session, top: ${historyStrikes}) @include(if: $heat) { ...GexHistory } }
  flow { largeTrades(session: $flowSession, limit: ${tradesPerPage}) @include(if: $trades) { ...LargeTradesPage } }
  volatility { surface @include(if: $volatility) { ...VolatilitySurface } }
  offExchange {
    composition(from: $offFrom, to: $offTo) @include(if: $offExchange) { ...CompositionPage }
    concentration(from: $offFrom, to: $offTo, limit: 30) @include(if: $offExchange) { ...ConcentrationPage }
  }
}${history}${largeTradesPage}${surface}${offExchange}`;

const partsVariables = `
  $session: SessionDate!, $flowSession: SessionDate, $offFrom: PointInTime, $offTo: PointInTime,
  $heat: Boolean!, $trades: Boolean!, $volatility: Boolean!, $offExchange: Boolean!`;

/**
 * Query of the first view: the head of the page, and the visible panels. `past`: a session was chosen, whose last
 * capture is shown instead of the latest.
 */
export const dashboardQuery: Operation<types.Dashboard, types.DashboardVariables> = `query Dashboard(
  $symbol: Ticker!, $past: Boolean!, $sessionAt: PointInTime!, $timeframe: Timeframe!, $from: PointInTime!,
  $to: PointInTime!, $quotes: [Ticker!]!, $activityFrom: PointInTime!, $dailyFrom: PointInTime!, $dailyTo: PointInTime!,
  $lists: Boolean!, $flow: Boolean!, $activity: Boolean!, ${partsVariables}
) {
  market { ...MarketClock }
  me { tier attested }
  watchlists @include(if: $lists) { rows { ...Watchlist } }
  quotes(symbols: $quotes) { rows { ...Quote } meta { restricted } }
  movers(limit: 15) @include(if: $lists) { rows { symbol } }
  symbol(symbol: $symbol) { ...SymbolAnswer }
}
fragment Watchlist on Watchlist { id name tickers }
fragment SymbolAnswer on Symbol {
  symbol name class lastSession sessionDates
  access { allowed reason requiredTier }
  bars(from: $from, to: $to, timeframe: $timeframe, limit: 1000) { ...BarsPage }
  daily: bars(from: $dailyFrom, to: $dailyTo, timeframe: "1d", limit: 400) { columns { ...DailyColumns } }
  gex {
    latest(topStrikes: ${topStrikes}) @skip(if: $past) { ...GexCapture }
    at(time: $sessionAt, topStrikes: ${topStrikes}) @include(if: $past) { ...GexCapture }
  }
  flow { crossSection(session: $flowSession) @include(if: $flow) { ...CrossSectionPage } }
  offExchange {
    activity(from: $activityFrom, to: $offTo, limit: 60) @include(if: $activity) { rows { ...ActivityRow } }
  }
  ...SymbolParts
}
fragment ActivityRow on OffExchangeActivityRow { date offExchVolume offExchPct notional }
${market}${quote}${barsPage}${daily}${capture}${crossSectionPage}${symbolParts}`;

/** Query of the parts that scrolled into view later. */
export const partsQuery: Operation<types.Parts, types.PartsVariables> =
  `query Parts($symbol: Ticker!, ${partsVariables}) {
  symbol(symbol: $symbol) { ...SymbolParts }
}${symbolParts}`;

/** Candles of another length, or the next page. */
export const barsQuery: Operation<types.Bars, types.BarsVariables> =
  `query Bars($symbol: Ticker!, $timeframe: Timeframe!, $from: PointInTime!, $to: PointInTime!, $cursor: String) {
  symbol(symbol: $symbol) { bars(from: $from, to: $to, timeframe: $timeframe, limit: 1000, cursor: $cursor) { ...BarsPage } }
}${barsPage}`;

/** The captures of a session, if the one requested first has none yet. */
export const historyQuery: Operation<types.History, types.HistoryVariables> =
  `query History($symbol: Ticker!, $session: SessionDate!) {
  symbol(symbol: $symbol) { gex { history(date: $session, top: ${historyStrikes}) { ...GexHistory } } }
}${history}`;

/** Volatilities, which change with every captured chain. */
export const surfaceQuery: Operation<types.Surface, types.SurfaceVariables> = `query Surface($symbol: Ticker!) {
  symbol(symbol: $symbol) { volatility { surface { ...VolatilitySurface } } }
}${surface}`;

/** The stored data of the sessions of a symbol. */
export const sessionsQuery: Operation<types.Sessions, types.SessionsVariables> = `query Sessions($symbol: Ticker!) {
  symbol(symbol: $symbol) { sessions(last: 250) { ...SessionContents } }
}
fragment SessionContents on StoredSession { sessionDate bars chains flow offExchange }`;

/** A large trade: its legs, with the market before each. */
export const tradeQuery: Operation<types.Trade, types.TradeVariables> = `query Trade($id: ID!) {
  node(id: $id) { ... on FlowEvent { legs { ...TradedLeg } } }
}
fragment TradedLeg on FlowLeg {
  price size side premiumUsd exchange
  contract { ...TradedContract }
  context(before: 1, after: 0) { symbol { quote { spot } } contract { chainRow { ...TradedChainRow } } }
}
fragment TradedChainRow on ChainRow { bid ask volume openInterest iv delta }${tradedContract}`;

/** Quotes of a watchlist of the first answer. */
export const quotesQuery: Operation<types.Quotes, types.QuotesVariables> = `query Quotes($quotes: [Ticker!]!) {
  quotes(symbols: $quotes) { rows { ...Quote } meta { restricted } }
}
${quote}`;

/** Large trades that pass a filter, or older ones than a page. */
export const tradesQuery: Operation<types.LargeTrades, types.LargeTradesVariables> = `query LargeTrades(
  $symbol: Ticker!, $session: SessionDate, $limit: Int!, $cursor: String, $kind: FlowEventKind, $side: FlowSide,
  $right: OptionRight, $expiry: SessionDate, $minPremiumUsd: Float
) {
  symbol(symbol: $symbol) {
    flow {
      largeTrades(
        session: $session, limit: $limit, cursor: $cursor, kind: $kind, side: $side, right: $right, expiry: $expiry,
        minPremiumUsd: $minPremiumUsd
      ) { ...LargeTradesPage }
    }
  }
}${largeTradesPage}`;

/** The registry for the search field, as much as one answer holds. */
export const registryQuery: Operation<types.Registry, types.RegistryVariables> = `query Registry {
  symbols(first: 500) { nodes { ...FoundSymbol } pageInfo { hasNextPage } }
}
fragment FoundSymbol on Symbol { symbol name }`;

/** Symbols for the search field, if the registry is too large for one answer. */
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
