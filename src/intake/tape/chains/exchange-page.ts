import type { ChainCapture, ChainRow } from '../../../core/domain/chain/chain.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { toThousandths } from '../../../core/domain/units.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { readLines } from '../csv/lines.ts';
import { type BadLine, type OnBadLine, type OnBytes, TapeFileError } from '../csv/tape-file.ts';
import { isBlank, readGroupedNumber, shown } from '../csv/values.ts';
import { readWrittenDate } from '../csv/written-date.ts';
import type { Format } from '../formats/format.ts';
import { splitCsvLine } from '../text/csv-rows.ts';
import { assembleChain, chainRows, NoChainError, priorClose, type ReadChain, readContractCell } from './chain-rows.ts';

/**
 * The exchange's delayed-quote page, saved as CSV: a title line with the last price, a date line, and a table with a
 * call and a put per line. Names in lower case.
 */
export const exchangePage = {
  name: 'exchange-page',
  content: 'the delayed-quote table of the exchange’s page, saved as CSV',
  datasets: ['chain'],
  required: ['expiration date', 'calls', 'strike', 'puts'],
  time: { column: 'date', unit: 'written' },
  // The time of day at which its volatilities of the last day solve its quotes.
  delayMs: 15 * minuteMs,
  symbols: { column: 'calls', spelling: 'osi' },
  /** Maximum number of lines above the table. */
  longestPreamble: 20,
  /** Keys above the table. */
  preamble: { date: 'Date', last: 'Last', change: 'Change' },
  /** Columns of the whole line. */
  strike: 'strike',
  expiry: 'expiration date',
  /** The column with the contracts of a right; calls are before the strike, puts after it. */
  contract: { call: 'calls', put: 'puts' },
  /** The columns of each right, on its side of the strike. */
  columns: {
    last: 'last sale',
    bid: 'bid',
    ask: 'ask',
    volume: 'volume',
    iv: 'iv',
    delta: 'delta',
    gamma: 'gamma',
    openInterest: 'open interest',
  },
} as const satisfies Format & Record<string, unknown>;

const { columns, contract: contractColumns, delayMs, longestPreamble, preamble: keys } = exchangePage;
type Column = keyof typeof columns;
const chainRow = chainRows(Object.keys(columns) as Column[]);

/** Indexes of one right's cells in a line. */
interface SideIndex extends Record<Column, number> {
  contract: number;
}

interface TableIndex {
  /** Number of columns of a line. */
  width: number;
  expiry: number;
  strike: number;
  calls: SideIndex;
  puts: SideIndex;
}

function sideIndex(path: string, names: string[], contractColumn: string, from: number, to: number): SideIndex {
  const find = (name: string) => {
    const index = names.indexOf(name, from);
    if (index < 0 || index >= to)
      throw new TapeFileError(path, `the table has no column ${name} next to ${contractColumn}`);
    return index;
  };
  const places = Object.entries(columns).map(([name, column]) => [name, find(column)]);
  return { contract: find(contractColumn), ...(Object.fromEntries(places) as Record<Column, number>) };
}

/**
 * The table's columns: the calls' before the strike, the puts' after it, each in any order; null if the line is not the
 * table's header.
 */
function tableIndex(path: string, fields: readonly string[]): TableIndex | null {
  const names = fields.map((name) => name.trim().toLowerCase());
  const strike = names.indexOf(exchangePage.strike);
  const expiry = names.indexOf(exchangePage.expiry);
  if (strike < 0 || expiry < 0) return null;
  return {
    width: names.length,
    expiry,
    strike,
    calls: sideIndex(path, names, contractColumns.call, 0, strike),
    puts: sideIndex(path, names, contractColumns.put, strike + 1, names.length),
  };
}

/** The lines above the table: `Name,Last: 1,Change: 2` and `"Date: …",Bid: …`, in any cells. Keys in lower case. */
type Preamble = Map<string, string>;

/** A value extends to the next key: unquoted, its commas do not separate cells. */
function readPreamble(preamble: Preamble, fields: readonly string[]): void {
  const [, ...keyed] = fields.join(',').split(/(?:^|[,\s])([A-Za-z]+):/);
  for (let i = 0; i < keyed.length; i += 2) {
    const key = keyed[i]!.toLowerCase();
    if (!preamble.has(key)) preamble.set(key, keyed[i + 1]!.replace(/^\s+|[\s,]+$/g, ''));
  }
}

/** A number above the table; NaN if absent or blank. Throws `TapeFileError` for anything else. */
function preambleNumber(path: string, preamble: Preamble, key: string): number {
  const text = preamble.get(key.toLowerCase()) ?? '';
  const value = isBlank(text) ? Number.NaN : readGroupedNumber(text);
  if (Number.isNaN(value) && !isBlank(text))
    throw new TapeFileError(path, `${key}: expected a number, got ${shown(text)}`);
  return value;
}

/**
 * A right's row, null if the cells contain no contract (the right is not listed), or the reason why they are invalid.
 */
function readSide(
  fields: readonly string[],
  side: SideIndex,
  right: 'call' | 'put',
  strike: number,
): ChainRow | string | null {
  const cell = (fields[side.contract] ?? '').trim();
  if (isBlank(cell) && side.contract < fields.length) return null;
  const contract = readContractCell(cell);
  if (contract === null) return `${right}: expected a contract, got ${shown(cell)}`;
  if (contract.right !== right || contract.strike !== strike)
    return `${right}: the contract ${cell} is not a ${right} of the line's strike`;
  let wrong: string | null = null;
  const number = (name: Column) => {
    const text = fields[side[name]]?.trim();
    if (text === undefined) wrong ??= `${right}: the line ends before ${name}`;
    if (text === undefined) return Number.NaN;
    const value = readGroupedNumber(text);
    if (Number.isNaN(value) && !isBlank(text)) wrong ??= `${right}: ${name}: expected a number, got ${shown(text)}`;
    return value;
  };
  const row = chainRow(contract, number);
  return wrong ?? row;
}

/** Reads a table line: its usable rows, and the reason why the rest is not usable. */
function readTableLine(fields: readonly string[], table: TableIndex): { rows: ChainRow[]; reason: string | null } {
  if (fields.length > table.width && fields.slice(table.width).some((field) => field.trim() !== ''))
    return { rows: [], reason: `expected ${table.width} columns, found ${fields.length}` };
  const text = fields[table.strike] ?? '';
  const strike = toThousandths(readGroupedNumber(text.trim()));
  if (!(strike > 0)) return { rows: [], reason: `strike: expected a price above 0, got ${shown(text)}` };
  const sides = [readSide(fields, table.calls, 'call', strike), readSide(fields, table.puts, 'put', strike)];
  const rows = sides.filter((side): side is ChainRow => side !== null && typeof side !== 'string');
  const reasons = sides.filter((side): side is string => typeof side === 'string');
  const reason = reasons.length > 0 ? reasons.join('; ') : rows.length === 0 ? 'the line has no contract' : null;
  return { rows, reason };
}

/** The capture of these rows with the preamble. Throws `TapeFileError`. */
function captureOf(
  path: string,
  preamble: Preamble,
  rows: ChainRow[],
  { partial, roots }: { partial: boolean; roots: OptionRoots | undefined },
): ChainCapture {
  const date = preamble.get(keys.date.toLowerCase());
  if (date === undefined) throw new TapeFileError(path, `no ${keys.date}: line above the table`);
  const capturedAt = readWrittenDate(date);
  if (typeof capturedAt === 'string')
    throw new TapeFileError(path, `${keys.date}: expected a date and time, got ${JSON.stringify(date)}: ${capturedAt}`);
  const last = preambleNumber(path, preamble, keys.last);
  const change = preambleNumber(path, preamble, keys.change);
  const spot = last > 0 ? last : null;
  const priorCloseSpot = spot === null || Number.isNaN(change) ? null : priorClose(spot, change);
  return assembleChain(path, rows, { capturedAt, delayMs, spot, priorCloseSpot, partial }, roots);
}

/**
 * Reads a whole chain from the exchange's delayed-quote table, exported as CSV: a title line (`S&P 500 INDEX,Last:
 * …,Change: …`), a date line in the reader's language and zone, and a table with a call and a put per line. If only one
 * right of a line is usable, it is stored and the capture is partial; a line without a usable right is reported to
 * `onBadLine`, and makes the capture partial too. The close before is last − change; the underlying follows from the
 * contracts' roots, because titles are free text.
 */
export async function readChainCsv(
  path: string,
  onBadLine: OnBadLine,
  onBytes?: OnBytes,
  roots?: OptionRoots,
): Promise<ReadChain> {
  const preamble: Preamble = new Map();
  const rows: ChainRow[] = [];
  const halfLines: BadLine[] = [];
  let table: TableIndex | null = null;
  let headerLines = 0;
  let begins = '';
  let broken = false;
  for await (const { firstLine, lines } of readLines(path, onBytes)) {
    for (const [i, text] of lines.entries()) {
      const line = firstLine + i;
      begins ||= text.trim();
      const fields = splitCsvLine(text);
      if (!table) {
        if (line > longestPreamble) throw new NoChainError(path, 'no delayed-quote table found', begins);
        table = fields && tableIndex(path, fields);
        headerLines = line;
        if (!table && fields) readPreamble(preamble, fields);
        continue;
      }
      if (text.trim() === '') continue;
      const { rows: usable, reason } = fields
        ? readTableLine(fields, table)
        : { rows: [], reason: 'unterminated quoted field' };
      rows.push(...usable);
      if (reason === null) continue;
      broken = true;
      if (usable.length > 0) halfLines.push({ file: path, line, reason });
      else onBadLine({ file: path, line, reason });
    }
  }
  if (!table) throw new NoChainError(path, 'no delayed-quote table found', begins);
  return { capture: captureOf(path, preamble, rows, { partial: broken, roots }), halfLines, headerLines };
}
