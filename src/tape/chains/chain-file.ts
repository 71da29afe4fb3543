import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { type OnBadLine, type OnBytes, readBytes } from '../csv/tape-file.ts';
import { type Beginning, beginningOf } from '../csv/translate.ts';
import type { VendorChain } from '../formats/vendor.ts';
import { massiveChainParts } from '../vendors/massive.ts';
import { oratsCsvChain, oratsJsonChain } from '../vendors/orats.ts';
import { thetaCsvChain } from '../vendors/theta.ts';
import { tradierChainParts } from '../vendors/tradier.ts';
import { yfinanceCsvChain } from '../vendors/yfinance.ts';
import { type ReadChain, readChainCsv } from './chain-csv.ts';
import { readChainJson } from './chain-json.ts';
import { readVendorChain } from './vendor-chain.ts';

const vendorChains: readonly VendorChain[] = [
  ...[massiveChainParts, tradierChainParts, oratsJsonChain],
  ...[oratsCsvChain, thetaCsvChain, yfinanceCsvChain],
];

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
  const { isJson, fits } = await beginningOfFile(path, onBytes);
  const vendor = vendorChains.find((each) => each.isJson === isJson && fits(each.format));
  if (vendor) return readVendorChain(vendor, path, onBadLine, onBytes, roots);
  const read = isJson ? readChainJson : readChainCsv;
  return read(path, onBadLine, onBytes, roots);
}
