import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { failureOf, type GetOptions, get } from './get.ts';
import { ObjectError } from './object-address.ts';

/** An object to read. */
export interface RemoteObject {
  url: URL;
  /** ETag from the listing; null = unknown before it is read. */
  etag: string | null;
  get: GetOptions;
}

/** Progress of a download; `total` is null while unknown. */
export type OnDownload = (bytes: number, total: number | null) => void;

// Maximum number of consecutive attempts without any data.
const mostFailures = 5;
const firstPauseMs = 250;

/** Identity of an object, by the headers of the first response. */
interface Identity {
  etag: string | null;
  lastModified: string | null;
  /** Size, bytes; null = not given by the server. */
  size: number | null;
  checksum: Checksum | null;
}

interface Checksum {
  name: string;
  expected: string;
  update(bytes: Buffer): void;
  digest(): string;
}

function crc32Sum(): Pick<Checksum, 'update' | 'digest'> {
  let sum = 0;
  return {
    update: (bytes) => {
      sum = crc32(bytes, sum);
    },
    digest: () => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(sum >>> 0);
      return bytes.toString('base64');
    },
  };
}

function hashSum(algorithm: string): Pick<Checksum, 'update' | 'digest'> {
  const hash = createHash(algorithm);
  return { update: (bytes) => hash.update(bytes), digest: () => hash.digest('base64') };
}

/**
 * The checksum of the whole object that a store sends; a checksum of an upload's parts (`…-3`) does not cover the
 * whole.
 */
function checksumOf(headers: IncomingHttpHeaders): Checksum | null {
  for (const name of ['sha256', 'sha1', 'crc32']) {
    const expected = headers[`x-amz-checksum-${name}`];
    if (typeof expected !== 'string' || expected.includes('-')) continue;
    return { name, expected, ...(name === 'crc32' ? crc32Sum() : hashSum(name)) };
  }
  return null;
}

function identityOf({ headers }: IncomingMessage): Identity {
  const length = headers['content-length'];
  return {
    etag: headers.etag ?? null,
    lastModified: headers['last-modified'] ?? null,
    size: length === undefined ? null : Number(length),
    checksum: checksumOf(headers),
  };
}

/** A weak validator may be the same for different bytes. */
function isStrong(etag: string | null): etag is string {
  return etag?.startsWith('"') === true;
}

function rangeHeaders(at: number, { etag }: Pick<Identity, 'etag'>): Record<string, string> {
  return {
    ...(at > 0 ? { range: `bytes=${at}-` } : { 'x-amz-checksum-mode': 'ENABLED' }),
    ...(isStrong(etag) && { 'if-match': etag }),
  };
}

/** Offset of a response's body; null if it is not the requested part. */
function startOf({ statusCode, headers }: IncomingMessage): number | null {
  if (statusCode === 200) return 0;
  const [, start] = /^bytes (\d+)-\d+\/(?:\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
  return statusCode === 206 && start !== undefined ? Number(start) : null;
}

function sameObject({ etag, lastModified }: Identity, { headers }: IncomingMessage): boolean {
  return etag === (headers.etag ?? null) && lastModified === (headers['last-modified'] ?? null);
}

/** True for errors that a retry does not fix: certificates, unknown hosts, a full disk. */
function isLasting(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  return error instanceof ObjectError || /CERT|^ERR_TLS|^ENOTFOUND$|^ENOSPC$/.test(code);
}

/** A connection error of every address has a code and no message. */
function messageOf(error: unknown): string {
  const { message, code } = error as { message: string; code?: string };
  return message || code || 'unknown error';
}

function mayPass(status: number): boolean {
  return status === 429 || status >= 500;
}

/** A download of one object to a file. */
class Download {
  readonly #object: RemoteObject;
  readonly #file: FileHandle;
  readonly #onBytes: OnDownload;
  #identity: Identity | null = null;
  #at = 0;

  constructor(object: RemoteObject, file: FileHandle, onBytes: OnDownload) {
    this.#object = object;
    this.#file = file;
    this.#onBytes = onBytes;
  }

  get at(): number {
    return this.#at;
  }

  #error(reason: string): ObjectError {
    return new ObjectError(this.#object.get.name, reason);
  }

  async #restart(identity: Identity): Promise<void> {
    this.#identity = identity;
    this.#at = 0;
    await this.#file.truncate(0);
  }

  /** Downloads the missing part. Throws `ObjectError` for a permanent failure, anything else if a retry may succeed. */
  async attempt(): Promise<void> {
    const { url, get: options } = this.#object;
    const answer = await get(url, rangeHeaders(this.#at, this.#identity ?? this.#object), options);
    if (mayPass(answer.statusCode!)) throw new Error((await failureOf(answer, '')).message.slice(2));
    if (answer.statusCode !== 200 && answer.statusCode !== 206) throw await failureOf(answer, options.name);
    try {
      await this.#accept(answer);
      for await (const bytes of answer as AsyncIterable<Buffer>) {
        await this.#file.write(bytes, 0, bytes.length, this.#at);
        this.#identity!.checksum?.update(bytes);
        this.#at += bytes.length;
        this.#onBytes(this.#at, this.#identity!.size);
      }
    } finally {
      answer.destroy();
    }
    this.#verify();
  }

  async #accept(answer: IncomingMessage): Promise<void> {
    const { 'content-encoding': coding = 'identity', 'transfer-encoding': transfer } = answer.headers;
    if (!['identity', 'gzip', 'zstd', 'aws-chunked', ''].includes(coding))
      throw this.#error(`sent with Content-Encoding ${JSON.stringify(coding)}; expected none, gzip or zstd`);
    const start = startOf(answer);
    if (start === null || (start !== 0 && start !== this.#at))
      throw this.#error('the server sent another range than the one asked for');
    if (this.#identity && !sameObject(this.#identity, answer))
      throw this.#error('it changed while it was read; ingest it again');
    if (start > 0) return;
    const identity = identityOf(answer);
    if (identity.size === null && transfer !== 'chunked')
      throw this.#error('the server does not state its length, so a cut could not be noticed');
    await this.#restart(identity);
  }

  #verify(): void {
    const { size, checksum } = this.#identity!;
    if (size !== null && this.#at < size) throw new Error(`the connection ended after ${this.#at} of ${size} bytes`);
    if (size !== null && this.#at > size) throw this.#error(`expected ${size} bytes, received ${this.#at}`);
    if (checksum && checksum.digest() !== checksum.expected)
      throw this.#error(`the ${checksum.name} checksum of what was received differs from the store's`);
  }
}

/**
 * Downloads an object to a file. After a broken connection it resumes, if the object is unchanged. Returns once length
 * and, if the store sends one, checksum match. Throws `ObjectError`; when aborted, the reason.
 */
export async function download(
  object: RemoteObject,
  path: string,
  onBytes: OnDownload,
  pauseMs = firstPauseMs,
): Promise<void> {
  const { name, signal } = object.get;
  const file = await open(path, 'w');
  try {
    const reading = new Download(object, file, onBytes);
    for (let failures = 0, before = 0; ; before = reading.at) {
      try {
        await reading.attempt();
        return;
      } catch (error) {
        signal?.throwIfAborted();
        if (isLasting(error)) throw error instanceof ObjectError ? error : new ObjectError(name, messageOf(error));
        failures = reading.at > before ? 1 : failures + 1;
        if (failures === mostFailures)
          throw new ObjectError(name, `gave up after ${mostFailures} attempts (${messageOf(error)})`);
        await delay(pauseMs * 2 ** (failures - 1), undefined, signal ? { signal } : {});
      }
    }
  } finally {
    await file.close();
  }
}
