import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import MiniSearch from 'minisearch';
import type { AssetFile, Compression } from '../assets.ts';
import type { SearchDocument } from './search-documents.ts';

/** Options with which a browser reads the index: MiniSearch requires those it was built with. */
const options = {
  fields: ['title', 'alsoCalled', 'place', 'text', 'fields'],
  storeFields: ['kind', 'title', 'place', 'href', 'text'],
};

const compressors: Readonly<Record<Compression, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 7 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

/** The path of the index among the files of the pages. */
export const searchPath = 'reference/search.json';

/** The index of documents as a file for browsers: `{options, index}`, read by `client/search.ts`. */
export function searchAsset(documents: readonly SearchDocument[]): AssetFile {
  const indexed = () => {
    const index = new MiniSearch<SearchDocument>(options);
    index.addAll(documents);
    return Buffer.from(JSON.stringify({ options, index }));
  };
  const made: Partial<Record<Compression, Promise<Buffer>>> = {};
  return {
    path: searchPath,
    modules: [],
    // The version is derived from the documents, so that startup does not build an index before its first use.
    hash: createHash('sha256').update(JSON.stringify({ options, documents })).digest('base64url').slice(0, 12),
    compressed: (encoding) => {
      made[encoding] ??= compressors[encoding](indexed());
      return made[encoding];
    },
  };
}
