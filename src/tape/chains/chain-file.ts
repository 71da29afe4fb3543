import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { type OnBadLine, type OnBytes, readBytes } from '../csv/tape-file.ts';
import { type Beginning, beginningOf } from '../vendors/beginning.ts';
import { type ReadChain, readChainCsv } from './chain-csv.ts';
import { readChainJson } from './chain-json.ts';
import { oratsCsvChain, thetaCsvChain, yfinanceCsvChain } from './csv-chains.ts';
import { massiveChainParts } from './massive-chain.ts';
import { oratsJsonChain } from './orats-chain.ts';
import { tradierChainParts } from './tradier-chain.ts';
import { readVendorChain, type VendorChain } from './vendor-chain.ts';

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
