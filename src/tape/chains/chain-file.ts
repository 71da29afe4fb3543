import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { type OnBadLine, type OnBytes, readBytes } from '../csv/tape-file.ts';
import { type ReadChain, readChainCsv } from './chain-csv.ts';
import { readChainJson } from './chain-json.ts';

async function isJson(path: string): Promise<boolean> {
  for await (const bytes of readBytes(path)) return /^\ufeff?\s*[{[]/.test(bytes.toString('utf8', 0, 64));
  return false;
}

/**
 * Reads a chain file of any format, which is recognized by how it begins, not by its name. Without `roots` they have
 * the properties of the project's own list.
 */
export async function readChain(
  path: string,
  onBadLine: OnBadLine,
  onBytes?: OnBytes,
  roots?: OptionRoots,
): Promise<ReadChain> {
  const read = (await isJson(path)) ? readChainJson : readChainCsv;
  return read(path, onBadLine, onBytes, roots);
}
