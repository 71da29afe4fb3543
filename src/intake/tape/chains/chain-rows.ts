import { sessionOf } from '../../../core/domain/calendar.ts';
import { type ChainCapture, type ChainRow, unknownNumbers } from '../../../core/domain/chain/chain.ts';
import { greekNames, sourceColumns } from '../../../core/domain/chain/chain-columns.ts';
import {
  compareContracts,
  type OptionContract,
  osiSymbol,
  readOptionContractText,
} from '../../../core/domain/chain/option-contract.ts';
import { type OptionRoots, standardRoots } from '../../../core/domain/chain/option-root.ts';
import { highestStockPrice } from '../../../core/domain/market/print.ts';
import { type BadLine, TapeFileError } from '../csv/tape-file.ts';
import type { SourceName } from '../formats/vendor.ts';

/** Reads a number of a source's record; NaN = absent. */
type ReadNumber<Name extends SourceName> = (name: Name) => number;

/**
 * The one check of sources' values: fills in a row of unknown numbers from a source with the given ones. A number
 * outside its column's range, or a fractional count, stays unknown (methodology 2). So does an iv of 0. A greek that
 * equals another one outside its range is the source's way to write no value, such as a delta of −1 beside a gamma of
 * −1.
 */
function withinDomain<Name extends SourceName>(names: readonly Name[]) {
  const ranges = names.map((name) => {
    const { type, from, to } = sourceColumns[name];
    return { name, from, to, isWhole: type !== 'float64', isGreek: greekNames.some((greek) => greek === name) };
  });
  return (row: ChainRow, read: ReadNumber<Name>): void => {
    let outside: Set<number | null> | null = null;
    for (const { name, from, to, isWhole, isGreek } of ranges) {
      const value = read(name);
      if (value >= from && value <= to && (!isWhole || Number.isInteger(value))) row[name] = value;
      else if (isGreek && !Number.isNaN(value)) outside = (outside ?? new Set()).add(value);
    }
    if (outside !== null) for (const name of greekNames) if (outside.has(row[name])) row[name] = null;
    if (row.iv === 0) row.iv = null;
  };
}

/** Thrown for a file that is not of the exchange's format that it was read as. */
export class NoChainError extends TapeFileError {
  readonly reason: string;
  /** The first characters of the file. */
  readonly begins: string;

  constructor(path: string, reason: string, begins: string) {
    super(path, `${reason}; it begins ${JSON.stringify(begins.slice(0, 120))}`);
    this.reason = reason;
    this.begins = begins;
  }
}

/** A price above the maximum is a source's way to write no value. */
const underlyingPrice = (value: number | null) =>
  value !== null && value > 0 && value <= highestStockPrice ? value : null;

// Copying one object is several times as fast as merging two.
const unknownRow: ChainRow = { root: '', expiry: '', right: 'call', strike: 0, ...unknownNumbers };

/**
 * Creates rows from a source with the given numbers, within their domain; its zeros are zeros. Shares: null = those of
 * the root.
 */
export function contractRows<Name extends SourceName>(names: readonly Name[]) {
  const fillIn = withinDomain(names);
  return (contract: OptionContract, read: ReadNumber<Name>, sharesPerContract: number | null = null): ChainRow => {
    const row = { ...unknownRow };
    row.root = contract.root;
    row.expiry = contract.expiry;
    row.right = contract.right;
    row.strike = contract.strike;
    row.sharesPerContract = sharesPerContract;
    fillIn(row, read);
    return row;
  };
}

/**
 * Creates rows from delayed-quote lines. The vendor writes 0 for no value, so: a last price of 0 = never traded,
 * unknown; an ask of 0 = no offer, unknown, and a bid of 0 beside it no quote at all (a bid of 0 below an offer is a
 * bid of 0); an IV of 0 = not solved, unknown, and delta and gamma both 0 beside it were not computed either. Every
 * other 0 is a zero.
 */
export function chainRows<Name extends SourceName>(names: readonly Name[]) {
  const rowOf = contractRows(names);
  return (contract: OptionContract, read: ReadNumber<Name>): ChainRow => {
    const row = rowOf(contract, read);
    if (row.last === 0) row.last = null;
    if (row.ask === 0) row.ask = null;
    if (row.ask === null && row.bid === 0) row.bid = null;
    if (row.iv === null && !row.delta && !row.gamma) {
      row.delta = null;
      row.gamma = null;
      row.theta = null;
      row.vega = null;
    }
    return row;
  };
}

/** The contract of a cell, or null; padding and a leading `O:` are skipped. */
export function readContractCell(text: string): OptionContract | null {
  return readOptionContractText(text.trim());
}

/** The result of reading a chain file: the capture, and the lines with only one usable right. */
export interface ReadChain {
  capture: ChainCapture;
  /** Lines with only one stored side: the capture is partial. They do not count as bad lines. */
  halfLines: BadLine[];
  /** Lines through the table's header; null = the lines are not of contracts. */
  headerLines: number | null;
}

/** Metadata of a chain file, without its rows. */
export interface ChainHeader {
  capturedAt: number;
  /** As of `ChainCapture`. */
  delayMs: number;
  /** Dollars; unknown unless above 0 and at most 1e9, as in `priorCloseSpot`. */
  spot: number | null;
  priorCloseSpot: number | null;
  partial: boolean;
}

/**
 * A capture of these rows: the underlying is that of all roots, and a row without the number of shares per contract
 * gets its root's. Throws `TapeFileError` if the roots belong to several underlyings, or there are no rows.
 */
export function assembleChain(
  path: string,
  rows: ChainRow[],
  { capturedAt, delayMs, spot, priorCloseSpot, partial }: ChainHeader,
  roots: OptionRoots = standardRoots,
): ChainCapture {
  if (rows.length === 0) throw new TapeFileError(path, 'the chain has no contracts');
  const sessionDate = sessionOf(capturedAt);
  const known = new Map([...new Set(rows.map((row) => row.root))].map((root) => [root, roots.of(root, sessionDate)]));
  const underlyings = new Set(Array.from(known.values(), (root) => root.underlying));
  if (underlyings.size > 1)
    throw new TapeFileError(path, `the chain has contracts of several underlyings: ${[...underlyings].join(', ')}`);
  for (const row of rows) row.sharesPerContract ??= known.get(row.root)!.sharesPerContract;
  rows.sort(compareContracts);
  const twice = rows.find((row, i) => i > 0 && compareContracts(rows[i - 1]!, row) === 0);
  if (twice) throw new TapeFileError(path, `the chain has the contract ${osiSymbol(twice)} twice`);
  return {
    underlying: [...underlyings][0]!,
    capturedAt,
    delayMs,
    sessionDate,
    spot: underlyingPrice(spot),
    priorCloseSpot: underlyingPrice(priorCloseSpot),
    partial,
    rows,
  };
}

/** `last − change`, rounded to the decimals of the two, without the binary error of the subtraction. */
export function priorClose(last: number, change: number): number | null {
  const close = Number((last - change).toFixed(6));
  return close > 0 ? close : null;
}
