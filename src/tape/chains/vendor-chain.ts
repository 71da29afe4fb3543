import type { ChainRow } from '../../domain/chain/chain.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { type OnBadLine, type OnBytes, readBytes, TapeFileError } from '../csv/tape-file.ts';
import { isBlank, readGroupedNumber, shown } from '../csv/values.ts';
import { type ChainPart, sourceNames, type VendorChain } from '../formats/vendor.ts';
import type { ReadChain } from './chain-csv.ts';
import { assembleChain, chainRows, readContractCell } from './chain-rows.ts';

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

/** Reads a whole chain from a vendor's file. An invalid contract makes the capture partial. Throws `TapeFileError`. */
export async function readVendorChain(
  vendor: VendorChain,
  path: string,
  onBadLine: OnBadLine,
  onBytes?: OnBytes,
  roots?: OptionRoots,
): Promise<ReadChain> {
  const rows: ChainRow[] = [];
  const { delayMs, name, time } = vendor.format;
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
    for await (const { line, found } of vendor.parts(readBytes(path, onBytes))) {
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
