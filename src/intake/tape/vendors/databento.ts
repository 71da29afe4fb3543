import { contractId, readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import { dayMs, minuteMs } from '../../../platform/runtime/clock.ts';
import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';
import { lineOf, type Vendor, VendorError, type VendorFormat } from '../formats/vendor.ts';
import {
  at,
  type DbnMetadata,
  type DbnSymbols,
  eventMs,
  eventNanos,
  fixedText,
  headerLength,
  later,
  preludeLength,
  priceText,
  readMetadata,
  readPrelude,
  recordPieces,
  type WriteRow,
} from './databento/dbn-file.ts';
import { venueBars } from './databento/venue-bars.ts';

// Files of Databento in its binary encoding DBN, version 1 to 3, by the schema in their metadata. Layout:
// github.com/databento/dbn, rust/dbn/src/record.rs, metadata.rs and encode/dbn/sync.rs; publishers.rs for venues.

const shared: Pick<VendorFormat, 'time' | 'delayMs' | 'symbols'> = {
  time: { column: 'ts_event', unit: 'nanoseconds' },
  delayMs: 0,
  symbols: { column: 'instrument_id', spelling: 'tickerOrOsi' },
};

/** Prints of stocks or option contracts. */
const prints: VendorFormat = {
  name: 'databento-trades',
  content: 'DBN files of the schemas trades, tbbo and tcbbo of Databento',
  datasets: ['stock-trades', 'option-trades'],
  required: ['DBN', 'trades or tbbo or tcbbo'],
  ...shared,
};

/** Every bid and offer of option contracts. */
const offers: VendorFormat = {
  name: 'databento-quotes',
  content: 'DBN files of the schemas mbp-1 and cmbp-1 of Databento',
  datasets: ['option-quotes'],
  required: ['DBN', 'mbp-1 or cmbp-1'],
  ...shared,
};

/** Minutes of stocks or option contracts, also made of seconds. */
const minutes: VendorFormat = {
  name: 'databento-minutes',
  content: 'DBN files of the schemas ohlcv-1m and ohlcv-1s of Databento',
  datasets: ['stock-minute-bars', 'option-minute-bars'],
  required: ['DBN', 'ohlcv-1m or ohlcv-1s'],
  ...shared,
};

/** Sessions of stocks. */
const days: VendorFormat = {
  name: 'databento-days',
  content: 'DBN files of the schema ohlcv-eod of Databento',
  datasets: ['stock-day-bars'],
  required: ['DBN', 'ohlcv-eod'],
  ...shared,
};

/*
 * Ids of exchanges in tapes, by publishers of Databento: those of stocks as the vendor of the tapes numbers them, those
 * of options 300 and the position of OPRA's letter in the alphabet.
 */

const publishersOf: Readonly<Record<number, readonly number[]>> = {
  // NYSE American, Nasdaq BX, NYSE National, EDGA, EDGX, NYSE Chicago, NYSE, NYSE Arca
  1: [11, 78],
  2: [3, 75, 86, 88],
  3: [10, 13, 14, 40, 49, 63, 91],
  7: [7, 73],
  8: [8, 74],
  9: [12, 39, 48, 62],
  10: [9, 44, 45, 53, 67, 92],
  11: [43, 79],
  // Nasdaq, LTSE, IEX, PSX, BYX, BZX, MIAX Pearl, MEMX
  12: [2, 46, 47, 52, 66, 81],
  14: [80],
  15: [38, 41, 50, 64],
  17: [4, 76, 87, 89],
  18: [6, 72],
  19: [5, 71],
  20: [16, 42, 51, 65],
  21: [15, 77],
  // FINRA's facilities
  4: [17, 18, 19, 54, 55, 56, 68, 69, 70, 82, 83],
  // Options, from NYSE American to BZX
  300: [20],
  301: [21],
  302: [22],
  303: [23],
  304: [24],
  307: [25],
  308: [26],
  309: [27],
  312: [28],
  313: [29],
  314: [30],
  315: [31],
  316: [32],
  318: [61],
  319: [33],
  320: [37],
  322: [34],
  323: [35],
  325: [36],
};

const exchanges = new Map<number, number>();
for (const [exchange, publishers] of Object.entries(publishersOf))
  for (const publisher of publishers) exchanges.set(publisher, Number(exchange));

/** FINRA's facilities: NYSE's, Nasdaq's of Carteret and of Chicago. */
const facilities = new Map([
  ...[19, 55, 69].map((publisher) => [publisher, 201] as const),
  ...[17, 54, 68, 82].map((publisher) => [publisher, 202] as const),
  ...[18, 56, 70, 83].map((publisher) => [publisher, 203] as const),
]);

const unknownExchange = 1000;

/** The id of a publisher's exchange in tapes; one of an unknown venue stays another than all. */
function exchangeOf(publisher: number): number {
  return exchanges.get(publisher) ?? Math.min(unknownExchange + publisher, 65_535);
}

/** The facility to which a publisher's prints were reported; blank for an exchange. */
function facilityOf(publisher: number): number | '' {
  return facilities.get(publisher) ?? '';
}

const symbolMapping = 0x16;
const tradeAction = 'T'.charCodeAt(0);

/** Columns of a schema's rows, and their records. */
interface DbnSchema {
  /** Types of its records, and their least length. */
  kinds: readonly number[];
  length: number;
  columns: readonly string[];
  /** Starts a file. `end`: rows of records that wait for others. */
  open(): { row: WriteRow; end?: () => string };
}

const [tradeLength, quoteLength, barLength] = [48, 80, 56];

const tradeColumns = [
  'ticker',
  'conditions',
  'exchange',
  'id',
  'price',
  'sequence_number',
  'sip_timestamp',
  'size',
  'trf_id',
];

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
  kinds,
  length,
  columns: tradeColumns,
  open: () => ({ row: tradeRow }),
});

/** Without a sequence, as consolidated quotes are, the order is that of the file. */
const quotes = (kind: number, hasSequence: boolean): DbnSchema => ({
  kinds: [kind],
  length: quoteLength,
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
const bars = (kind: number, joinMs?: number): DbnSchema => ({
  kinds: [kind],
  length: barLength,
  columns: barColumns,
  open: () => venueBars(joinMs),
});

/** Schemas by their numbers. */
const schemas: Readonly<Record<number, DbnSchema>> = {
  1: quotes(0x01, true),
  3: trades([0x01], quoteLength),
  4: trades([0x00], tradeLength),
  5: bars(0x20, minuteMs),
  6: bars(0x21),
  13: bars(0x24),
  14: quotes(0xb1, false),
  17: trades([0xc2], quoteLength),
};

const otherSchemas: Readonly<Record<number, string>> = {
  0: 'mbo',
  2: 'mbp-10',
  7: 'ohlcv-1h',
  9: 'definition',
  10: 'statistics',
  11: 'status',
  12: 'imbalance',
  15: 'cbbo-1s',
  16: 'cbbo-1m',
  18: 'bbo-1s',
  19: 'bbo-1m',
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
async function* csvOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
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

/** Databento. */
export const databento: Vendor = {
  formats: [prints, offers, minutes, days],
  encoding: {
    isOf: ({ bytes }) => bytes.toString('latin1', 0, 3) === 'DBN',
    csv: csvOf,
  },
};
