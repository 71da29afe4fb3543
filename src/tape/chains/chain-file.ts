import type { OptionRoots } from '../../domain/chain/option-root.ts';
import { type OnBadLine, type OnBytes, readBytes } from '../csv/tape-file.ts';
import { type ReadChain, readChainCsv } from './chain-csv.ts';
import { readChainJson } from './chain-json.ts';

async function isJson(path: string): Promise<boolean> {
  for await (const bytes of readBytes(path)) return /^\ufeff?\s*[{[]/.test(bytes.toString('utf8', 0, 64));
  return false;
}

/**
 * Reads a chain file of any format. The format is recognized by the file's content, not by its name. Without `roots`
 * their properties are those of the built-in list.
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
