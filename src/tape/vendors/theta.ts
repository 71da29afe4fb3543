import { readOptionContract } from '../../domain/chain/option-contract.ts';
import type { Format } from '../formats/format.ts';
import {
  thetaBars,
  thetaBarsV2,
  thetaOpenInterest,
  thetaOpenInterestV2,
  thetaQuotes,
  thetaQuotesV2,
  thetaTrades,
  thetaTradesV2,
} from '../formats/theta.ts';
import { jsonTexts, parseExact } from '../text/json-values.ts';
import { exchangeMs, nanosText, stampedMs } from '../text/written-times.ts';
import { BarSpacing } from './bar-spacing.ts';
import { tickerOfCells } from './contract-cells.ts';
import { type LineReader, lineOf, type RowFormat, VendorError } from './row-format.ts';
import { statedTicker } from './stated-ticker.ts';

/** Reads the cells of a line by the names of their columns. */
type CellOf = (column: string) => string;
/** Names of columns, found in the header. */
type Find = (column: string) => number;

/** Cells that the two versions write differently. */
interface Version {
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
  ticker: (cell) =>
    tickerOfCells({ ...contractCells(cell), root: cell('symbol'), strike: thousandths(cell('strike')) }),
  tsMs: (cell) => stampedMs(cell('timestamp')),
  shownTime: (cell) => cell('timestamp'),
  date: (cell) => cell('timestamp').slice(0, 10),
};

const version2: Version = {
  ticker: (cell) => tickerOfCells({ ...contractCells(cell), root: cell('root'), strike: Number(cell('strike')) }),
  tsMs: (cell) => exchangeMs(cell('date'), cell('ms_of_day')),
  shownTime: (cell) => `${cell('date')} ${cell('ms_of_day')}`,
  date: (cell) => cell('date').replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'),
};

/** OPRA's letter of each of the vendor's exchanges, of which 300 and its position is the id in tapes. */
const participants: Readonly<Record<string, string>> = {
  ...{ 1: 'Q', 4: 'A', 5: 'C', 6: 'I', 7: 'N', 9: 'X', 11: 'B', 22: 'J', 31: 'H', 42: 'W', 43: 'M', 47: 'T' },
  ...{ 60: 'Z', 65: 'E' },
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
  ...{ 0: '', 7: '', 48: '', 2: 202, 5: 208, 6: 206, 13: 204, 18: 209, 21: 210, 95: 219, 97: 210 },
  ...{ 40: 201, 41: 203, 42: 205, 43: 207, 44: 201, 118: 248, 147: 247, 148: 248 },
  ...{ 35: 232, 36: 232, 38: 232, 37: 240, 39: 227, 106: 227, 45: 229, 124: 229 },
};
/** Those of OPRA's letters a to t, in its order. */
const [firstLetter, lastLetter, firstId] = [125, 144, 227];

/** The id of a condition in tapes; another text for one without a meaning for contracts, which makes a bad line. */
function conditionOf(code: string): number | string {
  const number = /^\d{1,3}$/.test(code) ? Number(code) : Number.NaN;
  if (number >= firstLetter && number <= lastLetter) return firstId + number - firstLetter;
  return conditions[code] ?? `condition ${code}`;
}

const namedCells = (columns: readonly string[], at: Find) => {
  const index = new Map(columns.map((name) => [name, at(name)]));
  return (cells: readonly string[]) => (name: string) => cells[index.get(name)!]!.trim();
};

/** Translation of one kind of file in one version. */
function rowFormat(
  format: Format,
  columns: readonly string[],
  as: string,
  open: () => { row: (cell: CellOf) => readonly unknown[] | null; end?: () => void },
): RowFormat {
  const lines = (_: string, at: Find): LineReader => {
    const named = namedCells(format.required, at);
    const { row, end } = open();
    return { row: (cells) => row(named(cells)), ...(end && { end }) };
  };
  return { format, as: [as], columns, lines };
}

const tradeColumns = ['ticker', 'conditions', 'exchange', 'price', 'sip_timestamp', 'size'];

const trades = (format: Format, version: Version) =>
  rowFormat(format, tradeColumns, 'option-trades', () => ({
    row: (cell) => [
      version.ticker(cell),
      conditionOf(cell('condition')),
      exchangeOf(cell('exchange')),
      cell('price'),
      nanosText(version.tsMs(cell), version.shownTime(cell)),
      cell('size'),
    ],
  }));

const enoughQuotes = 10;

const quotes = (format: Format, version: Version) =>
  rowFormat(format, ['ticker', 'ask_price', 'bid_price', 'sequence_number', 'sip_timestamp'], 'option-quotes', () => {
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
  });

const bars = (format: Format, version: Version) =>
  rowFormat(
    format,
    ['ticker', 'volume', 'open', 'close', 'high', 'low', 'window_start', 'transactions'],
    'option-aggregates',
    () => {
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
  );

const openInterest = (format: Format, version: Version) =>
  rowFormat(format, ['ticker', 'open_interest', 'session_date'], 'open-interest-list', () => ({
    row: (cell) => [version.ticker(cell), cell('open_interest'), version.date(cell)],
  }));

/** Prints, quotes, bars and open interest of contracts, in both versions. */
export const thetaRows: readonly RowFormat[] = [
  trades(thetaTrades, version3),
  quotes(thetaQuotes, version3),
  bars(thetaBars, version3),
  openInterest(thetaOpenInterest, version3),
  trades(thetaTradesV2, version2),
  quotes(thetaQuotesV2, version2),
  bars(thetaBarsV2, version2),
  openInterest(thetaOpenInterestV2, version2),
];

type Keys = Readonly<Record<string, unknown>>;

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 60) ?? 'nothing';

/** Throws `VendorError` unless the header of an answer says that it is whole, and has the expected columns. */
function formatOf(header: Keys | undefined, first: readonly string[] | null): readonly string[] {
  const { format, next_page: next, error_type: error } = header ?? {};
  if (error !== null && error !== undefined && error !== 'null')
    throw new VendorError(`header.error_type: expected none, got ${shown(error)}`);
  if (next !== null && next !== undefined && next !== 'null')
    throw new VendorError('header.next_page: there are more pages; request CSV, or a shorter time');
  if (!Array.isArray(format) || (first && format.join() !== first.join()))
    throw new VendorError(`header.format: expected ${first ? first.join() : 'names of columns'}, got ${shown(format)}`);
  return format.map(String);
}

/** The ticks of an answer by contract; without contracts, all are of the one in the name of the file. */
function* ticksOf(response: unknown, name: string): Generator<{ contract: Keys; ticks: readonly unknown[] }> {
  if (!Array.isArray(response)) throw new VendorError(`response: expected a list, got ${shown(response)}`);
  for (const item of response) {
    const { contract, ticks } = (Array.isArray(item) ? {} : (item ?? {})) as { contract?: Keys; ticks?: unknown };
    if (contract && Array.isArray(ticks)) yield { contract, ticks };
    else if (Array.isArray(item)) yield { contract: statedContract(name), ticks: [item] };
    else throw new VendorError(`response: expected ticks and their contract, got ${shown(item)}`);
  }
}

function statedContract(name: string): Keys {
  const { root, expiry, strike, right } = readOptionContract(statedTicker(name)) ?? {};
  if (root === undefined) throw new VendorError('response: expected a contract; begin the name of the file with it');
  return { root, expiration: expiry!.replaceAll('-', ''), strike, right: right === 'call' ? 'C' : 'P' };
}

/** Answers of version 2 in JSON as its CSV with the columns of a contract. Throws `VendorError`. */
export async function* thetaCsv(texts: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  let format: readonly string[] | null = null;
  for await (const text of jsonTexts(texts)) {
    const { header, response } = parseExact(text) as { header?: Keys; response?: unknown };
    const found = formatOf(header, format);
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
