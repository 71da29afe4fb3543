import { type ReadChain, readChainCsv } from './chain-csv.ts';
import { readChainJson } from './chain-json.ts';
import { type OnBadLine, type OnBytes, readBytes } from './tape-file.ts';

async function beginsAsJson(path: string): Promise<boolean> {
  for await (const bytes of readBytes(path)) return /^\ufeff?\s*[{[]/.test(bytes.toString('utf8', 0, 64));
  return false;
}

/** Reads a chain file, CSV or JSON: told apart by what it holds, not by its name. */
export async function readChain(path: string, onBadLine: OnBadLine, onBytes?: OnBytes): Promise<ReadChain> {
  return (await beginsAsJson(path)) ? readChainJson(path, onBadLine, onBytes) : readChainCsv(path, onBadLine, onBytes);
}
