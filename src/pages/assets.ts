import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Request, type Response, Router } from 'express';
import { allowSharedCaching } from '../platform/http/cache-headers.ts';
import { methodNotAllowed } from '../platform/wire/failure.ts';
import { matchesTag } from '../rest/http/respond.ts';

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** The files of the pages, each under an address that changes when its content does. */
export interface Assets {
  /** The address of a file, by its path, e.g. `site.css` or `dashboard/client/main.js`. */
  address: (path: string) => string;
  /** Addresses of the modules that some scripts, given by their paths, import, directly or not, without themselves. */
  modulesOf: (scripts: readonly string[]) => readonly string[];
  router: Router;
}

/** Uncompressed requests are rare, except for small files: every browser accepts one of the encodings. */
const bytesOf = async ({ compressed }: AssetFile, encoding: Compression | 'identity') =>
  encoding === 'identity' ? promisify(gunzip)(await compressed('gzip')) : compressed(encoding);

/** Files of the pages: those of the build, and those that `make` creates when the first file is asked for. */
export function openAssets(make: () => readonly AssetFile[]): Assets {
  let byPath: Map<string, AssetFile> | null = null;
  const found = (path: string) => {
    byPath ??= new Map([...builtAssets, ...make()].map((file) => [file.path, file]));
    return byPath.get(path);
  };
  const fileAt = (path: string): AssetFile => {
    const file = found(path);
    if (!file) throw new Error(`${path} is no file of the pages: npm run build makes those that its list names`);
    return file;
  };
  const address = (path: string) => `/assets/${fileAt(path).hash}/${path}`;

  async function send(request: Request, response: Response, next: () => void): Promise<void> {
    const { hash: asked, path } = request.params as unknown as { hash: string; path: string[] };
    const file = found(path.join('/'));
    if (!file) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(request.method, ['GET', 'HEAD']);
    const encoding = (request.acceptsEncodings(['br', 'gzip', 'identity']) || 'identity') as Compression | 'identity';
    const tag = `"${file.hash}-${encoding}"`;
    response.vary('Accept-Encoding');
    response.setHeader('ETag', tag);
    // An address with another hash is from a page that another process sent: it gets the current file, and is not
    // cached.
    allowSharedCaching(response, asked === file.hash ? 'public, max-age=31536000, immutable' : 'no-cache');
    if (matchesTag(request.headers['if-none-match'], tag)) return void response.status(304).end();
    const bytes = await bytesOf(file, encoding);
    if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
    response.setHeader('Content-Type', contentTypes[extname(file.path)]!);
    response.setHeader('Content-Length', bytes.length);
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }

  return {
    address,
    modulesOf: (scripts) => {
      const needed = new Set(scripts.flatMap((path) => fileAt(path).modules));
      return [...needed].filter((path) => !scripts.includes(path)).map(address);
    },
    router: Router({ caseSensitive: true }).all('/assets/:hash/*path', send),
  };
}

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
const builtAssets: readonly AssetFile[] = Object.entries(assets).map(([path, { hash, modules = [] }]) => {
  const compressed = {
    br: readFileSync(join(folder, `assets/${path}.br`)),
    gzip: readFileSync(join(folder, `assets/${path}.gz`)),
  };
  return { path, hash, modules, compressed: async (encoding) => compressed[encoding] };
});

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
