import { sessionOf } from '../../../core/domain/calendar.ts';
import type { ChainCapture, ChainRow } from '../../../core/domain/chain/chain.ts';
import type { OptionContract } from '../../../core/domain/chain/option-contract.ts';
import { type OptionRoots, standardRoots } from '../../../core/domain/chain/option-root.ts';
import { type OnBadLine, type OnBytes, readBytes, TapeFileError } from '../csv/tape-file.ts';
import { beginningOf, pageItems, vendorFormatOf, vendorFormatsOf } from '../csv/translate.ts';
import { isBlank, readGroupedNumber, shown } from '../csv/values.ts';
import type { Format } from '../formats/format.ts';
import {
  type Beginning,
  type ChainItem,
  type ChainPart,
  type ChainReading,
  sourceNames,
  type VendorFormat,
} from '../formats/vendor.ts';
import { columnFinder, csvRows } from '../text/csv-rows.ts';
import { assembleChain, chainRows, NoChainError, type ReadChain, readContractCell } from './chain-rows.ts';
import { exchangeJson, readChainJson } from './exchange-json.ts';
import { exchangePage, readChainCsv } from './exchange-page.ts';

/** The formats of option chains. */
export const chainFormats: readonly Format[] = [exchangePage, exchangeJson, ...vendorFormatsOf(['chain'])];

/** The reason why a file that begins like this is not a chain. */
function noChain({ reason, begins }: NoChainError): string {
  const known = chainFormats.map(({ name, required }) => `${name} (${required.join(', ')})`);
  return `${reason}: no format of chains fits: ${known.join(' or ')}; the file begins ${JSON.stringify(begins.slice(0, 120))}`;
}

const chainRow = chainRows(sourceNames);

/** Thrown for an invalid number; the message is the reason of the bad line. */
class BadNumber extends Error {}

function numberOf(value: unknown, name: string): number {
  const text = value === null || value === undefined ? '' : String(value).trim();
  const read = readGroupedNumber(text);
  if (Number.isNaN(read) && !isBlank(text)) throw new BadNumber(`${name}: expected a number, got ${shown(text)}`);
  return read;
}

/** The row of a contract, or the reason why there is none. */
function rowOf(contract: OptionContract, { contract: text, numbers, shares }: ChainPart): ChainRow | string {
  try {
    const row = chainRow(contract, (name) => numberOf(numbers[name], name));
    const count = numberOf(shares, 'shares per contract');
    if (Number.isInteger(count) && count > 0) row.sharesPerContract = count;
    return row;
  } catch (error) {
    if (error instanceof BadNumber) return `${text}: ${error.message}`;
    throw error;
  }
}

/** Contracts with one root, or of one underlying. */
interface ContractGroup {
  rows: ChainRow[];
  /** The newest time in them, epoch ms; −∞ = none has one. */
  newestMs: number;
  /** The newest price of the underlying, null = unknown. */
  spot: { price: number; tsMs: number } | null;
  /** True if a contract is invalid. */
  isPartial: boolean;
}

/** The later of two prices: of equal times the first, of an unknown one the second. */
const later = (a: ContractGroup['spot'], b: ContractGroup['spot']) =>
  a === null || (b !== null && !(b.tsMs <= a.tsMs)) ? b : a;

/** The contracts of a vendor's file, from which the chain of each underlying in it is made. */
class VendorContracts {
  readonly #format: VendorFormat;
  readonly #path: string;
  readonly #byRoot = new Map<string, ContractGroup>();
  /** True if a contract is invalid, and it is unknown of which root. */
  #isPartial = false;

  constructor(format: VendorFormat, path: string) {
    this.#format = format;
    this.#path = path;
  }

  /** Adds the contracts of a line or result. Returns the reasons why some are invalid. */
  add(found: ChainItem): string[] {
    const reasons = typeof found === 'string' ? [found] : found.flatMap((part) => this.#addPart(part) ?? []);
    if (typeof found === 'string') this.#isPartial = true;
    return reasons;
  }

  /** Adds a contract. Returns the reason why it is invalid, or null. */
  #addPart(part: ChainPart): string | null {
    const contract = readContractCell(part.contract);
    if (contract === null) this.#isPartial = true;
    if (contract === null) return `expected a contract, got ${shown(part.contract)}`;
    const group = this.#groupOf(contract.root);
    const row = rowOf(contract, part);
    if (typeof row === 'string') group.isPartial = true;
    else group.rows.push(row);
    for (const tsMs of part.times) if (tsMs > group.newestMs) group.newestMs = tsMs;
    if (part.spot) {
      const price = numberOf(part.spot.price, 'price of the underlying');
      group.spot = later(group.spot, { price, tsMs: part.spot.tsMs });
    }
    return typeof row === 'string' ? row : null;
  }

  #groupOf(root: string): ContractGroup {
    let group = this.#byRoot.get(root);
    if (group === undefined) {
      group = { rows: [], newestMs: Number.NEGATIVE_INFINITY, spot: null, isPartial: false };
      this.#byRoot.set(root, group);
    }
    return group;
  }

  /** The chain of each underlying, by its name: at the newest time of its contracts. Throws `TapeFileError`. */
  chains(roots: OptionRoots = standardRoots): ChainCapture[] {
    const known = [...this.#byRoot].filter(([, { rows }]) => rows.length > 0);
    if (known.length === 0) throw new TapeFileError(this.#path, 'the chain has no contracts');
    const newestMs = Math.max(...known.map(([, group]) => group.newestMs));
    const session = Number.isFinite(newestMs) ? sessionOf(newestMs) : undefined;
    const byUnderlying = Map.groupBy(known, ([root]) => roots.of(root, session).underlying);
    return [...byUnderlying]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([underlying, own]) =>
        this.#chainOf(
          underlying,
          own.map(([, group]) => group),
          roots,
        ),
      );
  }

  #chainOf(underlying: string, groups: readonly ContractGroup[], roots: OptionRoots): ChainCapture {
    const { delayMs, name, time } = this.#format;
    const rows = groups.flatMap((group) => group.rows);
    const capturedAt = Math.max(...groups.map(({ newestMs }) => newestMs));
    if (!Number.isFinite(capturedAt))
      throw new TapeFileError(this.#path, `${time!.column}: expected a time in the chain of ${underlying} (${name})`);
    const partial = this.#isPartial || groups.some(({ isPartial }) => isPartial);
    const spot = groups.map((group) => group.spot).reduce(later, null)?.price ?? null;
    const header = { capturedAt, delayMs, spot, priorCloseSpot: null, partial };
    return assembleChain(this.#path, rows, header, roots);
  }
}

/** The contracts of each line or result, by its number from 1. Throws `VendorError`. */
async function* itemsOf(
  { pages, line: read }: ChainReading,
  isJson: boolean,
  texts: AsyncIterable<Buffer>,
): AsyncGenerator<{ line: number; found: ChainItem }> {
  let line = 0;
  if (isJson) {
    for await (const found of pageItems(pages!(), texts)) yield { line: ++line, found };
    return;
  }
  let at: ((name: string) => number) | null = null;
  for await (const cells of csvRows(texts)) {
    line++;
    if (!at) at = columnFinder(cells!);
    else if (cells) {
      const find = at;
      yield { line, found: read!((column) => cells[find(column)]?.trim()) };
    }
  }
}

/** A chain's file, and what is called while it is read. */
interface ChainInput {
  path: string;
  onBadLine: OnBadLine;
  onBytes: OnBytes;
  /** Absent = the built-in list. */
  roots: OptionRoots | undefined;
}

/**
 * Reads the chain of each underlying in a vendor's file. An invalid contract makes the capture of its root's underlying
 * partial; if its root is unknown too, all. Throws `TapeFileError`.
 */
async function readVendorChains(
  format: VendorFormat,
  isJson: boolean,
  { path, onBadLine, onBytes, roots }: ChainInput,
): Promise<ChainCapture[]> {
  const contracts = new VendorContracts(format, path);
  let stop: unknown = null;
  const bad = (line: number, reason: string) => {
    try {
      onBadLine({ file: path, line, reason });
    } catch (cause) {
      stop = cause;
      throw cause;
    }
  };
  try {
    for await (const { line, found } of itemsOf(format.chain!, isJson, readBytes(path, onBytes)))
      for (const reason of contracts.add(found)) bad(line, reason);
  } catch (cause) {
    throw cause instanceof TapeFileError || cause === stop
      ? cause
      : new TapeFileError(path, (cause as Error).message, { cause });
  }
  return contracts.chains(roots);
}

async function beginningOfFile(path: string, onBytes: OnBytes): Promise<Beginning> {
  for await (const bytes of readBytes(path, () => onBytes(0))) return beginningOf(bytes);
  return beginningOf(Buffer.alloc(0));
}

/** The result of reading a chain file. */
export interface ReadChains extends Omit<ReadChain, 'capture'> {
  /** The capture of each underlying in it, by its name; at least one. */
  captures: readonly ChainCapture[];
}

/**
 * Reads a chain file of any format. The format is recognized by the file's content, not by its name. A file of the
 * exchange has one underlying, that of a vendor one or more. Without `roots` their properties are those of the built-in
 * list.
 */
export async function readChains(
  path: string,
  onBadLine: OnBadLine,
  onBytes: OnBytes = () => {},
  roots?: OptionRoots,
): Promise<ReadChains> {
  const beginning = await beginningOfFile(path, onBytes);
  const { isJson } = beginning;
  const vendor = vendorFormatOf(beginning);
  if (vendor?.chain) {
    const captures = await readVendorChains(vendor, isJson, { path, onBadLine, onBytes, roots });
    return { captures, halfLines: [], headerLines: null };
  }
  try {
    const read = isJson ? readChainJson : readChainCsv;
    const { capture, ...more } = await read(path, onBadLine, onBytes, roots);
    return { ...more, captures: [capture] };
  } catch (error) {
    throw error instanceof NoChainError ? new TapeFileError(path, noChain(error), { cause: error }) : error;
  }
}
