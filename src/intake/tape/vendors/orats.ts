import { closeMinute } from '../../../core/domain/calendar.ts';
import { knownRoots } from '../../../core/domain/chain/option-root.ts';
import { exchangeInstant, isDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import {
  type ChainItem,
  type Row,
  type RowReading,
  tickerOfCells,
  type Vendor,
  VendorError,
  type VendorFormat,
} from '../formats/vendor.ts';
import { stampedMs } from '../text/written-times.ts';

// Files of ORATS. Names of columns: docs.orats.io, and github.com/joshuaulrich/quantmod, R/getOptionChain.orats.R.

// The vendor's last snapshot of a session is of a quarter of an hour before the close.
const mostBeforeCloseMs = 20 * minuteMs;

/** True if a stamp is none, or of the close of a session. */
function isOfClose(stamp: string, date: string): boolean {
  if (stamp === '' || !isDate(date)) return true;
  return stampedMs(stamp) >= exchangeInstant(date, closeMinute(date)) - mostBeforeCloseMs;
}

/** The row of a session; one of a snapshot during it has the stamp in place of its date, which makes a bad line. */
function rowOf(value: (name: string) => unknown, unit: number): Row {
  const [date, stamp, iv] = ['tradeDate', 'quoteDate', 'iv30d'].map((name) => String(value(name) ?? ''));
  const fraction = iv !== '' && Number.isFinite(Number(iv)) ? String(Number((Number(iv) / unit).toFixed(12))) : iv;
  return [value('ticker'), isOfClose(stamp!, date!) ? date : stamp, fraction];
}

/** Volatilities of sessions, as CSV and as JSON. `unit`: that of its volatilities. */
const rowsIn = (unit: number): RowReading => ({
  columns: ['symbol', 'date', 'iv30'],
  lines: (_, at) => ({ row: (cells) => rowOf((name) => cells[at(name)], unit) }),
  pages: () => ({
    *items({ data }) {
      if (!Array.isArray(data)) throw new VendorError('data: expected a list of sessions');
      for (const item of data) {
        if (typeof item !== 'object' || item === null) throw new VendorError('data: expected objects');
        yield rowOf((name) => item[name], unit);
      }
    },
  }),
});

/** `hist/summaries`, as CSV or JSON: volatilities are fractions. */
const summaries: VendorFormat = {
  name: 'orats-summaries',
  content: 'summaries of sessions of ORATS, as CSV or JSON',
  datasets: ['volatility-days'],
  required: ['ticker', 'tradeDate', 'stockPrice', 'iv30d', 'rVol30'],
  time: null,
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'ticker' },
  rows: rowsIn(1),
};

/** `hist/cores`, as CSV or JSON: volatilities are percentages. */
const cores: VendorFormat = {
  name: 'orats-cores',
  content: 'core data of sessions of ORATS, as CSV or JSON',
  datasets: ['volatility-days'],
  required: ['ticker', 'tradeDate', 'pxCls', 'iv30d'],
  time: null,
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'ticker' },
  rows: rowsIn(100),
};

/** A value of a row by its name; undefined if absent. */
type ValueOf = (name: string) => unknown;

const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));

/**
 * The root of a row: the vendor has tickers. Those of an index with several roots, such as SPX and SPXW, differ in
 * their settlement, which `expiryTod` has. Null if it does not tell them apart.
 */
function rootOf(value: ValueOf): string | null {
  const ticker = text(value('ticker'));
  const roots = knownRoots.filter(({ underlying }) => underlying === ticker);
  if (roots.length === 0) return ticker.replaceAll(/[^A-Z0-9]/g, '');
  const settled = roots.length === 1 ? roots : roots.filter(({ settlement }) => settlement === value('expiryTod'));
  return settled.length === 1 ? settled[0]!.root : null;
}

/** The delta of the put beside a call: one less. */
function putDelta(delta: unknown): number | undefined {
  const call = text(delta) === '' ? Number.NaN : Number(delta);
  return Number.isNaN(call) ? undefined : Number((call - 1).toFixed(12));
}

/** The call and the put of a row, or the reason why it is invalid. Greeks of a row are the call's. */
function partsOf(value: ValueOf): ChainItem {
  const root = rootOf(value);
  if (root === null) return `expiryTod: expected am or pm of a root of ${text(value('ticker'))}`;
  const strike = Math.round(Number(text(value('strike')) || Number.NaN) * 1000);
  const tsMs = stampedMs(text(value('quoteDate')));
  const [gamma, vega] = [value('gamma'), value('vega')];
  const shared = { times: [tsMs], spot: { price: value('spotPrice') || value('stockPrice'), tsMs } };
  const sides = [
    ['call', { delta: value('delta'), theta: value('theta'), gamma, vega }],
    ['put', { delta: putDelta(value('delta')), gamma, vega }],
  ] as const;
  return sides.map(([right, greeks]) => ({
    contract: tickerOfCells({ root, expiry: text(value('expirDate')), strike, right }),
    numbers: {
      bid: value(`${right}BidPrice`),
      ask: value(`${right}AskPrice`),
      fmv: value(`${right}Value`),
      iv: value(`${right}MidIv`),
      volume: value(`${right}Volume`),
      openInterest: value(`${right}OpenInterest`),
      ...greeks,
    },
    ...shared,
  }));
}

/** `strikes` and `hist/strikes`, as CSV or JSON: a call and a put per row. */
const strikes: VendorFormat = {
  name: 'orats-strikes',
  content: 'strikes of ORATS, as CSV or JSON',
  datasets: ['chain'],
  required: [
    'ticker',
    'tradeDate',
    'expirDate',
    'strike',
    'stockPrice',
    'callBidPrice',
    'callAskPrice',
    'putBidPrice',
    'putAskPrice',
    'quoteDate',
  ],
  time: { column: 'quoteDate', unit: 'stamp' },
  delayMs: 0,
  symbols: { column: 'ticker', spelling: 'ticker' },
  chain: {
    line: partsOf,
    pages: () => ({
      *items({ data }) {
        if (!Array.isArray(data)) throw new VendorError('data: expected a list of strikes');
        for (const row of data)
          yield typeof row === 'object' && row !== null ? partsOf((name) => row[name]) : 'expected an object';
      },
    }),
  },
};

/** ORATS. */
export const orats: Vendor = { formats: [strikes, summaries, cores] };
