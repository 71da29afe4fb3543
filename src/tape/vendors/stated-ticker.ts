import { contractId, readOptionContract } from '../../domain/chain/option-contract.ts';
import { readIndexTicker, readVendorTicker } from '../text/vendor-ticker.ts';
import { VendorError } from './row-format.ts';

const endings = /(?:\.(?:json|ndjson|jsonl|csv|txt|parquet))?(?:\.(?:gz|zst))?$/i;

/**
 * The ticker that begins a file's name: `BRK.B.json`, `SPY_2024-12-03.csv.gz`; `O:` and the OSI symbol for a contract.
 * For formats whose rows do not name it. Throws `VendorError`.
 */
export function statedTicker(name: string): string {
  const text = name.replace(endings, '').split(/[_ ]/)[0]!;
  const contract = readOptionContract(text);
  if (contract) return contractId(contract);
  if (readVendorTicker(text) !== null || readIndexTicker(text) !== null) return text;
  throw new VendorError(
    `the file does not contain its ticker: begin its name with it, such as BRK.B.json or SPY241220C00600000_1.json`,
  );
}
