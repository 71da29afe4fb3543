// Every operation the dashboard sends, in one place.

/** Strikes of the latest capture: those with the most gamma. */
const topStrikes = 120;
/** Strikes of each capture of the session; more than 100 cost ten times as much. */
const historyStrikes = 80;
/** Large trades first shown: each costs a point, so no more than a page of them. */
const firstTrades = 50;

const quoteFields = 'symbol spot changePct volume officialClose sessionDate eventTsMs';
const captureFields = `
  capturedAt sessionDate spot netGex flipPoint zeroGamma callWall putWall
  strikes { strike gex gex0dte callOi putOi }
  expiries { expiry maxPain expectedMoveStraddle atmIv }`;
const barFields = 'tsMs open high low close volume';
const barsPageFields = `columns { ${barFields} } meta { cursor }`;
const measureFields = 'callPremiumUsd putPremiumUsd callVolume putVolume callTradeCount putTradeCount';
const crossSectionFields = `
  seq
  coverage { status complete sessionDate observedThroughMs }
  update {
    byStrike { strikeThousandths measures { ${measureFields} } }
    byExpiration { expiry measures { ${measureFields} } }
  }`;
const tradeFields = `
  seq
  update { event {
    eventId eventKind eventTsMs side premiumUsd totalSize priceLow priceHigh
    legs { contract { id expiry right strike } price size }
  } }`;

const surfaceFields = `
  asOfMs spot
  expiries { expiry dte atmIv atmStrike contractCount }
  points { expiry right strike iv }
  meta { note }`;

/** Everything that is first shown. `past`: a session that was chosen, of which the last capture is shown instead of the latest. */
export const dashboardQuery = `query Dashboard(
  $symbol: Ticker!, $session: SessionDate!, $past: Boolean!, $flowSession: SessionDate, $sessionAt: PointInTime!,
  $timeframe: Timeframe!, $from: PointInTime!, $to: PointInTime!, $quotes: [Ticker!]!, $offFrom: PointInTime, $offTo: PointInTime, $activityFrom: PointInTime!
) {
  me { tier attested }
  watchlists { rows { id name tickers } }
  quotes(symbols: $quotes) { rows { ${quoteFields} } meta { restricted } }
  movers(limit: 15) { rows { symbol spot changePct volume } }
  symbol(symbol: $symbol) {
    symbol name class
    access { allowed reason requiredTier }
    bars(from: $from, to: $to, timeframe: $timeframe, limit: 1000) { ${barsPageFields} }
    gex {
      latest(topStrikes: ${topStrikes}) @skip(if: $past) { ${captureFields} }
      at(time: $sessionAt, topStrikes: ${topStrikes}) @include(if: $past) { ${captureFields} }
      history(date: $session, top: ${historyStrikes}) { sessionDate captures { capturedAt spot strikes { strike gex } } }
    }
    flow {
      crossSection(session: $flowSession) { snapshot { ${crossSectionFields} } meta { note } }
      largeTrades(session: $flowSession, limit: ${firstTrades}) { events { ${tradeFields} } }
    }
    volatility {
      surface @skip(if: $past) { ${surfaceFields} }
    }
    offExchange {
      composition(from: $offFrom, to: $offTo) { rows { date category notional volume tradeCount shareOfOffExchNotional } meta { note session } }
      concentration(from: $offFrom, to: $offTo, limit: 30) {
        rows { date rank bucketMidpoint bucketWidth notional volume rankScore distinctSessions lookbackSessions distanceBps }
        meta { note session }
      }
      activity(from: $activityFrom, to: $offTo, limit: 60) { rows { date offExchVolume offExchPct notional } meta { note session } }
    }
  }
}`;

/** Candles of another length, or what follows a page. */
export const barsQuery = `query Bars($symbol: Ticker!, $timeframe: Timeframe!, $from: PointInTime!, $to: PointInTime!, $cursor: String) {
  symbol(symbol: $symbol) { bars(from: $from, to: $to, timeframe: $timeframe, limit: 1000, cursor: $cursor) { ${barsPageFields} } }
}`;

/** The captures of a session, where the one asked for first has none yet. */
export const historyQuery = `query History($symbol: Ticker!, $session: SessionDate!) {
  symbol(symbol: $symbol) { gex { history(date: $session, top: ${historyStrikes}) { sessionDate captures { capturedAt spot strikes { strike gex } } } } }
}`;

/** Volatilities, which change with every chain that is captured. */
export const surfaceQuery = `query Surface($symbol: Ticker!) {
  symbol(symbol: $symbol) { volatility { surface { ${surfaceFields} } } }
}`;

/** Quotes of a watchlist that came with the first answer. */
export const quotesQuery = `query Quotes($quotes: [Ticker!]!) {
  quotes(symbols: $quotes) { rows { ${quoteFields} } meta { restricted } }
}`;

/** Large trades further back that pass a premium filter. */
export const tradesQuery = `query LargeTrades($symbol: Ticker!, $session: SessionDate, $minPremiumUsd: Float!) {
  symbol(symbol: $symbol) { flow { largeTrades(session: $session, minPremiumUsd: $minPremiumUsd, limit: ${firstTrades}) { events { ${tradeFields} } } } }
}`;

/** Symbols for the search field. */
export const searchQuery = `query Search($search: String!) {
  symbols(first: 8, search: $search) { nodes { symbol name } }
}`;

export const quotesSubscription = `subscription Quotes($quotes: [Ticker!]!) {
  quotes(symbols: $quotes) { ${quoteFields} }
}`;

export const barsSubscription = `subscription Bars($symbol: Ticker!, $timeframe: Timeframe!) {
  bars(symbol: $symbol, timeframe: $timeframe) { ${barFields} }
}`;

export const gexSubscription = `subscription GexCaptured($symbol: Ticker!) {
  gexCaptured(symbol: $symbol, topStrikes: ${topStrikes}) { ${captureFields} }
}`;

export const tradesSubscription = `subscription LargeTrades($symbol: Ticker!) {
  largeTrades(symbol: $symbol) { ${tradeFields} }
}`;

export const crossSectionSubscription = `subscription CrossSection($symbol: Ticker!) {
  crossSection(symbol: $symbol) { ${crossSectionFields} }
}`;
