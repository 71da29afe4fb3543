import { nextTradingDay, previousTradingDay } from '../core/domain/calendar.ts';
import { marketClock } from '../core/domain/market-clock.ts';
import type { SessionDate } from '../core/domain/market-time.ts';
import { encodeId } from '../schema/node-id.ts';

/** An example of GraphiQL's menu. */
export interface Example {
  name: string;
  query: string;
}

/** The latest session that has begun at `nowMs`. */
export const latestSession = (nowMs: number): SessionDate => marketClock(nowMs).sessionDate;

/** The session the examples speak of, and the trading days before and after it. */
interface Dates {
  session: SessionDate;
  previous: SessionDate;
  next: SessionDate;
}

/** A date as OSI symbols write it: YYMMDD. */
const osiDate = (date: SessionDate) => date.slice(2).replaceAll('-', '');

const dashboard = ({
  session,
  next,
}: Dates) => `# One call for a whole dashboard: quotes, bars, dealer gamma and expirations of several symbols.
# Paste your key at the top. Ctrl-Space completes; the documentation (the book at the left) explains every field.
query Dashboard {
  quotes(symbols: ["SPY", "QQQ", "AAPL"]) {
    rows {
      symbol
      spot
      changePct
      node {
        name
        bars(from: "${session}", to: "${next}", timeframe: "5m") { columns { tsMs close volume } }
        gex { latest(topStrikes: 10) { capturedAt netGex flipPoint strikes { strike gex } } }
        expirations { dates }
      }
    }
    meta { restricted }
  }
}
`;

const minuteBars = ({
  session,
  next,
}: Dates) => `# Minute bars of a session. columns has the same values as rows in a smaller form.
query MinuteBars {
  symbol(symbol: "SPY") {
    bars(from: "${session}", to: "${next}", timeframe: "1m", limit: 60) {
      rows { tsMs open high low close volume vwap }
      meta { rowCount completeThrough cursor caps { applied tier } }
    }
  }
}
`;

const corporate = ({
  next,
}: Dates) => `# Splits, dividends and interest rates; bars in shares of now (adjust: split) have no jump at a split.
query SplitsAndDividends {
  symbol(symbol: "TQQQ") {
    splits { exDate ratio declared }
    bars(from: "2026-01-01", to: "${next}", timeframe: "1d", adjust: split) { rows { tsMs close } meta { splits { exDate ratio } } }
  }
  spy: symbol(symbol: "SPY") { dividends { exDate amount kind } }
  rates { date days rate }
}
`;

const gexNow = `# Dealer gamma now: where hedging pins or accelerates the price, in dollars per $1 move (and in shares).
query DealerGamma {
  symbol(symbol: "SPY") {
    gex {
      latest(topStrikes: 20) {
        capturedAt
        spot
        netGex
        netGexShares
        flipPoint
        flipStatus
        zeroGamma
        callWall
        putWall
        expiries { expiry maxPain expectedMoveStraddle atmIv }
        strikes { strike gex gexShares deltaAdj callOi putOi gex0dte }
      }
    }
  }
}
`;

const provenance = `# How a figure was made: its files or live lines, when they were stored, and what they took the place of.
query Provenance {
  symbol(symbol: "SPY") {
    gex {
      latest {
        capturedAt
        netGex
        provenance {
          dataset
          made
          ingestedAt
          files { name sha256 lines }
          live { source fromLine throughLine }
          supersedes { ingestedAt files { name sha256 } }
          methodologyVersion
          origin
        }
      }
    }
  }
}
`;

const exposures = `# Delta, vanna, charm and vega exposure: by expiry, by strike, and in total.
query Exposures {
  symbol(symbol: "SPY") {
    gex {
      exposures {
        capturedAt
        total { delta vanna charm vega }
        byExpiry { expiry delta vanna charm vega }
        byStrike { strike delta vega }
        oiCoverage
      }
    }
  }
}
`;

const conventions = `# "Which one is right?" One capture in three conventions: ours, a published one, and 0DTE in shares.
query Conventions {
  symbol(symbol: "SPY") {
    gex {
      captures: figures { ...Figures }
      published: figures(convention: { preset: vendor_profile }) { ...Figures }
      zeroDte: figures(convention: { preset: zero_dte, unit: shares }) { ...Figures maxPain }
    }
  }
}
fragment Figures on GexFigures {
  net
  unit
  flip
  callWall
  putWall
  strikes(top: 5) { strike value }
  convention { words }
}
`;

const gexHistory = ({ session }: Dates) => `# How dealer gamma moved through a session: a capture every five minutes.
query GexThroughTheDay {
  symbol(symbol: "SPY") {
    gex {
      history(date: "${session}", top: 5) {
        captures { capturedAt spot netGex flipPoint flipStatus strikes { strike gex } }
        meta { captureCount sessionOpen sessionClose }
      }
    }
  }
}
`;

const gexChange = ({
  previous,
  session,
}: Dates) => `# Why did dealer gamma change since the session before? The parts add up to gex, and so do strikes and expiries.
# Take the largest part first. from and to may also be times, or ids of captures.
query WhyGammaChanged {
  symbol(symbol: "SPY") {
    gex {
      diff(from: "${previous}", to: "${session}") {
        netGex { from to moved }
        flipPoint { from to moved }
        zeroGamma { moved }
        callWall { from to }
        putWall { from to }
        change {
          gex spot time volatility openInterest listing residual
          strikes(top: 5) { strike gex spot time volatility openInterest listing callOi putOi volume }
          expiries { expiry gex listing openInterest }
        }
        meta { reason flipStatus { from to } }
      }
      sessions(first: 5) { sessionDate netGex flipPoint zeroGamma callWall putWall }
    }
  }
}
`;

const chain = `# The option chain of the nearest expiries around the money.
query Chain {
  symbol(symbol: "SPY") {
    spot { price }
    expirations { dates meta { capturedAt } }
    contracts(first: 20) {
      totalCount
      nodes { id expiry right strike openInterest chainRow { bid ask iv delta gamma } }
      pageInfo { hasNextPage endCursor }
    }
  }
}
`;

const unusual = `# Unusual activity: premium of today against its mean over a month to the same minute.
query Unusual {
  symbol(symbol: "SPY") {
    flow { unusual { sessionDate throughMs callPremiumUsd callRatio putPremiumUsd putRatio sessions meta { note } } }
  }
}
`;

const severalContracts = ({
  next,
}: Dates) => `# Several contracts in one call: open interest, volume against it, and greeks.
query SeveralContracts {
  contracts(ids: ["O:SPY${osiDate(next)}C00640000", "O:SPY${osiDate(next)}P00630000"]) {
    rows { contract { id } capturedAt openInterest volume volumeToOi bid ask iv delta }
    meta { restricted }
  }
}
`;

const contractByDay = ({
  next,
}: Dates) => `# A contract by session: open interest, volume, close, volatility and greeks.
query ContractByDay {
  contract(id: "O:SPY${osiDate(next)}C00640000") {
    history { days { date openInterest volume close iv delta gamma theta vega } meta { from to note } }
  }
}
`;

const flow = `# The largest option trades, from the event to its contracts and their greeks.
query LargeTrades {
  symbol(symbol: "SPY") {
    flow {
      largeTrades(minPremiumUsd: 100000, right: call, limit: 10) {
        events {
          update { event { eventKind side premiumUsd totalSize legs { contract { id greeks { latest { iv delta } } } price size } } }
          coverage { status complete sessionDate }
        }
        meta { count total { count premiumUsd } cursor }
      }
    }
  }
}
`;

const volatility = `# Implied volatility at fixed maturities, skew, and what the underlying really moved.
query Volatility {
  symbol(symbol: "SPY") {
    volatility {
      figures {
        asOfMs
        iv7
        iv30
        iv90
        rank { rank percentile days }
        skew { expiry dte atmIv riskReversal25 butterfly25 }
        realized { from through closeToClose parkinson garmanKlass yangZhang }
        premium { variance volatility }
      }
    }
  }
}
`;

const offExchange = `# What trades away from the exchanges: share of volume, kinds of trades, price levels.
query OffExchange {
  symbol(symbol: "AAPL") {
    offExchange {
      activity { rows { date offExchVolume offExchPct vwap } meta { note } }
      composition { rows { date category notional shareOfOffExchNotional } }
      concentration(limit: 10) { rows { rank bucketMidpoint notional distinctSessions distanceBps } }
    }
  }
}
`;

const joins = `# Where off-exchange trading meets dealer gamma, and all that was traded in the contract of the last large trade.
query LevelsAndEvents {
  symbol(symbol: "SPY") {
    offExchange {
      concentration(limit: 5) {
        rows { rank bucketMidpoint notional nearestStrike { distance distanceBps strike { strike gex callOi putOi } } }
      }
    }
    gex { latest(topStrikes: 5) { strikes { strike gex nearestLevel { distanceBps level { rank bucketMidpoint } } } } }
    flow { largeTrades(limit: 1) { events { update { event { eventKind legs { price size contract { ...Events } } } } } } }
  }
}
fragment Events on OptionContract {
  id
  chainRow { volume openInterest volumeToOi }
  largeTrades(limit: 5) { events { update { event { eventKind side premiumUsd totalSize } } } meta { total { count premiumUsd } } }
}
`;

const fills = `# How far from the walls did I trade, and what did it cost me? The market at each fill of my journal (add yours with
# createJournalTrade), as it was then.
query Fills {
  journalTrades(limit: 50) {
    rows {
      instrument side qty price ts
      market {
        phase
        quote { spot changePct }
        day { low high }
        rangePosition
        slippage { reference bps totalUsd note }
        gamma { isAboveZeroGamma zeroGamma { distanceBps } callWall { level distance } putWall { level distance } note }
      }
    }
  }
}
`;

const twoInstants = ({
  previous,
}: Dates) => `# The same symbol at two instants, and now: what it traded at, and what dealers held. Nothing later is read.
query TwoInstants {
  morning: asOf(at: "${previous}T10:00") { ...Market }
  later: asOf(at: "${previous}T12:45") { ...Market }
  now: asOf { ...Market }
}
fragment Market on AsOf {
  at
  symbol(symbol: "SPY") {
    quote { spot changePct volume }
    gex { latest(topStrikes: 3) { capturedAt netGex flipPoint callWall putWall } }
  }
}
`;

const browse = `# Which symbols are there, and may I read them? access gives the reason if not.
query Browse {
  symbols(first: 20, sector: "Information Technology") {
    totalCount
    nodes { symbol name class sector access { allowed reason requiredTier } quote { spot changePct } }
    pageInfo { hasNextPage endCursor }
  }
}
`;

const sectors = `# How each sector moved, unweighted.
query Sectors {
  sectors { rows { sector avgChangePct count symbols } meta { computedAt note } }
}
`;

const me = `# My account, and my usage.
query Me {
  me { accountId kind tier attested classification usage { trailingDays byDay { date scopeGroup count } rateLimit { perMin } } }
}
`;

const byId = `# Objects have ids: caches merge their fields by it, and node reads an object again.
query ById {
  symbol(symbol: "SPY") { id gex { id latest { id capturedAt netGex } } }
  node(id: "${encodeId('SymbolGex', 'SPY')}") { id ... on SymbolGex { latest { id flipPoint } } }
}
`;

const livePrices = `# Prices as they change, while the market trades. The button that runs it also stops it.
subscription LivePrices {
  quotes(symbols: ["SPY", "QQQ", "AAPL"]) { symbol spot changePct volume eventTsMs }
}
`;

const levels = `# Price levels: those of an index shifted to its future by a basis, and those of a fund.
query Levels {
  symbol(symbol: "SPX") { levels(basis: 35.5) { ...Levels } }
  spy: symbol(symbol: "SPY") { levels { ...Levels } }
}
fragment Levels on Levels {
  spot
  levels { kind price distance distancePct capturedAt status rank }
  meta { basis restricted spotStale }
}
`;

const screener = `# Symbols below their flip point, or with a high volatility, the highest first.
query Screener($where: ScreenInput = { or: [{ flipDistancePct: { gt: 0 } }, { ivPercentile: { gte: 80 } }] }) {
  screener(where: $where, orderBy: { figure: iv30 }, first: 10) { ...Screen }
}
fragment Screen on Screen {
  rows { symbol changePct netGex flipDistancePct flipStatus iv30 ivPercentile variancePremium node { levels { levels { kind price } } } }
  meta { totalCount cursor restricted }
}
`;

const savedScreen = `# Saves a screen and runs it. Later: { screen(id: "falling") { result { rows { symbol } } } }, also below asOf.
mutation SaveScreen {
  putScreen(id: "falling", screen: { name: "Falling", where: { changePct: { lt: 0 } }, orderBy: { figure: changePct, direction: asc } }) {
    screen { id name where result(first: 10) { rows { symbol changePct netGex } meta { totalCount } } }
  }
}
`;

const examples: Readonly<Record<string, (dates: Dates) => string>> = {
  'Several symbols at once': dashboard,
  'Minute bars': minuteBars,
  'Splits, dividends and rates': corporate,
  'Dealer gamma now': () => gexNow,
  'Dealer gamma through a session': gexHistory,
  'Two instants and now': twoInstants,
  'How a figure was made': () => provenance,
  'Delta, vanna, charm and vega exposure': () => exposures,
  'Which one is right?': () => conventions,
  'Why dealer gamma changed': gexChange,
  'Price levels': () => levels,
  Screener: () => screener,
  'A saved screen': () => savedScreen,
  'Option chain': () => chain,
  'Unusual premium': () => unusual,
  'Several contracts': severalContracts,
  'A contract by day': contractByDay,
  'Volatility figures': () => volatility,
  'Large option trades': () => flow,
  'Off-exchange trading': () => offExchange,
  'Levels, strikes and events': () => joins,
  'My fills and the market': () => fills,
  'Symbols of a sector': () => browse,
  Sectors: () => sectors,
  'My account and usage': () => me,
  'Objects by id': () => byId,
  'Live prices (subscription)': () => livePrices,
};

/** Number of examples in GraphiQL. */
export const exampleCount = Object.keys(examples).length;

/** The questions users ask first, for GraphiQL's menu, of the latest session at `nowMs`. */
export function examplesAt(nowMs: number): Example[] {
  const session = latestSession(nowMs);
  const dates = { session, previous: previousTradingDay(session), next: nextTradingDay(session) };
  return Object.entries(examples).map(([name, example]) => ({ name, query: example(dates) }));
}
