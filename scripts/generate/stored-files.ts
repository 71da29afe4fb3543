import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import type { GeneratedFiles } from './generated-files.ts';

/** Where generated files are committed. */
export const generatedFolder = join(import.meta.dirname, '../../generated');

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

/** A file below `generated/`. */
export interface StoredFile {
  /** Its path there. */
  path: string;
  /** True if it is up to date. The contents of compressed files are compared, because systems compress differently. */
  isCurrent: () => boolean;
  write: () => void;
}

/** The files in which generated ones are committed: those for browsers compressed, once and for all, in two forms. */
export function storedFiles(files: GeneratedFiles): StoredFile[] {
  return [...files].flatMap(([path, bytes]) => {
    const forms = path.startsWith('pages/assets/') ? [brotli, gzip] : [asMade];
    return forms.map(({ ending, encode, decode }) => {
      const file = join(generatedFolder, path + ending);
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
