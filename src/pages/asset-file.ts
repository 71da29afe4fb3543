/** Encodings in which the files of the pages are stored. */
export type Compression = 'br' | 'gzip';

/** A file for browsers. */
export interface AssetFile {
  /** Path below the address of the assets, e.g. `client/before-paint.js`. */
  path: string;
  /** Hash of its content. */
  hash: string;
  /** Paths of the modules that a script imports, directly or not, without itself. */
  modules: readonly string[];
  compressed: (encoding: Compression) => Promise<Buffer>;
}
