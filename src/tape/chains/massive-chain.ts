import { exchangeDate } from '../../domain/market-time.ts';
import { massiveChain } from '../formats/massive.ts';
import { jsonTexts, parseExact } from '../text/json-values.ts';
import { PageSequence, resultsOf } from '../vendors/massive.ts';
import type { ChainPart, VendorChain } from './vendor-chain.ts';

type Keys = Readonly<Record<string, unknown>>;

const keysOf = (value: unknown): Keys => (typeof value === 'object' && value !== null ? (value as Keys) : {});

/** Epoch ms of nanoseconds; NaN if there are none. */
const msOf = (nanos: unknown) =>
  typeof nanos === 'string' && /^\d{7,}$/.test(nanos) ? Number(nanos.slice(0, -6)) : Number.NaN;

function partOf(result: Keys): ChainPart {
  const [details, quote, trade] = [keysOf(result.details), keysOf(result.last_quote), keysOf(result.last_trade)];
  const [greeks, underlying, day] = [keysOf(result.greeks), keysOf(result.underlying_asset), keysOf(result.day)];
  const spotMs = msOf(underlying.last_updated);
  const [dayMs, quoteMs] = [msOf(day.last_updated), msOf(quote.last_updated)];
  const nowMs = Number.isNaN(spotMs) ? quoteMs : spotMs;
  // A contract that did not trade today has the figures of the day on which it did.
  const isToday = dayMs > 0 && nowMs > 0 && exchangeDate(dayMs) === exchangeDate(nowMs);
  const { delta, gamma, theta, vega } = greeks;
  const price = underlying.price ?? underlying.value;
  return {
    contract: String(details.ticker),
    numbers: {
      ...{ delta, gamma, theta, vega, bid: quote.bid, ask: quote.ask, iv: result.implied_volatility },
      openInterest: result.open_interest,
      volume: isToday ? day.volume : undefined,
      last: trade.price ?? day.close,
      fmv: result.fmv,
    },
    shares: details.shares_per_contract,
    times: [spotMs, quoteMs, msOf(trade.sip_timestamp)],
    // An index has a value.
    ...(price !== undefined && { spot: { price, tsMs: spotMs } }),
  };
}

/** The chain of an underlying, in pages. */
export const massiveChainParts: VendorChain = {
  format: massiveChain,
  isJson: true,
  async *parts(texts) {
    const pages = new PageSequence();
    let line = 0;
    for await (const text of jsonTexts(texts)) {
      const page = keysOf(parseExact(text));
      pages.add(page);
      for (const result of resultsOf(page)) yield { line: ++line, found: [partOf(result)] };
    }
    pages.end();
  },
};
