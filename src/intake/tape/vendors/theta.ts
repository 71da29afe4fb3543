import { readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import type { Dataset } from '../../../core/domain/dataset.ts';
import type { FormatTime } from '../formats/format.ts';
import {
  BarSpacing,
  type LineReader,
  lineOf,
  type Row,
  type RowReading,
  shownValue,
  statedTicker,
  tickerOfCells,
  type Vendor,
  VendorError,
  type VendorFormat,
} from '../formats/vendor.ts';
import { jsonTexts, parseExact } from '../text/json-values.ts';
import { exchangeMs, nanosText, stampedMs } from '../text/written-times.ts';

// Answers of ThetaData's terminal as CSV. Names of columns: docs.thetadata.us/operations and
// http-docs.thetadata.us/operations; codes: github.com/ThetaData-API/thetadata-python, thetadata/enums.py.

/** Reads the cells of a line by the names of their columns. */
type CellOf = (column: string) => string;

/** Properties and cells in which the two versions differ. */
interface Version {
  /** Beginning of the names of its formats. */
  prefix: string;
  /** The vendor, for people. */
  of: string;
  /** Columns of the contract and the time, the contract's symbol first. */
  columns: readonly string[];
  time: FormatTime;
  ticker(cell: CellOf): string;
  /** Epoch ms; NaN if invalid. */
  tsMs(cell: CellOf): number;
  /** As written, for the reason of a bad line. */
  shownTime(cell: CellOf): string;
  date(cell: CellOf): string;
}

/** Dollars with a point become thousandths; one without is not of version 3. */
const thousandths = (strike: string) => (/^\d+\.\d+$/.test(strike) ? Math.round(Number(strike) * 1000) : Number.NaN);

const contractCells = (cell: CellOf) => ({ expiry: cell('expiration'), right: cell('right') });

const version3: Version = {
  prefix: 'theta',
  of: 'ThetaData',
  columns: ['symbol', 'expiration', 'strike', 'right', 'timestamp'],
  time: { column: 'timestamp', unit: 'stamp' },
  ticker: (cell) =>
    tickerOfCells({ ...contractCells(cell), root: cell('symbol'), strike: thousandths(cell('strike')) }),
  tsMs: (cell) => stampedMs(cell('timestamp')),
  shownTime: (cell) => cell('timestamp'),
  date: (cell) => cell('timestamp').slice(0, 10),
};

const version2: Version = {
  prefix: 'theta-v2',
  of: 'version 2 of ThetaData',
  columns: ['root', 'expiration', 'strike', 'right', 'ms_of_day', 'date'],
  time: { column: 'ms_of_day', unit: 'milliseconds' },
  ticker: (cell) => tickerOfCells({ ...contractCells(cell), root: cell('root'), strike: Number(cell('strike')) }),
  tsMs: (cell) => exchangeMs(cell('date'), cell('ms_of_day')),
  shownTime: (cell) => `${cell('date')} ${cell('ms_of_day')}`,
  date: (cell) => cell('date').replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'),
};

/** OPRA's letter of each of the vendor's exchanges, of which 300 and its position is the id in tapes. */
const participants: Readonly<Record<string, string>> = {
  1: 'Q',
  4: 'A',
  5: 'C',
  6: 'I',
  7: 'N',
  9: 'X',
  11: 'B',
  22: 'J',
  31: 'H',
  42: 'W',
  43: 'M',
  47: 'T',
  60: 'Z',
  65: 'E',
};
const [firstExchange, unknownExchange] = [300, 1000];

/** The id of an exchange in tapes; one that the vendor's list does not name stays another than all. */
function exchangeOf(code: string): string {
  const letter = participants[code];
  if (letter !== undefined) return String(firstExchange + letter.charCodeAt(0) - 'A'.charCodeAt(0));
  return /^\d{1,4}$/.test(code) ? String(unknownExchange + Number(code)) : code;
}

/**
 * Ids in tapes of the vendor's conditions: cancels, late and out of sequence, automatic, reopening, sweeps, extended
 * hours; of before 2019 spreads, buy-writes, stopped and crossed prints, as what OPRA calls their like now.
 */
const conditions: Readonly<Record<string, number | ''>> = {
  0: '',
  7: '',
  48: '',
  2: 202,
  5: 208,
  6: 206,
  13: 204,
  18: 209,
  21: 210,
  95: 219,
  97: 210,
  40: 201,
  41: 203,
  42: 205,
  43: 207,
  44: 201,
  118: 248,
  147: 247,
  148: 248,
  35: 232,
  36: 232,
  38: 232,
  37: 240,
  39: 227,
  106: 227,
  45: 229,
  124: 229,
};
/** Those of OPRA's letters a to t, in its order. */
const [firstLetter, lastLetter, firstId] = [125, 144, 227];

/** The id of a condition in tapes; another text for one without a meaning for contracts, which makes a bad line. */
function conditionOf(code: string): number | string {
  const number = /^\d{1,3}$/.test(code) ? Number(code) : Number.NaN;
  if (number >= firstLetter && number <= lastLetter) return firstId + number - firstLetter;
  return conditions[code] ?? `condition ${code}`;
}

/** Properties of a kind of answer, in both versions. */
interface Kind {
  name: string;
  content: string;
  dataset: Dataset;
  /** Its columns beside those of contract and time. */
  own: readonly string[];
  /** Columns of its rows, and the reading of a file. */
  columns: RowReading['columns'];
  open(version: Version): { row: (cell: CellOf) => Row | null; end?: () => void };
}

/** A kind of answer in a version. */
function formatOf(version: Version, { name, content, dataset, own, columns, open }: Kind): VendorFormat {
  const required = [...version.columns, ...own];
  const lines = (_: string, at: (column: string) => number): LineReader => {
    const index = new Map(required.map((column) => [column, at(column)]));
    const { row, end } = open(version);
    return {
      row: (cells) => row((column) => cells[index.get(column)!]!.trim()),
      end: () => end?.(),
    };
  };
  return {
    name: `${version.prefix}-${name}`,
    content: `${content} of ${version.of}`,
    datasets: [dataset],
    required,
    time: version.time,
    delayMs: 0,
    symbols: { column: version.columns[0]!, spelling: 'osi' },
    rows: { columns, lines },
  };
}

/** `/v3/option/history/trade`, `/v2/bulk_hist/option/trade`. */
const trades: Kind = {
  name: 'trades',
  content: 'prints of option contracts',
  dataset: 'option-trades',
  own: ['sequence', 'condition', 'size', 'exchange', 'price'],
  columns: ['ticker', 'conditions', 'exchange', 'price', 'sip_timestamp', 'size'],
  open: (version) => ({
    row: (cell) => [
      version.ticker(cell),
      conditionOf(cell('condition')),
      exchangeOf(cell('exchange')),
      cell('price'),
      nanosText(version.tsMs(cell), version.shownTime(cell)),
      cell('size'),
    ],
  }),
};

const enoughQuotes = 10;

/** `/v3/option/history/quote?interval=tick`, `/v2/bulk_hist/option/quote?ivl=0`. */
const quotes: Kind = {
  name: 'quotes',
  content: 'bids and offers of option contracts',
  dataset: 'option-quotes',
  own: ['bid', 'ask', 'bid_condition', 'ask_condition'],
  columns: ['ticker', 'ask_price', 'bid_price', 'sequence_number', 'sip_timestamp'],
  open(version) {
    let [count, sampled] = [0, 0];
    return {
      row(cell) {
        const tsMs = version.tsMs(cell);
        count++;
        if (tsMs % 1000 === 0) sampled++;
        const stamp = nanosText(tsMs, version.shownTime(cell));
        return [version.ticker(cell), cell('ask'), cell('bid'), count, stamp];
      },
      end() {
        if (count >= enoughQuotes && sampled === count)
          throw new VendorError(
            `all ${count} quotes are of whole seconds: expected every quote (interval=tick, or ivl=0), not samples`,
          );
      },
    };
  },
};

/** `/v3/option/history/ohlc?interval=1m`, `/v2/bulk_hist/option/ohlc?ivl=60000`. */
const bars: Kind = {
  name: 'bars',
  content: 'minutes of option contracts',
  dataset: 'option-minute-bars',
  own: ['open', 'high', 'low', 'close', 'volume', 'count'],
  columns: ['ticker', 'volume', 'open', 'close', 'high', 'low', 'window_start', 'transactions'],
  open(version) {
    const spacing = new BarSpacing();
    return {
      row(cell) {
        const tsMs = version.tsMs(cell);
        if (Number.isFinite(tsMs)) spacing.add(tsMs);
        // Minutes without a trade are zeros.
        if (cell('count') === '0') return null;
        const stamp = nanosText(tsMs, version.shownTime(cell));
        const prices = [cell('open'), cell('close'), cell('high'), cell('low')];
        return [version.ticker(cell), cell('volume'), ...prices, stamp, cell('count')];
      },
      end: () => spacing.check(),
    };
  },
};

/** `/v3/option/history/open_interest`, `/v2/bulk_hist/option/open_interest`. */
const openInterest: Kind = {
  name: 'open-interest',
  content: 'open interest of option contracts',
  dataset: 'open-interest',
  own: ['open_interest'],
  columns: ['ticker', 'open_interest', 'session_date'],
  open: (version) => ({
    row: (cell) => [version.ticker(cell), cell('open_interest'), version.date(cell)],
  }),
};

/**
 * `/v3/option/snapshot/greeks/…` and the same of history at one time: a chain with the price of its underlying. Its
 * theta and vega are in units that it does not state.
 */
const chain: VendorFormat = {
  name: 'theta-chain',
  content: 'greeks of option contracts of ThetaData at one time',
  datasets: ['chain'],
  required: [...version3.columns, 'bid', 'ask', 'implied_vol', 'underlying_timestamp', 'underlying_price'],
  time: { column: 'underlying_timestamp', unit: 'stamp' },
  delayMs: 0,
  symbols: { column: 'symbol', spelling: 'osi' },
  chain: {
    line(cell) {
      const tsMs = stampedMs(cell('underlying_timestamp')!);
      const [bid, ask, iv, delta, gamma] = ['bid', 'ask', 'implied_vol', 'delta', 'gamma'].map(cell);
      return [
        {
          contract: version3.ticker((column) => cell(column)!),
          numbers: { bid, ask, iv, delta, gamma },
          times: [tsMs],
          spot: { price: cell('underlying_price'), tsMs },
        },
      ];
    },
  },
};

type Keys = Readonly<Record<string, unknown>>;

/** Throws `VendorError` unless the header of an answer says that it is whole, and has the expected columns. */
function columnsOf(header: Keys | undefined, first: readonly string[] | null): readonly string[] {
  const { format, next_page: next, error_type: error } = header ?? {};
  if (error !== null && error !== undefined && error !== 'null')
    throw new VendorError(`header.error_type: expected none, got ${shownValue(error)}`);
  if (next !== null && next !== undefined && next !== 'null')
    throw new VendorError('header.next_page: there are more pages; request CSV, or a shorter time');
  if (!Array.isArray(format) || (first && format.join() !== first.join()))
    throw new VendorError(
      `header.format: expected ${first ? first.join() : 'names of columns'}, got ${shownValue(format)}`,
    );
  return format.map(String);
}

/** The ticks of an answer by contract; without contracts, all are of the one in the name of the file. */
function* ticksOf(response: unknown, name: string): Generator<{ contract: Keys; ticks: readonly unknown[] }> {
  if (!Array.isArray(response)) throw new VendorError(`response: expected a list, got ${shownValue(response)}`);
  for (const item of response) {
    const { contract, ticks } = (Array.isArray(item) ? {} : (item ?? {})) as { contract?: Keys; ticks?: unknown };
    if (contract && Array.isArray(ticks)) yield { contract, ticks };
    else if (Array.isArray(item)) yield { contract: statedContract(name), ticks: [item] };
    else throw new VendorError(`response: expected ticks and their contract, got ${shownValue(item)}`);
  }
}

function statedContract(name: string): Keys {
  const { root, expiry, strike, right } = readOptionContract(statedTicker(name)) ?? {};
  if (root === undefined) throw new VendorError('response: expected a contract; begin the name of the file with it');
  return { root, expiration: expiry!.replaceAll('-', ''), strike, right: right === 'call' ? 'C' : 'P' };
}

/** Answers of version 2 in JSON as its CSV with the columns of a contract. Throws `VendorError`. */
async function* csvOf(texts: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  let format: readonly string[] | null = null;
  for await (const text of jsonTexts(texts)) {
    const { header, response } = parseExact(text) as { header?: Keys; response?: unknown };
    const found = columnsOf(header, format);
    if (!format) yield Buffer.from(lineOf(['root', 'expiration', 'strike', 'right', ...found]));
    format = found;
    for (const { contract, ticks } of ticksOf(response, name)) {
      const { root, expiration, strike, right } = contract;
      const lines = ticks.map((tick) =>
        lineOf([root, expiration, strike, right, ...(Array.isArray(tick) ? tick : [tick])]),
      );
      yield Buffer.from(lines.join(''));
    }
  }
}

/** ThetaData, in both versions; version 2 as JSON is read as CSV of the same rows. */
export const theta: Vendor = {
  formats: [
    ...[trades, quotes, bars, openInterest].flatMap((kind) => [formatOf(version3, kind), formatOf(version2, kind)]),
    chain,
  ],
  encoding: {
    isOf: ({ isJson, has }) => isJson && has(['header', 'format', 'response']),
    csv: csvOf,
  },
};
