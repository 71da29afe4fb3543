import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../../platform/runtime/clock.ts';
import { allSymbols } from '../../../../store/market/symbols.ts';
import { exclusively } from '../../../../store/rows/advisory-lock.ts';
import type { Store } from '../../../../store/rows/connection.ts';

/** The bundled symbol list: well-known tickers and index products, of every class and tier. */
export const starterRegistryFile = fileURLToPath(new URL('./starter-registry.csv', import.meta.url));

/** Stores the starter registry if the store has no ticker at all. Returns true if it did. */
export function ensureStarterRegistry(store: Store, now: Clock): Promise<boolean> {
  return exclusively(store, 'starter registry', async () => {
    if ((await allSymbols(store)).length > 0) return false;
    // Loaded for the first start alone: the readers of files are a tenth of a server's modules.
    const { ingestFiles } = await import('../../ingest.ts');
    const { files } = await ingestFiles(store, 'symbols', [starterRegistryFile], { now, bundled: 'registry' });
    if (files[0]!.status === 'refused')
      throw new Error(`The starter registry could not be stored: ${files[0]!.reason}`);
    return true;
  });
}
