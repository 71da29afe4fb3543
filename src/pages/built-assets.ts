import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetFile } from './asset-file.ts';

const folder = join(import.meta.dirname, '../../generated/pages');

/** A file's entry in `generated/pages/assets.json`. */
export interface BuiltAsset {
  /** Hash of its content. */
  hash: string;
  /** Paths of the modules that this one imports, directly or not, without itself. Absent = none. */
  modules?: readonly string[];
}

// Read at startup: a file that is replaced later would be sent under the hash of this one.
const assets = JSON.parse(readFileSync(join(folder, 'assets.json'), 'utf8')) as Record<string, BuiltAsset>;

/** The scripts and style sheets of `npm run build`, compressed. */
export const builtAssets: readonly AssetFile[] = Object.entries(assets).map(([path, { hash, modules = [] }]) => {
  const compressed = {
    br: readFileSync(join(folder, `assets/${path}.br`)),
    gzip: readFileSync(join(folder, `assets/${path}.gz`)),
  };
  return { path, hash, modules, compressed: async (encoding) => compressed[encoding] };
});
