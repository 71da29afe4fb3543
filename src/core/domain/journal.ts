import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { ContentTooLarge, InvalidValue } from '../../platform/runtime/invalid-value.ts';
import { originalText } from '../../platform/runtime/spreadsheet-text.ts';
import { isStorableText } from '../../platform/runtime/storable-text.ts';
import { isId, maxIdLength } from './account.ts';
import { regularSession, sessionMinutes } from './calendar.ts';
import {
  contractId,
  type OptionContract,
  readOptionContract,
  readOptionContractText,
} from './chain/option-contract.ts';
import { csvRecords } from './csv-records.ts';
import { instantBounds, isWithin } from './instant-gate.ts';
import { readTicker } from './market/ticker.ts';
import { exchangeDate, exchangeInstant, exchangeTimeZone, parseInstant } from './market-time.ts';
import { maxEpochMs } from './units.ts';

/** A new account of a journal, at which trades are made. */
interface NewAccount {
  /** Null = generated. */
  id: string | null;
  name: string;
  /** Null = not given. */
  broker: string | null;
}

/** An account of a journal. */
export type JournalAccount = NewAccount & { id: string };

/** A new trade of a journal. */
export interface NewTrade {
  /** Null = generated. */
  id: string | null;
  /** Id of the journal account. */
  journalAccountId: string;
  /** Ticker, or id of a contract. */
  symbol: string;
  /** `buy`, `sell`, or any other text. */
  side: string;
  qty: number;
  /** Dollars. */
  price: number;
  /** Epoch ms. */
  tsMs: number;
  note: string | null;
}

/** A trade of a journal. */
export type JournalTrade = NewTrade & { id: string };

/** Reason for which a row of an import is invalid. */
export interface RowError {
  /** 1-based line on which the row starts. */
  row: number;
  /** `missing_<field>`, `bad_<field>`, `bad_json` or `bad_columns`. */
  code: string;
}

/** Result of an import (spec 2.18). */
export interface ImportResult {
  created: number;
  /** Number of trades skipped because their id is already in the journal or in an earlier row. */
  skipped: number;
  /** In order of rows, the first 100. */
  errors: RowError[];
  /** Number of rows that were not imported and are not in `errors`. */
  errorsOmitted: number;
}

/** 1 for a side that buys, -1 for one that sells, such as `sell short`; null for any other text. */
export function directionOf(side: string): 1 | -1 | null {
  const [, word] = /^\s*(buy|sell)\b/i.exec(side) ?? [];
  return word === undefined ? null : word.toLowerCase() === 'buy' ? 1 : -1;
}

/** Parts of the trading day. */
export const marketPhases = ['regular', 'extended', 'closed'] as const;
export type MarketPhase = (typeof marketPhases)[number];

/** The part of the trading day at an instant, epoch ms; extended hours are 04:00 to 20:00 New York. */
export function marketPhase(tsMs: number): MarketPhase {
  const date = exchangeDate(tsMs);
  const hours = regularSession(date);
  if (hours === null) return 'closed';
  if (tsMs >= hours.openMs && tsMs < hours.closeMs) return 'regular';
  const [from, to] = [sessionMinutes.extendedOpen, sessionMinutes.extendedClose].map((minute) =>
    exchangeInstant(date, minute),
  );
  return tsMs >= from! && tsMs < to! ? 'extended' : 'closed';
}

/** The cost of a fill against a reference price. */
export interface Slippage {
  /** Dollars a share. */
  reference: number;
  /** Dollars a share that the fill was worse than the reference; negative = better. */
  perShare: number;
  /** The same in basis points of the reference; null for a reference of 0. */
  bps: number | null;
  /** The same for the whole fill, dollars. */
  totalUsd: number;
}

/** The cost of a fill of `shares` shares, contracts times multiplier, against a reference price. */
export function slippage(
  { price, direction, shares }: { price: number; direction: 1 | -1; shares: number },
  reference: number,
): Slippage {
  // Not -0 for a fill at the reference.
  const perShare = direction * (price - reference) || 0;
  const bps = reference > 0 ? (10_000 * perShare) / reference : null;
  return { reference, perShare, bps, totalUsd: perShare * shares };
}

/** Position of a price in a range: 0 at its low, 1 at its high, beyond them outside; null for a range without width. */
export function positionIn({ low, high }: { low: number; high: number }, price: number): number | null {
  return high > low ? (price - low) / (high - low) : null;
}

/** A ticker, or the id of a contract (`O:` and its OSI symbol), in either case; null for any other text. */
function readInstrument(text: string): string | null {
  if (!/^o:/i.test(text)) return readTicker(text);
  const contract = readOptionContractText(text);
  return contract && contractId(contract);
}

/** The contract of an instrument; null for a ticker. */
export function contractIn(instrument: string): OptionContract | null {
  return instrument.startsWith('O:') ? readOptionContract(instrument) : null;
}

/** A field of a record of the journal. */
interface RecordField<V> {
  /** Its name on the wire, such as `account_id`; the graph has it in camelCase. */
  name: string;
  /** Reads its value; undefined = invalid. `nowMs`: the time now, Infinity = unknown. */
  read: (value: unknown, nowMs: number) => V | undefined;
  /** Description of valid values, for its error. */
  expected: string;
  /** Its default value; a field without one is required. */
  absent?: (nowMs: number) => V;
}

/** Sent fields, by their names. */
export type SentFields = Readonly<Record<string, unknown>>;

/** Naming of fields in the input, and in errors. */
type Naming = 'wire' | 'graph';

interface WrongField {
  problem: 'missing' | 'bad';
  name: string;
  expected: string;
}

type KnownField = RecordField<unknown> & { key: string; names: Record<Naming, string> };

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A field's value; null = absent, which includes an empty text. */
function sentValue(sent: SentFields, name: string): unknown {
  // An absent argument of the graph is present, as undefined.
  const value = Object.hasOwn(sent, name) ? sent[name] : null;
  return value === undefined || value === '' ? null : value;
}

/** Reads a text that `accepts` allows. */
const readText = (accepts: (text: string) => boolean) => (value: unknown) =>
  typeof value === 'string' && accepts(value) ? value : undefined;

/** Reads a finite number that `accepts` allows. */
const readNumber = (accepts: (number: number) => boolean) => (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && accepts(value) ? value : undefined;

/** An id that the caller chooses. */
const idField = {
  read: readText(isId),
  expected: `expected 1 to ${maxIdLength} characters without control characters`,
};

/** The declaration of a record's fields: reads them from REST, from files and from the graph. */
export class RecordFields<T extends object> {
  readonly #fields: readonly KnownField[];

  /** Fields in the order in which they are checked. */
  constructor(fields: { [Key in keyof T]: RecordField<T[Key]> }) {
    this.#fields = Object.entries<RecordField<unknown>>(fields).map(([key, field]) => ({
      ...field,
      key,
      names: { wire: field.name, graph: camelCase(field.name) },
    }));
  }

  /** Their names on the wire, in order. */
  get names(): string[] {
    return this.#fields.map(({ name }) => name);
  }

  /** Reads `fields` into `record`. Returns the first invalid one, null = none. */
  #readInto(
    record: Record<string, unknown>,
    fields: readonly KnownField[],
    { sent, nowMs, naming }: { sent: SentFields; nowMs: number; naming: Naming },
  ): WrongField | null {
    for (const { key, names, read, absent, expected } of fields) {
      const name = names[naming];
      const value = sentValue(sent, name);
      const found = value === null ? absent?.(nowMs) : read(value, nowMs);
      if (found === undefined) return { problem: value === null ? 'missing' : 'bad', name, expected };
      record[key] = found;
    }
    return null;
  }

  #required(fields: readonly KnownField[], from: { sent: SentFields; nowMs: number; naming: Naming }): object {
    const record = {};
    const wrong = this.#readInto(record, fields, from);
    if (wrong) throw new InvalidValue(wrong.name, wrong.problem === 'missing' ? 'is required' : wrong.expected);
    return record;
  }

  /**
   * Reads a record by names of the wire, or returns the error of the first invalid field: `missing_<field>` or
   * `bad_<field>`. Null and empty count as absent; other keys are skipped. `nowMs` is the default time.
   */
  read(sent: SentFields, nowMs: number): T | string {
    const record = {};
    const wrong = this.#readInto(record, this.#fields, { sent, nowMs, naming: 'wire' });
    return wrong ? `${wrong.problem}_${wrong.name}` : (record as T);
  }

  /** Reads a record. Throws `InvalidValue` naming the first invalid field. */
  require(sent: SentFields, nowMs: number, naming: Naming = 'graph'): T {
    return this.#required(this.#fields, { sent, nowMs, naming }) as T;
  }

  /** Reads only the sent fields: null clears one. Throws like `require`. */
  requirePatch(sent: SentFields, nowMs: number, naming: Naming = 'graph'): Partial<T> {
    const asked = this.#fields.filter(({ names }) => sent[names[naming]] !== undefined);
    return this.#required(asked, { sent, nowMs, naming }) as Partial<T>;
  }

  /**
   * Converts a REST body to input of the graph: names of the graph, parsed values. Absent fields are null, or omitted
   * for a patch. Throws like `require`, by names of the wire.
   */
  graphInput(sent: SentFields, { isPatch = false } = {}): Record<string, unknown> {
    const always = Number.POSITIVE_INFINITY;
    const record = isPatch ? this.requirePatch(sent, always, 'wire') : this.require(sent, always, 'wire');
    const values = new Map<string, unknown>(Object.entries(record));
    const found = this.#fields.filter(({ key }) => values.has(key));
    return Object.fromEntries(
      found.map(({ key, names }) => [names.graph, sentValue(sent, names.wire) === null ? null : values.get(key)]),
    );
  }
}

/** Longest name of a journal account or broker, in characters. */
const maxNameLength = 500;

const nameField = {
  read: readText((text) => text.length <= maxNameLength && isStorableText(text)),
  expected: `expected text of at most ${maxNameLength} characters`,
};

/** Fields of a journal account (contract-notes 3). */
export const journalAccountFields = new RecordFields<NewAccount>({
  id: { name: 'id', ...idField, absent: () => null },
  name: { name: 'name', ...nameField },
  broker: { name: 'broker', ...nameField, absent: () => null },
});

const readEpochMs = readNumber((ms) => Number.isInteger(ms) && Math.abs(ms) <= maxEpochMs);

/** Epoch ms, or text in the contract's form; without an offset it is New York time. */
function writtenTime(value: unknown): number | undefined {
  if (typeof value !== 'string') return readEpochMs(value);
  try {
    return parseInstant(value, exchangeTimeZone, 'ts').ms;
  } catch {
    return undefined;
  }
}

/** A plausible time of a trade; seconds, or a time to come, are none. */
function readTime(value: unknown, nowMs: number): number | undefined {
  const ms = writtenTime(value);
  return ms !== undefined && isWithin(instantBounds(nowMs), ms) ? ms : undefined;
}

/**
 * Fields of a trade (contract-notes 3). Symbols become upper case. A quantity is positive (the side gives the
 * direction), a price not negative.
 */
export const journalTradeFields = new RecordFields<NewTrade>({
  id: { name: 'id', ...idField, absent: () => null },
  journalAccountId: { name: 'account_id', ...idField },
  symbol: {
    name: 'symbol',
    read: (value) => (typeof value === 'string' ? (readInstrument(value) ?? undefined) : undefined),
    expected: 'expected a ticker such as SPY or BRK.B, or a contract such as O:SPY241220C00600000',
  },
  side: { name: 'side', read: readText(isStorableText), expected: 'expected text, such as buy or sell' },
  qty: { name: 'qty', read: readNumber((qty) => qty > 0), expected: 'expected a number above 0' },
  price: {
    name: 'price',
    read: readNumber((price) => price >= 0),
    expected: 'expected dollars, a number of 0 or more',
  },
  tsMs: {
    name: 'ts',
    read: readTime,
    expected: 'expected epoch ms, YYYY-MM-DD or YYYY-MM-DDTHH:MM[:SS], from 1990 to an hour from now',
    absent: (nowMs) => nowMs,
  },
  note: { name: 'note', read: readText(isStorableText), expected: 'expected text', absent: () => null },
});

/**
 * Maximum import (contract-notes 2). A JSON line over `lineLength` is not parsed, because that could block other
 * requests. The first invalid rows are listed; the others are counted.
 */
export const importLimits = { bytes: 10 * 1024 * 1024, lines: 100_000, lineLength: 1024 * 1024, listedErrors: 100 };

/** Size of an import per charged request, at most 10 ms of CPU: dated trades of new accounts take the most. */
const paidByRequest = { lines: 1000, bytes: 200_000 };

/** Number of requests that an import costs by its size, at least one. */
export function importRequests(body: Uint8Array): number {
  return Math.max(countLines(body) / paidByRequest.lines, body.byteLength / paidByRequest.bytes);
}

/** Columns of the CSV form, in this order; the header names them. */
const csvColumns: readonly string[] = journalTradeFields.names;

/** The content of an import's body. */
interface JournalBody {
  /** The valid rows, in order. */
  trades: NewTrade[];
  /** The invalid rows, with one reason each: the first 100. A CSV header is line 1. */
  errors: RowError[];
  /** Number of the invalid rows that are not in `errors`. */
  errorsOmitted: number;
}

// Number of rows per slice of work: 2 ms.
const yieldRows = 250;

/**
 * Reads an import: JSON lines, or CSV with a header. Blank lines are skipped. Throws `ContentTooLarge` over the limits,
 * and `InvalidValue` if the body is not UTF-8; all other errors concern a row. `nowMs` is the time of trades without
 * one.
 */
export async function readJournalBody(body: Uint8Array, format: 'jsonl' | 'csv', nowMs: number): Promise<JournalBody> {
  if (body.byteLength > importLimits.bytes) throw new ContentTooLarge('10 MiB');
  if (countLines(body) > importLimits.lines) throw new ContentTooLarge('100,000 lines');
  const text = decode(body);
  const read: JournalBody = { trades: [], errors: [], errorsOmitted: 0 };
  let rows = 0;
  for (const { row, fields } of format === 'csv' ? csvRows(text) : jsonRows(text)) {
    const result = typeof fields === 'string' ? fields : journalTradeFields.read(fields, nowMs);
    if (typeof result !== 'string') read.trades.push(result);
    else if (read.errors.length < importLimits.listedErrors) read.errors.push({ row, code: result });
    else read.errorsOmitted += 1;
    rows += 1;
    if (rows % yieldRows === 0) await yieldToEventLoop();
  }
  return read;
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new InvalidValue('body', 'expected text in UTF-8');
  }
}

const lineFeed = 0x0a;

/** Number of lines of a body; counting stops at the first one over the limit. */
function countLines(body: Uint8Array): number {
  let lines = 0;
  for (let at = 0; at < body.length && lines <= importLimits.lines; lines += 1) {
    const end = body.indexOf(lineFeed, at);
    if (end === -1) return lines + 1;
    at = end + 1;
  }
  return lines;
}

/** A row's fields by name, or the code of its error. */
interface RawRow {
  row: number;
  fields: Record<string, unknown> | string;
}

function* jsonRows(text: string): Generator<RawRow> {
  let row = 0;
  for (let at = 0; at < text.length; ) {
    row += 1;
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, end).trim();
    at = end + 1;
    if (line !== '') yield { row, fields: parseObject(line) };
  }
}

function parseObject(line: string): Record<string, unknown> | string {
  if (line.length > importLimits.lineLength) return 'bad_json';
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : 'bad_json';
  } catch {
    return 'bad_json';
  }
}

/** Without a valid header the columns are unknown: that is one error, and no row is read. */
function* csvRows(text: string): Generator<RawRow> {
  let headed = false;
  for (const { row, fields } of csvRecords(text)) {
    if (!headed) {
      headed = true;
      if (fields?.map((name) => name.trim().toLowerCase()).join() === csvColumns.join()) continue;
      yield { row, fields: 'bad_columns' };
      return;
    }
    if (fields?.length !== csvColumns.length) yield { row, fields: 'bad_columns' };
    else yield { row, fields: fieldsByName(fields) };
  }
}

/**
 * CSV does not distinguish an empty field from none, nor a number from text. Texts may be escaped as in CSV answers.
 */
function fieldsByName(values: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    csvColumns.map((name, i) => {
      const text = values[i]!;
      if (text === '') return [name, null];
      return [name, numeric.has(name) && numberPattern.test(text) ? Number(text) : originalText(text)];
    }),
  );
}

const numeric: ReadonlySet<string> = new Set(['qty', 'price', 'ts']);
const numberPattern = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
