import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gunzip, gzip } from 'node:zlib';
import { type Request, type Response, Router } from 'express';
import { methodNotAllowed } from '../domain/failure.ts';
import { matchesTag } from '../rest/http/respond.ts';
import { allowSharedCaching } from '../runtime/http/cache-headers.ts';
import { type AssetFile, assetFiles, packageImports } from './asset-files.ts';
import { modulesOf } from './module-graph.ts';

const compressors = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 7 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
};
type Encoding = keyof typeof compressors | 'identity';

/** A worker has no page whose policy holds for it: it may load scripts of this server and ask it. */
const workerSecurity = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'";
const isWorker = (path: string) => path.endsWith('/live-worker.ts');

/** The files of the pages, under an address that changes when any of them does. */
export interface Assets {
  /** The address of a file, by its path in src/pages, e.g. `style.css` or `dashboard/client/main.ts`. */
  address: (path: string) => string;
  /** Addresses of the packages that browser code imports by name, as an import map. */
  importMap: string;
  /** Addresses of the modules that some scripts, given by their paths, need before they run, without themselves. */
  modulesOf: (scripts: readonly string[]) => Promise<readonly string[]>;
  router: Router;
}

/**
 * Bytes in the encodings they were asked for in, each compressed once. Plain bytes are made of those: only small files
 * are cached.
 */
function encodings({ read }: AssetFile): (encoding: Encoding) => Promise<Buffer> {
  const made = new Map<Encoding, Promise<Buffer>>();
  const compressed = (encoding: keyof typeof compressors) => {
    const bytes = made.get(encoding) ?? read().then(compressors[encoding]);
    made.set(encoding, bytes);
    // What could not be read is read again by who asks next.
    bytes.catch(() => made.delete(encoding));
    return bytes;
  };
  return (encoding) => (encoding === 'identity' ? compressed('gzip').then(promisify(gunzip)) : compressed(encoding));
}

/** Files change with a new version of the program alone: all bear one hash of their versions. */
function versionOf(files: readonly AssetFile[]): string {
  const hash = createHash('sha256');
  for (const { path, version } of files) hash.update(path).update('\0').update(version);
  return hash.digest('base64url').slice(0, 12);
}

/**
 * What pages load: style sheets, scripts (TypeScript of ours with its types taken off), the packages they import, and
 * what was `made` when the server started.
 */
export function openAssets(made: readonly AssetFile[]): Assets {
  const files = [...assetFiles(), ...made].sort((one, other) => (one.path < other.path ? -1 : 1));
  const version = versionOf(files);
  const byPath = new Map(files.map((file) => [file.path, { ...file, bytes: encodings(file) }]));
  const address = (path: string): string => {
    if (!byPath.has(path)) throw new Error(`${path} is no file of the pages`);
    return `/assets/${version}/${path}`;
  };

  const modules = new Map<string, Promise<readonly string[]>>();
  const read = async (path: string) => (await byPath.get(path)!.read()).toString();
  const modulesOfScript = (script: string) => {
    const found = modules.get(script) ?? modulesOf(script, { read, packages: packageImports });
    modules.set(script, found);
    found.catch(() => modules.delete(script));
    return found;
  };

  async function send(request: Request, response: Response, next: () => void): Promise<void> {
    const { version: asked, path } = request.params as unknown as { version: string; path: string[] };
    const found = byPath.get(path.join('/'));
    if (!found) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(request.method, ['GET', 'HEAD']);
    const encoding = (request.acceptsEncodings(['br', 'gzip', 'identity']) || 'identity') as Encoding;
    const tag = `"${version}-${encoding}"`;
    response.vary('Accept-Encoding');
    response.setHeader('ETag', tag);
    // An address of another version comes from a page that another process sent: it gets what there is, and asks again.
    allowSharedCaching(response, asked === version ? 'public, max-age=31536000, immutable' : 'no-cache');
    if (matchesTag(request.headers['if-none-match'], tag)) return void response.status(304).end();
    const bytes = await found.bytes(encoding);
    if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
    response.setHeader('Content-Type', found.contentType);
    if (isWorker(found.path)) response.setHeader('Content-Security-Policy', workerSecurity);
    response.setHeader('Content-Length', bytes.length);
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }

  return {
    address,
    importMap: JSON.stringify({
      imports: Object.fromEntries(Object.entries(packageImports).map(([name, path]) => [name, address(path)])),
    }),
    modulesOf: async (scripts) => {
      const needed = new Set((await Promise.all(scripts.map(modulesOfScript))).flat());
      return [...needed].filter((path) => !scripts.includes(path)).map(address);
    },
    router: Router({ caseSensitive: true }).all('/assets/:version/*path', send),
  };
}
