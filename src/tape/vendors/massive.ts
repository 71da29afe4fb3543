import { massiveAggregates, massiveQuotes, massiveTrades } from '../formats/massive.ts';
import { BarSpacing } from './bar-spacing.ts';
import { type PageReader, type RowFormat, VendorError } from './row-format.ts';
import { statedTicker } from './stated-ticker.ts';

type Page = Parameters<PageReader['rows']>[0];
type Result = Readonly<Record<string, unknown>>;

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 60) ?? 'nothing';

/** The results of a page; none if it has no such key, as an empty one. Throws `VendorError`. */
export function resultsOf(page: Page): readonly Result[] {
  const { status, results = [] } = page;
  if (status !== undefined && status !== 'OK' && status !== 'DELAYED')
    throw new VendorError(`status: expected OK or DELAYED, got ${shown(status)}`);
  if (!Array.isArray(results)) throw new VendorError(`results: expected a list, got ${shown(results)}`);
  const bad = results.findIndex((result) => typeof result !== 'object' || result === null);
  if (bad >= 0) throw new VendorError(`results[${bad}]: expected an object, got ${shown(results[bad])}`);
  return results;
}

/** Address of the page after this one; null for the last. Throws `VendorError`. */
function nextOf({ next_url: next }: Page): URL | null {
  if (next === undefined || next === null || next === '') return null;
  const url = typeof next === 'string' ? URL.parse(next) : null;
  if (!url) throw new VendorError(`next_url: expected an address, got ${shown(next)}`);
  return url;
}

/** Checks that the pages of a file are one answer from its first to its last. */
export class PageSequence {
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
function pagesOfTicker(name: string, rowOf: (ticker: string, result: Result) => readonly unknown[]): PageReader {
  const pages = new PageSequence();
  let ticker: string | null = null;
  return {
    *rows(page) {
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
  ...['conditions', 'correction', 'exchange', 'id', 'price', 'sequence_number', 'sip_timestamp'],
  ...['size', 'tape', 'trf_id'],
];

/** Prints of a stock or a contract. */
export const massiveTradeRows: RowFormat = {
  format: massiveTrades,
  as: ['stock-trades', 'option-trades'],
  columns: ['ticker', ...tradeKeys],
  pages: (name) => pagesOfTicker(name, (ticker, trade) => [ticker, ...tradeKeys.map((key) => trade[key])]),
};

const quoteKeys = ['ask_price', 'bid_price', 'sequence_number', 'sip_timestamp'];

/** Quotes of a contract. */
export const massiveQuoteRows: RowFormat = {
  format: massiveQuotes,
  as: ['option-quotes'],
  columns: ['ticker', ...quoteKeys],
  pages: (name) => pagesOfTicker(name, (ticker, quote) => [ticker, ...quoteKeys.map((key) => quote[key])]),
};

/** Epoch milliseconds as nanoseconds; another text unchanged, for the check of the column. */
const nanosOfMs = (ms: unknown) => (typeof ms === 'string' && /^\d+$/.test(ms) ? `${ms}000000` : ms);

/** Bars of stocks or contracts, several of which can be in a file one after another. */
export const massiveAggregateRows: RowFormat = {
  format: massiveAggregates,
  as: ['stock-aggregates', 'option-aggregates'],
  columns: ['ticker', 'volume', 'open', 'close', 'high', 'low', 'window_start', 'transactions', 'vwap'],
  pages() {
    const pages = new PageSequence();
    let spacing = new BarSpacing();
    let last: unknown = null;
    return {
      *rows(page) {
        const { ticker, adjusted } = page;
        if (pages.add(page)) {
          spacing.check();
          spacing = new BarSpacing();
        } else if (ticker !== last) throw new VendorError(`ticker: expected ${shown(last)}, got ${shown(ticker)}`);
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
};
