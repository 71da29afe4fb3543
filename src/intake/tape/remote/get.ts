import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isLoopback, ObjectError, shownUrl } from './object-address.ts';

/** Headers of one request to `url`: signed or with a password if it is sent to the intended host. */
export type RequestHeaders = (url: URL, headers: Record<string, string>) => Promise<Record<string, string>>;

export interface GetOptions {
  /** Name of the object in errors. */
  name: string;
  authorize: RequestHeaders;
  /** True if requests over `http://` to other machines are allowed. */
  allowHttp: boolean;
  /** False for a signed request: its signature is valid for one host. */
  followRedirects: boolean;
  signal: AbortSignal | undefined;
}

const mostRedirects = 5;
const idleMs = 60_000;

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function send(
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
  method: string,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(
    url,
    // Unencoded: content that is compressed in transit has another length, and cannot be resumed.
    { method, headers: { 'accept-encoding': 'identity', ...headers }, ...(signal && { signal }) },
    resolve,
  );
  request.on('error', reject);
  request.setTimeout(idleMs, () => request.destroy(new Error(`no data for ${idleMs / 1000} seconds`)));
  request.end();
  return promise;
}

function check(name: string, url: URL, allowHttp: boolean): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new ObjectError(name, `cannot read ${url.protocol}// addresses`);
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url))
    throw new ObjectError(
      name,
      `http://${url.host} is not encrypted; use https://, or --allow-http if the network is trusted`,
    );
}

/**
 * Sends one GET (or HEAD) and returns the response of any status with its body unread; redirects are followed.
 * Credentials are sent to the host of `url` only. Throws `ObjectError` for an address that must not be read, else the
 * connection's error.
 */
export async function get(
  url: URL,
  headers: Record<string, string>,
  { name, authorize, allowHttp, followRedirects, signal }: GetOptions,
  method = 'GET',
): Promise<IncomingMessage> {
  let at = new URL(url);
  for (let redirects = 0; ; redirects++) {
    check(name, at, allowHttp);
    const bare = new URL(at);
    bare.username = '';
    bare.password = '';
    bare.hash = '';
    const own = at.origin === url.origin ? await authorize(bare, headers) : headers;
    const answer = await send(bare, own, signal, method);
    const { location } = answer.headers;
    if (!followRedirects || !isRedirect(answer.statusCode!) || location === undefined) return answer;
    answer.destroy();
    if (redirects === mostRedirects) throw new ObjectError(name, `more than ${mostRedirects} redirects`);
    const next = URL.parse(location, at);
    if (!next) throw new ObjectError(name, 'redirected to an invalid URL');
    if (at.protocol === 'https:' && next.protocol !== 'https:')
      throw new ObjectError(name, `redirected from https to ${shownUrl(next)}`);
    at = next;
  }
}

/** The body of a short response as text, at most `most` bytes. */
export async function bodyText(answer: IncomingMessage, most: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    if (size > most) {
      answer.destroy();
      break;
    }
  }
  return Buffer.concat(parts).toString('utf8');
}

const mostErrorBytes = 64 * 1024;

const usual: Record<number, string> = {
  401: 'not authorized (401)',
  403: 'access denied (403)',
  404: 'no such object (404)',
  412: 'it changed while it was read; ingest it again',
};

/**
 * The reason of a store's error, by its code if it has one, such as `NoSuchKey` and `SignatureDoesNotMatch`. Their
 * messages may repeat keys and signatures, and are omitted.
 */
export async function failureOf(answer: IncomingMessage, name: string): Promise<ObjectError> {
  const status = answer.statusCode!;
  const text = await bodyText(answer, mostErrorBytes).catch(() => '');
  const code = /<Code>([A-Za-z0-9.]{1,80})<\/Code>/.exec(text)?.[1];
  const region = answer.headers['x-amz-bucket-region'];
  const reason = usual[status] ?? `the server answered ${status}`;
  const parts = [code && status !== 412 ? `${reason}: ${code}` : reason];
  if (typeof region === 'string' && /^[a-z0-9-]+$/.test(region) && status >= 300 && status < 402)
    parts.push(`the bucket is in ${region}: set AWS_REGION`);
  return new ObjectError(name, parts.join('; '));
}
