import { posix } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { bodyText, failureOf, type GetOptions, get, type RequestHeaders } from './get.ts';
import { bucketKey, ObjectError } from './object-address.ts';

/** Location of buckets and credentials, from the AWS_* variables. */
export interface S3Settings {
  /** Address of an S3-compatible store; null = AWS. Buckets are the first part of its paths. */
  endpoint: URL | null;
  region: string;
  /** Null = requests are not signed, which public buckets accept. */
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken: string | null } | null;
}

/** Thrown for an invalid environment variable. */
export class S3SettingsError extends Error {
  override readonly name = 'S3SettingsError';
}

/**
 * Reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION (or AWS_DEFAULT_REGION; us-east-1) and
 * AWS_ENDPOINT_URL_S3 (or AWS_ENDPOINT_URL). Throws `S3SettingsError`; its message contains names, no values.
 */
export function s3Settings(env: Record<string, string | undefined>): S3Settings {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId !== !secretAccessKey)
    throw new S3SettingsError('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: set both, or neither for public buckets');
  const endpointName = env.AWS_ENDPOINT_URL_S3 ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL';
  const endpointText = env[endpointName];
  const endpoint = endpointText ? URL.parse(endpointText) : null;
  if (endpointText && !/^https?:$/.test(endpoint?.protocol ?? ''))
    throw new S3SettingsError(`${endpointName}: expected an address such as https://minio.example:9000`);
  return {
    endpoint,
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1',
    credentials:
      accessKeyId && secretAccessKey
        ? { accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN || null }
        : null,
  };
}

// Everything except RFC 3986's unreserved characters: the signature covers the same bytes.
function encodeKey(key: string): string {
  return encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The address of an object; with an empty key, of its bucket. */
export function objectUrl({ endpoint, region }: S3Settings, bucket: string, key: string): URL {
  const path = encodeKey(key);
  if (endpoint) return new URL(`${endpoint.href.replace(/\/$/, '')}/${bucket}${key === '' ? '' : `/${path}`}`);
  const host = `s3.${region}.amazonaws.com`;
  // The store's certificates do not cover bucket names with dots.
  return bucket.includes('.')
    ? new URL(`https://${host}/${bucket}/${path}`)
    : new URL(`https://${bucket}.${host}/${path}`);
}

/** Signs requests, AWS Signature Version 4. */
export function signing({ credentials, region }: S3Settings): RequestHeaders {
  return async (url, headers) => {
    if (!credentials) return headers;
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const signer = new AwsV4Signer({
      method: 'GET',
      url: url.href,
      headers,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== null && { sessionToken }),
      service: 's3',
      region,
    });
    return Object.fromEntries((await signer.sign()).headers);
  };
}

/** Request for an object of a bucket. The operator chose the endpoint, so it may be `http://`. */
export function s3Get(settings: S3Settings, name: string, signal: AbortSignal | undefined): GetOptions {
  return { name, authorize: signing(settings), allowHttp: true, followRedirects: false, signal };
}

/** A listed object. */
export interface ListedObject {
  key: string;
  size: number;
  etag: string;
}

const mostListBytes = 16 * 1024 * 1024;

function unescaped(text: string): string {
  const names: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (all, hex, decimal, name) =>
    name ? (names[name] ?? all) : String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal)),
  );
}

function element(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text === undefined ? null : unescaped(text);
}

async function* listed(
  settings: S3Settings,
  { bucket, prefix }: { bucket: string; prefix: string },
  options: GetOptions,
): AsyncGenerator<ListedObject> {
  for (let token: string | null = null; ; ) {
    const url = objectUrl(settings, bucket, '');
    // Encoded keys, because XML cannot represent every character.
    url.search = new URLSearchParams({
      'encoding-type': 'url',
      'list-type': '2',
      prefix,
      ...(token !== null && { 'continuation-token': token }),
    })
      .toString()
      .replaceAll('+', '%20');
    const answer = await get(url, {}, options);
    if (answer.statusCode !== 200) throw await failureOf(answer, options.name);
    const xml = await bodyText(answer, mostListBytes);
    if (!xml.includes('ListBucketResult')) throw new ObjectError(options.name, 'the store did not answer with a list');
    const isEncoded = element(xml, 'EncodingType') === 'url';
    for (const [, entry] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const key = element(entry!, 'Key') ?? '';
      yield {
        key: isEncoded ? decodeURIComponent(key.replaceAll('+', ' ')) : key,
        size: Number(element(entry!, 'Size')),
        etag: element(entry!, 'ETag') ?? '',
      };
    }
    token = element(xml, 'IsTruncated') === 'true' ? element(xml, 'NextContinuationToken') : null;
    if (token === null) return;
  }
}

/** True for a name of several objects: a prefix, which ends in a slash, or a pattern. */
export function isPattern(name: string): boolean {
  return name.endsWith('/') || /[*?[{]/.test(name);
}

/** False for auxiliary files of data lakes: folder markers, `_SUCCESS`, hidden files. */
function isData(key: string): boolean {
  return !/(^|\/)[_.][^/]*$/.test(key) && !key.endsWith('/');
}

/** The objects of a prefix or pattern, in the order of their names. Throws `ObjectError`. */
export async function expandS3(
  settings: S3Settings,
  pattern: string,
  signal: AbortSignal | undefined,
): Promise<ListedObject[]> {
  const { bucket, key } = bucketKey(pattern);
  const prefix = /^[^*?[{]*/.exec(key)![0];
  const found: ListedObject[] = [];
  for await (const object of listed(settings, { bucket, prefix }, s3Get(settings, pattern, signal)))
    if (isData(object.key) && (key === prefix || posix.matchesGlob(object.key, key))) found.push(object);
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
}
