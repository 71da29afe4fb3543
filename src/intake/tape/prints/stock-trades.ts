import { digitsBelowMs, type InstantBounds } from '../../../core/domain/instant-gate.ts';
import {
  highestStockPrice,
  mostShares,
  priceUnits,
  type StockPrint,
  sizeParts,
  tradeNumber,
} from '../../../core/domain/market/print.ts';
import {
  type ByteCsvFormat,
  type ByteFields,
  byteTexts,
  countAt,
  priceAt,
  readByteCsv,
  shownField,
  sizeMicrosAt,
} from '../csv/byte-csv.ts';
import type { ColumnIndex } from '../csv/csv.ts';
import type { OnBadLine, OnBytes } from '../csv/tape-file.ts';
import type { UnservedTickers } from '../csv/unserved-tickers.ts';
import { type ColumnOf, spellings } from '../formats/format.ts';
import { stockTrades } from '../formats/own-formats.ts';
import { readVendorTicker } from '../text/vendor-ticker.ts';
import {
  badConditions,
  badStamp,
  conditionReader,
  idAt,
  optionalCount,
  optionalId,
  stampMs,
  stampNanos,
} from './print-fields.ts';

type Column = ColumnOf<typeof stockTrades>;
type Columns = ColumnIndex<Column>;

const { time, symbols } = stockTrades;
const digits = digitsBelowMs[time.unit];

/** A trade id: mostly short digits, which are parsed without creating a text. */
function idOf({ bytes, start, end }: ByteFields, column: number): number {
  const [from, to] = [start[column]!, end[column]!];
  const digits = bytes[from] === 0x30 && to - from > 1 ? Number.NaN : countAt(bytes, from, to);
  return Number.isNaN(digits) ? tradeNumber(bytes.toString('latin1', from, to)) : digits;
}

const names = ['price', 'size', 'exchange', 'sequence_number', 'correction', 'tape', 'trf_id'] as const;
const expected: Record<(typeof names)[number], string> = {
  price: `a price above 0, at most ${highestStockPrice}`,
  size: `a number of shares from 0 to ${mostShares}`,
  exchange: 'an exchange id',
  sequence_number: 'a whole number',
  correction: 'a whole number or nothing',
  tape: 'a whole number or nothing',
  trf_id: 'a facility id or nothing',
};

/** The reason for the first of these columns that is not a number; null if all are. */
function firstBad(fields: ByteFields, at: Columns, values: Record<(typeof names)[number], number>): string | null {
  const bad = names.find((name) => Number.isNaN(values[name]));
  return bad === undefined ? null : `${bad}: expected ${expected[bad]}, got ${shownField(fields, at[bad])}`;
}

const believedPrice = (units: number) => (units > 0 && units <= highestStockPrice * priceUnits ? units : Number.NaN);
const believedSize = (micros: number) => (micros <= mostShares * sizeParts ? micros : Number.NaN);

function stockTradeReader(
  at: Columns,
  { bounds, unserved }: Pick<StockTradeOptions, 'bounds' | 'unserved'>,
): (fields: ByteFields) => StockPrint | string | null {
  const symbolOf = byteTexts(readVendorTicker);
  const conditionsOf = conditionReader(at.conditions);
  return (fields) => {
    const { bytes, start, end } = fields;
    const symbol = symbolOf(bytes, start[at.ticker]!, end[at.ticker]!);
    if (symbol === null) {
      if (unserved.counts(bytes.toString('latin1', start[at.ticker]!, end[at.ticker]!))) return null;
      return `ticker: expected ${spellings[symbols.spelling]}, got ${shownField(fields, at.ticker)}`;
    }
    const conditions = conditionsOf(fields);
    if (conditions === null) return badConditions(fields, at.conditions);
    const price = believedPrice(priceAt(bytes, start[at.price]!, end[at.price]!));
    const micros = believedSize(sizeMicrosAt(bytes, start[at.size]!, end[at.size]!));
    const exchange = idAt(fields, at.exchange);
    const sequence = countAt(bytes, start[at.sequence_number]!, end[at.sequence_number]!);
    const correction = optionalCount(fields, at.correction);
    const tape = optionalCount(fields, at.tape);
    const trf = optionalId(fields, at.trf_id);
    // A sum is NaN if any part is.
    if (Number.isNaN(price + micros + exchange + sequence + correction + tape + trf))
      return firstBad(fields, at, {
        price,
        size: micros,
        exchange,
        sequence_number: sequence,
        correction,
        tape,
        trf_id: trf,
      })!;
    const tsMs = stampMs(fields, at.sip_timestamp, digits, bounds);
    const tsNanos = stampNanos(fields, at.sip_timestamp, digits);
    if (Number.isNaN(tsMs + tsNanos)) return badStamp(fields, at.sip_timestamp, time, bounds);
    if (start[at.id] === end[at.id]) return 'id: expected a trade id, got ""';
    const id = idOf(fields, at.id);
    const size = Math.floor(micros / sizeParts);
    const sizeMicros = micros - size * sizeParts;
    return {
      symbol,
      exchange,
      trf,
      id,
      price,
      size,
      sizeMicros,
      conditions,
      correction,
      tsMs,
      tsNanos,
      sequence,
      tape,
    };
  };
}

/** Settings of reading a stock tape. */
export interface StockTradeOptions {
  bounds: InstantBounds;
  /** Counts the lines of unserved tickers. */
  unserved: UnservedTickers;
  onBadLine: OnBadLine;
  onBytes?: OnBytes;
}

/**
 * Streams the prints of a stock trades file, plain or gzip, in the order of its lines (by ticker, then time, as vendors
 * write them: not in event time). `conditions`, `correction`, `tape` and `trf_id` may be blank; `size` may have a
 * fraction, which is stored in millionths. Prices finer than 1e-4 dollars are rounded. Bad lines are reported to
 * `onBadLine` and skipped. Throws `TapeFileError`.
 */
export function readStockTrades(path: string, options: StockTradeOptions): AsyncGenerator<StockPrint[]> {
  const format: ByteCsvFormat<StockPrint, Column> = {
    ...stockTrades,
    reader: (at) => stockTradeReader(at, options),
  };
  return readByteCsv(path, format, options.onBadLine, options.onBytes);
}
