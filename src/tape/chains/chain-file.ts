import { type OnBadLine, type OnBytes, readBytes } from '../csv/tape-file.ts';
import { type ReadChain, readChainCsv } from './chain-csv.ts';
import { readChainJson } from './chain-json.ts';

async function isJson(path: string): Promise<boolean> {
  const [, kind] = /\.(csv|json)(?:\.gz)?$/i.exec(path) ?? [];
  if (kind !== undefined) return kind.toLowerCase() === 'json';
  for await (const bytes of readBytes(path)) return /^\ufeff?\s*[{[]/.test(bytes.toString('utf8', 0, 64));
  return false;
}

/** Reads a chain file, CSV or JSON: distinguished by its name, else by how it begins. */
export async function readChain(path: string, onBadLine: OnBadLine, onBytes?: OnBytes): Promise<ReadChain> {
  return (await isJson(path)) ? readChainJson(path, onBadLine, onBytes) : readChainCsv(path, onBadLine, onBytes);
}
