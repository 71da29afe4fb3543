import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import type { GeneratedFiles } from './generated-files.ts';

const root = join(import.meta.dirname, '../..');

/** Where most generated files are committed, from the root. */
export const generatedFolder = 'generated';

/** A form in which a generated file is committed. */
interface Form {
  ending: string;
  encode: (bytes: Buffer) => Buffer;
  decode: (stored: Buffer) => Buffer;
}

const asMade: Form = { ending: '', encode: (bytes) => bytes, decode: (stored) => stored };

const brotli: Form = {
  ending: '.br',
  encode: (bytes) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }),
  decode: brotliDecompressSync,
};

const gzip: Form = { ending: '.gz', encode: (bytes) => gzipSync(bytes, { level: 9 }), decode: gunzipSync };

/** A generated file as it is committed. */
export interface StoredFile {
  /** Its path below its folder. */
  path: string;
  /** True if it is up to date. The contents of compressed files are compared, because systems compress differently. */
  isCurrent: () => boolean;
  write: () => void;
}

/** The files in which generated ones are committed: those for browsers compressed, once and for all, in two forms. */
export function storedFiles(files: GeneratedFiles, folder = generatedFolder): StoredFile[] {
  return [...files].flatMap(([path, bytes]) => {
    const forms = path.startsWith('pages/assets/') ? [brotli, gzip] : [asMade];
    return forms.map(({ ending, encode, decode }) => {
      const file = join(root, folder, path + ending);
      return {
        path: path + ending,
        isCurrent: () => existsSync(file) && decode(readFileSync(file)).equals(bytes),
        write: () => {
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, encode(bytes));
        },
      };
    });
  });
}
