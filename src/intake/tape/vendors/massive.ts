import { exchangeDate } from '../../../core/domain/market-time.ts';
import {
  BarSpacing,
  type ChainPart,
  type Page,
  type PageReader,
  type Row,
  shownValue,
  statedTicker,
  type Vendor,
  VendorError,
  type VendorFormat,
} from '../formats/vendor.ts';

// Pages of the REST API of Massive, which was Polygon.io. Names of keys: github.com/polygon-io/client-python,
// test_rest/mocks and polygon/rest/models.

type Result = Readonly<Record<string, unknown>>;

/** The results of a page; none if it has no such key, as an empty one. Throws `VendorError`. */
function resultsOf(page: Page): readonly Result[] {
  const { status, results = [] } = page;
  if (status !== undefined && status !== 'OK' && status !== 'DELAYED')
    throw new VendorError(`status: expected OK or DELAYED, got ${shownValue(status)}`);
  if (!Array.isArray(results)) throw new VendorError(`results: expected a list, got ${shownValue(results)}`);
  const bad = results.findIndex((result) => typeof result !== 'object' || result === null);
  if (bad >= 0) throw new VendorError(`results[${bad}]: expected an object, got ${shownValue(results[bad])}`);
  return results;
}

/** Address of the page after this one; null for the last. Throws `VendorError`. */
function nextOf({ next_url: next }: Page): URL | null {
  if (next === undefined || next === null || next === '') return null;
  const url = typeof next === 'string' ? URL.parse(next) : null;
  if (!url) throw new VendorError(`next_url: expected an address, got ${shownValue(next)}`);
  return url;
}

/** Checks that the pages of a file are one answer from its first to its last. */
class PageSequence {
  #next: URL | null = null;
  #pages = 0;

  /** Adds a page. Returns true if it begins an answer. Throws `VendorError`. */
  add(page: Page): boolean {
    const begins = this.#next === null;
    const next = nextOf(page);
    if (!begins && next && next.pathname !== this.#next!.pathname)
      throw new VendorError(`next_url: expected ${this.#next!.pathname} as of the page before, got ${next.pathname}`);
    this.#next = next;
    this.#pages++;
    return begins;
  }

  /** Path of the answer if more pages are expected; null otherwise. */
  get path(): string | null {
    return this.#next?.pathname ?? null;
  }

  /** Throws `VendorError` if the last page has a next one. */
  end(): void {
    if (this.#next)
      throw new VendorError(`next_url: page ${this.#pages} says that there are more; append them to the file`);
  }
}

/** Pages without a ticker: it is in the address of the next page, or else begins the name of the file. */
function pagesOfTicker(name: string, rowOf: (ticker: string, result: Result) => Row): PageReader<Row> {
  const pages = new PageSequence();
  let ticker: string | null = null;
  return {
    *items(page) {
      if (pages.add(page) && ticker !== null)
        throw new VendorError('next_url: the page before was the last; expected the pages of one ticker');
      const path = pages.path;
      ticker ??= path === null ? statedTicker(name) : decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
      for (const result of resultsOf(page)) yield rowOf(ticker, result);
    },
    end: () => pages.end(),
  };
}

const tradeKeys = [
  'conditions',
  'correction',
  'exchange',
  'id',
  'price',
  'sequence_number',
  'sip_timestamp',
  'size',
  'tape',
  'trf_id',
];

/** `/v3/trades/{ticker}`: prints of a stock or an option contract. */
const trades: VendorFormat = {
  name: 'massive-trades',
  content: 'pages of /v3/trades of Massive',
  datasets: ['stock-trades', 'option-trades'],
  required: ['results', 'price', 'size', 'exchange', 'sequence_number', 'sip_timestamp'],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'next_url', spelling: 'stated' },
  rows: {
    columns: ['ticker', ...tradeKeys],
    pages: (name) => pagesOfTicker(name, (ticker, trade) => [ticker, ...tradeKeys.map((key) => trade[key])]),
  },
};

const quoteKeys = ['ask_price', 'bid_price', 'sequence_number', 'sip_timestamp'];

/** `/v3/quotes/{ticker}`: bids and offers of an option contract. */
const quotes: VendorFormat = {
  name: 'massive-quotes',
  content: 'pages of /v3/quotes of Massive',
  datasets: ['option-quotes'],
  required: ['results', 'ask_price', 'bid_price', 'sequence_number', 'sip_timestamp'],
  time: { column: 'sip_timestamp', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'next_url', spelling: 'stated' },
  rows: {
    columns: ['ticker', ...quoteKeys],
    pages: (name) => pagesOfTicker(name, (ticker, quote) => [ticker, ...quoteKeys.map((key) => quote[key])]),
  },
};

/** Epoch milliseconds as nanoseconds; another text unchanged, for the check of the column. */
const nanosOfMs = (ms: unknown) => (typeof ms === 'string' && /^\d+$/.test(ms) ? `${ms}000000` : ms);

/** `/v2/aggs/ticker/{ticker}/range/…`: minutes or days of a stock or an option contract. */
const aggregates: VendorFormat = {
  name: 'massive-aggregates',
  content: 'pages of /v2/aggs of Massive',
  datasets: ['stock-minute-bars', 'stock-day-bars', 'option-minute-bars'],
  required: ['results', 'ticker', 'adjusted', 'o', 'h', 'l', 'c', 't'],
  time: { column: 't', unit: 'milliseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'tickerOrOsi' },
  rows: {
    columns: ['ticker', 'volume', 'open', 'close', 'high', 'low', 'window_start', 'transactions', 'vwap'],
    pages() {
      const pages = new PageSequence();
      let spacing = new BarSpacing();
      let last: unknown = null;
      return {
        *items(page) {
          const { ticker, adjusted } = page;
          if (pages.add(page)) {
            spacing.check();
            spacing = new BarSpacing();
          } else if (ticker !== last)
            throw new VendorError(`ticker: expected ${shownValue(last)}, got ${shownValue(ticker)}`);
          last = ticker;
          if (adjusted !== false)
            throw new VendorError(
              'adjusted: expected false, because prices are stored as printed: request adjusted=false',
            );
          for (const { o, h, l, c, v, vw, t, n } of resultsOf(page)) {
            spacing.add(Number(t));
            yield [ticker, v, o, c, h, l, nanosOfMs(t), n, vw];
          }
        },
        end() {
          pages.end();
          spacing.check();
        },
      };
    },
  },
};

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
      bid: quote.bid,
      ask: quote.ask,
      iv: result.implied_volatility,
      delta,
      gamma,
      theta,
      vega,
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

/** `/v3/snapshot/options/{underlying}`: the chain of an underlying. Its times are those of its quotes. */
const chain: VendorFormat = {
  name: 'massive-chain',
  content: 'pages of /v3/snapshot/options of Massive',
  datasets: ['chain'],
  required: ['results', 'details', 'open_interest', 'underlying_asset'],
  time: { column: 'last_updated', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'prefixedOsi' },
  chain: {
    pages() {
      const pages = new PageSequence();
      return {
        *items(page) {
          pages.add(page);
          for (const result of resultsOf(page)) yield [partOf(result)];
        },
        end: () => pages.end(),
      };
    },
  },
};

/** Massive, which was Polygon.io. */
export const massive: Vendor = { formats: [trades, quotes, aggregates, chain] };
