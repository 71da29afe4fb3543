import { nextTradingDay } from '../domain/calendar.ts';
import { marketClock } from '../domain/market-clock.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { encodeId } from '../schema/node-id.ts';

/** A tab of GraphiQL. */
export interface Example {
  query: string;
}

/** The latest session that has begun at `nowMs`. */
export const latestSession = (nowMs: number): SessionDate => marketClock(nowMs).sessionDate;

/** The session the examples speak of, and the trading day after it. */
interface Dates {
  session: SessionDate;
  next: SessionDate;
}

const dashboard = ({
  session,
  next,
}: Dates) => `# One call for a whole dashboard: quotes, bars, dealer gamma and expirations of several symbols.
# Paste your key at the top. Ctrl-Space completes; the documentation on the left explains every field.
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

const gexHistory = ({ session }: Dates) => `# How dealer gamma moved through a session: a capture every five minutes.
query GexThroughTheDay {
  symbol(symbol: "SPY") {
    gex {
      history(date: "${session}", top: 5) {
        captures { capturedAt spot netGex flipPoint strikes { strike gex } }
        meta { captureCount sessionOpen sessionClose }
      }
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

const browse = `# Which symbols are there, and may I read them? access gives the reason if not.
query Browse {
  symbols(first: 20, sector: "Technology") {
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

const examples: readonly ((dates: Dates) => string)[] = [
  dashboard,
  minuteBars,
  () => gexNow,
  gexHistory,
  () => chain,
  () => flow,
  () => offExchange,
  () => browse,
  () => sectors,
  () => me,
  () => byId,
];

/** Number of example queries in GraphiQL. */
export const exampleCount = examples.length;

/** The questions users ask first, as GraphiQL's tabs, of the latest session at `nowMs`. */
export function exampleTabs(nowMs: number): Example[] {
  const session = latestSession(nowMs);
  const dates = { session, next: nextTradingDay(session) };
  return examples.map((example) => ({ query: example(dates) }));
}
