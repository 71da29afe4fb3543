import { contractId, readOptionContract } from '../../../domain/chain/option-contract.ts';
import { dayMs, minuteMs } from '../../../domain/units.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { databentoDays, databentoMinutes, databentoQuotes, databentoTrades } from '../../formats/databento.ts';
import type { Format } from '../../formats/format.ts';
import { lineOf, VendorError } from '../row-format.ts';
import { at, eventMs, eventNanos, headerLength, later, priceText, recordPieces, type WriteRow } from './dbn-records.ts';
import { type DbnMetadata, type DbnSymbols, fixedText, preludeLength, readMetadata, readPrelude } from './metadata.ts';
import { venueBars } from './venue-bars.ts';
import { exchangeOf, facilityOf } from './venues.ts';

const symbolMapping = 0x16;
const tradeAction = 'T'.charCodeAt(0);

/** Columns of a schema's rows, and their records. */
interface DbnSchema {
  format: Format;
  /** Types of its records, and their least length. */
  kinds: readonly number[];
  length: number;
  columns: readonly string[];
  /** Starts a file. `end`: rows of records that wait for others. */
  open(): { row: WriteRow; end?: () => string };
}

const [tradeLength, quoteLength, barLength] = [48, 80, 56];

const tradeColumns = ['ticker', 'conditions', 'exchange', 'id', 'price', 'sequence_number', 'sip_timestamp', 'size'];

function tradeRow(bytes: Buffer, offset: number, ticker: string): string | null {
  if (bytes[offset + at.action] !== tradeAction) return null;
  const publisher = bytes.readUInt16LE(offset + at.publisher);
  const sequence = bytes.readUInt32LE(offset + later.sequence);
  const price = priceText(bytes, offset + at.price);
  const stamp = eventNanos(bytes, offset);
  const size = bytes.readUInt32LE(offset + at.size);
  const [exchange, facility] = [exchangeOf(publisher), facilityOf(publisher)];
  return `${ticker},,${exchange},${sequence},${price},${sequence},${stamp},${size},${facility}\n`;
}

const trades = (kinds: readonly number[], length: number): DbnSchema => ({
  format: databentoTrades,
  ...{ kinds, length, columns: [...tradeColumns, 'trf_id'] },
  open: () => ({ row: tradeRow }),
});

/** Without a sequence, as consolidated quotes are, the order is that of the file. */
const quotes = (kind: number, hasSequence: boolean): DbnSchema => ({
  format: databentoQuotes,
  ...{ kinds: [kind], length: quoteLength },
  columns: ['ticker', 'ask_price', 'bid_price', 'sequence_number', 'sip_timestamp'],
  open() {
    let count = 0;
    const row: WriteRow = (bytes, offset, ticker) => {
      count++;
      const sequence = hasSequence ? bytes.readUInt32LE(offset + later.sequence) : count;
      const [ask, bid] = [priceText(bytes, offset + later.ask), priceText(bytes, offset + later.bid)];
      return `${ticker},${ask},${bid},${sequence},${eventNanos(bytes, offset)}\n`;
    };
    return { row };
  },
});

const barColumns = ['ticker', 'open', 'high', 'low', 'close', 'volume', 'window_start'];

/** `joinMs`: length of the bars that records of an instrument and venue are joined to, ms; absent = each is a bar. */
const bars = (format: Format, kind: number, joinMs?: number): DbnSchema => ({
  ...{ format, kinds: [kind], length: barLength, columns: barColumns, open: () => venueBars(joinMs) },
});

/** Schemas by their numbers. */
const schemas: Readonly<Record<number, DbnSchema>> = {
  1: quotes(0x01, true),
  3: trades([0x01], quoteLength),
  4: trades([0x00], tradeLength),
  5: bars(databentoMinutes, 0x20, minuteMs),
  6: bars(databentoMinutes, 0x21),
  13: bars(databentoDays, 0x24),
  14: quotes(0xb1, false),
  17: trades([0xc2], quoteLength),
};

const otherSchemas: Readonly<Record<number, string>> = {
  ...{ 0: 'mbo', 2: 'mbp-10', 7: 'ohlcv-1h', 9: 'definition', 10: 'statistics', 11: 'status', 12: 'imbalance' },
  ...{ 15: 'cbbo-1s', 16: 'cbbo-1m', 18: 'bbo-1s', 19: 'bbo-1m' },
  8: 'ohlcv-1d, whose days are of UTC and have extended hours',
};

const readSchemas = 'trades, tbbo, tcbbo, mbp-1, cmbp-1, ohlcv-1s, ohlcv-1m or ohlcv-eod';

function schemaOf({ schema }: DbnMetadata): DbnSchema {
  const found = schema === null ? undefined : schemas[schema];
  if (found) return found;
  const name = schema === null ? 'records of several' : (otherSchemas[schema] ?? `schema ${schema}`);
  throw new VendorError(`byte ${preludeLength + headerLength}: expected the schema ${readSchemas}, got ${name}`);
}

/** The ticker of a symbol; `O:` and the OSI symbol of a contract. */
function tickerOf(symbol: string): string {
  const contract = readOptionContract(symbol);
  return contract ? contractId(contract) : lineOf([symbol.trimEnd()]).trimEnd();
}

/** Adds the symbol that a record of a live session gives to an instrument. */
function addMapping(symbols: DbnSymbols, { version, symbolLength }: DbnMetadata, bytes: Buffer, offset: number): void {
  const types = version === 1 ? 0 : 1;
  const symbolAt = offset + headerLength + types + symbolLength + types;
  const symbol = fixedText(bytes, symbolAt, symbolLength);
  const span = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, symbol };
  symbols.add(bytes.readUInt32LE(offset + at.instrument), span);
}

/** Tickers by instrument, found again only if the UTC date changed. */
class Tickers {
  readonly #symbols: DbnSymbols;
  #known = new Map<number, string>();
  #dayOfKnown = Number.NaN;

  constructor(symbols: DbnSymbols) {
    this.#symbols = symbols;
  }

  forget(): void {
    this.#known = new Map();
  }

  of(bytes: Buffer, offset: number): string {
    const tsMs = eventMs(bytes, offset);
    const day = Math.floor(tsMs / dayMs);
    if (day !== this.#dayOfKnown) this.forget();
    this.#dayOfKnown = day;
    const instrument = bytes.readUInt32LE(offset + at.instrument);
    let ticker = this.#known.get(instrument);
    if (ticker === undefined) {
      const symbol = this.#symbols.find(instrument, tsMs);
      ticker = symbol === null ? `instrument ${instrument} without a symbol` : tickerOf(symbol);
      this.#known.set(instrument, ticker);
    }
    return ticker;
  }
}

/** Takes the first bytes of pieces. The others follow. Throws `VendorError` if there are fewer. */
async function taken(pieces: AsyncIterator<Buffer>, first: Buffer, length: number, of: string): Promise<Buffer> {
  const parts = [first];
  let count = first.length;
  while (count < length) {
    const { done, value } = await pieces.next();
    if (done) throw new VendorError(`byte ${count}: the ${of} ends: the file is incomplete`);
    parts.push(value);
    count += value.length;
  }
  return Buffer.concat(parts);
}

async function* after(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/**
 * The records of a DBN file as CSV: a header, then a line per record of its schema. Prices are exact, undefined ones
 * blank; an instrument has the symbol that the file maps to it at the time of the record. Throws `VendorError` with the
 * byte.
 */
export async function* dbnRows(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const pieces = source[Symbol.asyncIterator]();
  let head = await taken(pieces, Buffer.alloc(0), preludeLength, 'header');
  const { version, length } = readPrelude(head);
  const end = preludeLength + length;
  head = await taken(pieces, head, end, 'metadata');
  const reading = readMetadata(head.subarray(preludeLength, end), version);
  let part = reading.next();
  for (; !part.done; part = reading.next()) {
    await yieldToEventLoop();
    // No text: the reader looks whether it was stopped.
    yield Buffer.alloc(0);
  }
  const metadata = part.value;
  const { kinds, length: least, columns, open } = schemaOf(metadata);
  const { row, end: endRows } = open();
  const tickers = new Tickers(metadata.symbols);
  let text = lineOf(columns);
  const flush = () => {
    const whole = Buffer.from(text);
    text = '';
    return whole;
  };
  yield* recordPieces(
    after(head.subarray(end), pieces),
    end,
    (bytes, offset, size) => {
      const kind = bytes[offset + at.kind]!;
      if (kind === symbolMapping && size >= headerLength + 2 * metadata.symbolLength) {
        addMapping(metadata.symbols, metadata, bytes, offset);
        tickers.forget();
      }
      if (kinds.includes(kind) && size >= least) text += row(bytes, offset, tickers.of(bytes, offset)) ?? '';
    },
    flush,
  );
  yield Buffer.from(endRows?.() ?? '');
}

/** The formats of DBN files, and the datasets' own formats whose rows they have. */
export const dbnFormats: readonly { format: Format; as: readonly string[] }[] = [
  { format: databentoTrades, as: ['stock-trades', 'option-trades'] },
  { format: databentoQuotes, as: ['option-quotes'] },
  { format: databentoMinutes, as: ['stock-aggregates', 'option-aggregates'] },
  { format: databentoDays, as: ['stock-aggregates'] },
];
