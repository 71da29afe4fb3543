/** The encodings in which the files of the pages are held. */
export type Compression = 'br' | 'gzip';

/** A file that browsers may have. */
export interface AssetFile {
  /** Below the address of the assets, e.g. `client/before-paint.js`. */
  path: string;
  /** Another text whenever its bytes are others. */
  hash: string;
  /** Paths of the modules that a script needs before it runs, without itself. */
  modules: readonly string[];
  compressed: (encoding: Compression) => Promise<Buffer>;
}
