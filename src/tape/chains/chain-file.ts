import type { ChainRow } from '../../domain/chain/chain.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
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
function rowOf({ contract: text, numbers, shares }: ChainPart): ChainRow | string {
  const contract = readContractCell(text);
  if (contract === null) return `expected a contract, got ${shown(text)}`;
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

/** Reads a whole chain from a vendor's file. An invalid contract makes the capture partial. Throws `TapeFileError`. */
async function readVendorChain(
  { name, delayMs, time, chain }: VendorFormat,
  isJson: boolean,
  { path, onBadLine, onBytes, roots }: ChainInput,
): Promise<ReadChain> {
  const rows: ChainRow[] = [];
  let capturedAt = Number.NEGATIVE_INFINITY;
  let spot: { price: number; tsMs: number } | null = null;
  let partial = false;
  let stop: unknown = null;
  const bad = (line: number, reason: string) => {
    partial = true;
    try {
      onBadLine({ file: path, line, reason });
    } catch (cause) {
      stop = cause;
      throw cause;
    }
  };
  try {
    for await (const { line, found } of itemsOf(chain!, isJson, readBytes(path, onBytes))) {
      if (typeof found === 'string') bad(line, found);
      else
        for (const part of found) {
          const row = rowOf(part);
          if (typeof row === 'string') bad(line, row);
          else rows.push(row);
          for (const tsMs of part.times) if (tsMs > capturedAt) capturedAt = tsMs;
          if (part.spot && !(part.spot.tsMs <= (spot?.tsMs ?? Number.NaN)))
            spot = { price: numberOf(part.spot.price, 'price of the underlying'), tsMs: part.spot.tsMs };
        }
    }
  } catch (cause) {
    throw cause instanceof TapeFileError || cause === stop
      ? cause
      : new TapeFileError(path, (cause as Error).message, { cause });
  }
  if (rows.length > 0 && !Number.isFinite(capturedAt))
    throw new TapeFileError(path, `${time!.column}: expected a time in the chain (${name})`);
  const header = { capturedAt, delayMs, spot: spot?.price ?? null, priorCloseSpot: null, partial };
  const capture = assembleChain(path, rows, header, roots);
  return { capture, halfLines: [], headerLines: null };
}

async function beginningOfFile(path: string, onBytes: OnBytes): Promise<Beginning> {
  for await (const bytes of readBytes(path, () => onBytes(0))) return beginningOf(bytes);
  return beginningOf(Buffer.alloc(0));
}

/**
 * Reads a chain file of any format. The format is recognized by the file's content, not by its name. Without `roots`
 * their properties are those of the built-in list.
 */
export async function readChain(
  path: string,
  onBadLine: OnBadLine,
  onBytes: OnBytes = () => {},
  roots?: OptionRoots,
): Promise<ReadChain> {
  const beginning = await beginningOfFile(path, onBytes);
  const { isJson } = beginning;
  const vendor = vendorFormatOf(beginning);
  if (vendor?.chain) return readVendorChain(vendor, isJson, { path, onBadLine, onBytes, roots });
  try {
    return await (isJson ? readChainJson : readChainCsv)(path, onBadLine, onBytes, roots);
  } catch (error) {
    throw error instanceof NoChainError ? new TapeFileError(path, noChain(error), { cause: error }) : error;
  }
}
