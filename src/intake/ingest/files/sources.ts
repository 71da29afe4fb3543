import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { temporaryFolder } from '../../../platform/runtime/folders.ts';
import type { OnDownload, RemoteObject } from '../../tape/remote/download.ts';
import type { RequestHeaders } from '../../tape/remote/get.ts';
import { bucketKey, isRemote, ObjectError, requireOwnUrl, shownUrl } from '../../tape/remote/object-address.ts';
import { expandPatterns, NoSuchFileError } from './file-patterns.ts';

/** Settings of reading remote objects. */
export interface RemoteSettings {
  /** The AWS_* variables of `s3://`. */
  env: Record<string, string | undefined>;
  /** True if `http://` may be read from other machines too. */
  allowHttp?: boolean;
}

/** A file to read, local or remote. */
export interface Source {
  /** A path, or an address without secrets, for reports. */
  name: string;
  /** Size, bytes; null = unknown before it is read. */
  size: number | null;
  /** Null = a local file, at `name`. */
  remote: RemoteObject | null;
}

/** Moves a password in an address to a header; a signed query is unchanged. */
function passwordOf({ username, password }: URL): RequestHeaders {
  if (username === '' && password === '') return async (_, headers) => headers;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  return async (_, headers) => ({ ...headers, authorization });
}

function urlSource(text: string, { allowHttp = false }: RemoteSettings, signal: AbortSignal | undefined): Source {
  const url = URL.parse(text);
  // The text is not repeated, because it may contain a password.
  if (!url) throw new ObjectError('an address that begins with http', 'is not a URL');
  const name = shownUrl(url);
  const get = { name, authorize: passwordOf(url), allowHttp, followRedirects: true, signal };
  return { name, size: null, remote: { url, etag: null, get } };
}

async function s3Sources(pattern: string, { env }: RemoteSettings, signal: AbortSignal | undefined): Promise<Source[]> {
  const { expandS3, isPattern, objectUrl, s3Get, s3Settings } = await import('../../tape/remote/s3.ts');
  const settings = s3Settings(env);
  const { bucket, key } = bucketKey(pattern);
  const source = (key: string, size: number | null, etag: string | null): Source => {
    const name = `s3://${bucket}/${key}`;
    // A listing may name it too.
    requireOwnUrl(name, { bucket, key });
    return {
      name,
      size,
      remote: { url: objectUrl(settings, bucket, key), etag, get: s3Get(settings, name, signal) },
    };
  };
  if (!isPattern(pattern) && key !== '') return [source(key, null, null)];
  const found = await expandS3(settings, pattern, signal);
  if (found.length === 0) throw new NoSuchFileError(`${pattern}: no such object`);
  return found.map(({ key, size, etag }) => source(key, size, etag || null));
}

/**
 * Expands names, patterns and addresses to sources without duplicates, in the given order and ascending within a
 * pattern or prefix. Throws for a name or pattern without a file, `ObjectError` for an address that cannot be read.
 */
export async function expandSources(
  names: readonly string[],
  settings: RemoteSettings,
  signal?: AbortSignal,
): Promise<Source[]> {
  const sources = new Map<string, Source>();
  const add = (source: Source) => {
    const id = source.remote?.url.href ?? source.name;
    if (!sources.has(id)) sources.set(id, source);
  };
  for (const name of names) {
    if (!isRemote(name))
      for (const path of await expandPatterns([name])) add({ name: path, size: (await stat(path)).size, remote: null });
    else if (/^s3:/i.test(name)) for (const source of await s3Sources(name, settings, signal)) add(source);
    else add(urlSource(name, settings, signal));
  }
  return [...sources.values()];
}

/** A file name for an address, which may contain the session or the kind of file. */
function fileName({ name }: Source): string {
  const last = basename(name).replaceAll('\0', '');
  return /^\.*$/.test(last) ? 'object' : last.slice(-200);
}

/**
 * Local copies of remote objects: read twice, by bytes and by records, an object is downloaded once, and nothing is
 * stored of an incomplete one.
 */
export class Spool {
  readonly #folders = new Set<string>();
  readonly #parent: string;

  constructor(parent = tmpdir()) {
    this.#parent = parent;
  }

  /** The path of a source; a remote one is downloaded first. Throws `ObjectError`. */
  async path(source: Source, onBytes: OnDownload = () => {}): Promise<string> {
    if (!source.remote) return source.name;
    const folder = await temporaryFolder('object', this.#parent);
    this.#folders.add(folder);
    const path = join(folder, fileName(source));
    const { download } = await import('../../tape/remote/download.ts');
    await download(source.remote, path, onBytes);
    return path;
  }

  /** Removes the downloads. */
  async clear(): Promise<void> {
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
    this.#folders.clear();
  }
}
