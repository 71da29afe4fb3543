/*
 * Encodes files of DBN, written from the published layout (github.com/databento/dbn, rust/dbn/src) and not from our
 * reader: metadata of 100 fixed bytes after a prelude of 8, records whose first byte is their length in words of 4.
 */

/** Numbers of schemas, and of the types of their records. */
export const dbnSchemas = {
  mbo: 0,
  mbp1: 1,
  tbbo: 3,
  trades: 4,
  ohlcv1s: 5,
  ohlcv1m: 6,
  ohlcv1d: 8,
  ohlcvEod: 13,
  cmbp1: 14,
  tcbbo: 17,
} as const;
const recordTypes = {
  trade: 0x00,
  mbp1: 0x01,
  ohlcv1s: 0x20,
  ohlcv1m: 0x21,
  ohlcvEod: 0x24,
  cmbp1: 0xb1,
  tcbbo: 0xc2,
  mapping: 0x16,
  system: 0x17,
} as const;
type RecordType = keyof typeof recordTypes;

/** A symbol of an instrument between two dates, as numbers YYYYMMDD; the second is not included. */
export interface DbnMapping {
  symbol: string;
  spans: readonly { from: number; to: number; instrument: string | number }[];
}

export interface DbnFile {
  version?: 1 | 2 | 3;
  schema: number;
  mappings?: readonly DbnMapping[];
  /** Types of the asked and the found symbols: 0 = numbers of instruments, 1 = symbols. */
  types?: readonly [number, number];
  records?: readonly Buffer[];
}

const u8 = (value: number) => Buffer.from([value]);
const u16 = (value: number) => Buffer.from([value & 255, value >>> 8]);
const u32 = (value: number) => Buffer.from([0, 8, 16, 24].map((shift) => (value >>> shift) & 255));

function u64(value: bigint): Buffer {
  return Buffer.concat([u32(Number(value & 0xffffffffn)), u32(Number((value >> 32n) & 0xffffffffn))]);
}

function fixed(text: string, length: number): Buffer {
  return Buffer.concat([Buffer.from(text, 'ascii'), Buffer.alloc(length - text.length)]);
}

const undefined64 = (1n << 64n) - 1n;

function metadata({ version = 3, schema, mappings = [], types = [1, 0] }: DbnFile): Buffer {
  const symbolLength = version === 1 ? 22 : 71;
  const symbol = (text: string | number) => fixed(String(text), symbolLength);
  const counts = version === 1 ? [u64(undefined64)] : [];
  const head = [
    ...[fixed('OPRA.PILLAR', 16), u16(schema), u64(0n), u64(undefined64), u64(0n), ...counts],
    ...[u8(types[0]), u8(types[1]), u8(0), ...(version === 1 ? [] : [u16(symbolLength)])],
  ];
  const reserved = Buffer.alloc(100 - head.reduce((sum, part) => sum + part.length, 0));
  const lists = [u32(0), u32(1), symbol('SPY.OPT'), u32(0), u32(1), symbol('XYZ')];
  const mapped = mappings.flatMap(({ symbol: name, spans }) => [
    ...[symbol(name), u32(spans.length)],
    ...spans.flatMap(({ from, to, instrument }) => [u32(from), u32(to), symbol(instrument)]),
  ]);
  const body = Buffer.concat([...head, reserved, ...lists, u32(mappings.length), ...mapped]);
  // Version 3 pads to 8 bytes.
  return version === 3 ? Buffer.concat([body, Buffer.alloc((8 - (body.length % 8)) % 8)]) : body;
}

/** A whole file. */
export function dbnFile(file: DbnFile): Buffer {
  const body = metadata(file);
  const prelude = Buffer.concat([Buffer.from('DBN'), u8(file.version ?? 3), u32(body.length)]);
  return Buffer.concat([prelude, body, ...(file.records ?? [])]);
}

/** Fields of every record. */
export interface DbnEvent {
  publisher?: number;
  instrument?: number;
  /** Nanoseconds. */
  at: bigint;
}

function record(type: RecordType, { publisher = 22, instrument = 7, at }: DbnEvent, ...fields: Buffer[]): Buffer {
  const body = Buffer.concat(fields);
  const head = [u8((16 + body.length) / 4), u8(recordTypes[type]), u16(publisher), u32(instrument), u64(at)];
  return Buffer.concat([...head, body]);
}

/** Dollars as billionths. */
const nanodollars = (dollars: number) => BigInt(Math.round(dollars * 1e4)) * 100_000n;
export const undefinedPrice = (1n << 63n) - 1n;
const price = (dollars: number | bigint) =>
  u64(BigInt.asUintN(64, typeof dollars === 'bigint' ? dollars : nanodollars(dollars)));

export interface DbnTrade extends DbnEvent {
  price: number | bigint;
  size: number;
  sequence: number;
  action?: string;
}

function tradeFields({ price: dollars, size, sequence, action = 'T', at }: DbnTrade): Buffer[] {
  const flags = [Buffer.from(action), Buffer.from('N'), u8(0), u8(0)];
  return [price(dollars), u32(size), ...flags, u64(at + 1000n), u32(160), u32(sequence)];
}

/** 48 bytes. */
export const dbnTrade = (trade: DbnTrade) => record('trade', trade, ...tradeFields(trade));

export interface DbnQuote extends DbnTrade {
  bid: number | bigint;
  ask: number | bigint;
}

/** 80 bytes: a trade, or another event, with the best bid and offer. */
export const dbnQuote = (quote: DbnQuote, type: 'mbp1' | 'cmbp1' | 'tcbbo' = 'mbp1') =>
  record(type, quote, ...tradeFields(quote), price(quote.bid), price(quote.ask), u32(4), u32(6), u32(1), u32(1));

export interface DbnBar extends DbnEvent {
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

/** 56 bytes. */
export const dbnBar = (bar: DbnBar, type: 'ohlcv1s' | 'ohlcv1m' | 'ohlcvEod' = 'ohlcv1m') =>
  record(type, bar, price(bar.open), price(bar.high), price(bar.low), price(bar.close), u64(BigInt(bar.volume)));

/** A record of a live session that gives an instrument its symbol: 176 bytes. */
export const dbnMapping = (event: DbnEvent, symbol: string) =>
  record('mapping', event, u8(1), fixed('SPY.OPT', 71), u8(1), fixed(symbol, 71), u64(0n), u64(undefined64));

/** A record without a row. */
export const dbnSystem = (event: DbnEvent) => record('system', event, Buffer.alloc(304));
