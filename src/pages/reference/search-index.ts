import { createHash } from 'node:crypto';
import MiniSearch from 'minisearch';
import type { AssetFile } from '../asset-files.ts';
import type { SearchDocument } from './search-documents.ts';

/** How a browser reads the index: MiniSearch's options must be those it was made with. */
const options = {
  fields: ['title', 'alsoCalled', 'place', 'text', 'fields'],
  storeFields: ['kind', 'title', 'place', 'href', 'text'],
};

/** The index of documents as a file for browsers: `{options, index}`, read by `client/search.ts`. */
export function searchAsset(documents: readonly SearchDocument[]): AssetFile {
  const index = new MiniSearch<SearchDocument>(options);
  index.addAll(documents);
  const bytes = Buffer.from(JSON.stringify({ options, index }));
  return {
    path: 'reference/search.json',
    contentType: 'application/json; charset=utf-8',
    version: createHash('sha256').update(bytes).digest('base64url'),
    read: async () => bytes,
  };
}
