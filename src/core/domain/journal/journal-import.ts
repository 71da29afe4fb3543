import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';
import { ContentTooLarge, InvalidValue } from '../../../platform/runtime/invalid-value.ts';
import { originalText } from '../../../platform/runtime/spreadsheet-text.ts';
import { csvRecords } from './csv-records.ts';
import type { NewTrade, RowError } from './journal.ts';
import { journalTradeFields } from './journal-trade.ts';

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
export interface JournalBody {
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
