import type { OutgoingHttpHeader, ServerResponse } from 'node:http';

/** Headers that an answer may depend on besides its address. */
const variesBy = ['Accept', 'Accept-Encoding', 'Authorization', 'X-API-Key'];

interface Storing {
  cacheControl: string;
  /** True if the answer is the same for every credential. */
  shared: boolean;
}

const never: Storing = { cacheControl: 'no-store', shared: false };
const allowed = new WeakMap<ServerResponse, Storing>();

/** Lets the caller's own client store the answer (`Cache-Control: private`); a shared cache must not. */
export function allowPrivateCaching(response: ServerResponse): void {
  allowed.set(response, { cacheControl: 'private', shared: false });
}

/** Lets any cache store the answer, which is the same for every credential. `Vary` is unchanged. */
export function allowSharedCaching(response: ServerResponse, cacheControl: string): void {
  allowed.set(response, { cacheControl, shared: true });
}

/** Revokes caching: the answer became a failure. */
export function forbidCaching(response: ServerResponse): void {
  allowed.delete(response);
  response.removeHeader('ETag');
}

function mergedVary(sent: OutgoingHttpHeader | undefined): string {
  const others = String(sent ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !variesBy.some((known) => known.toLowerCase() === name.toLowerCase()));
  return [...variesBy, ...others].join(', ');
}

type HeaderPair = readonly [name: string, value: string | string[] | number | undefined];

// `writeHead` takes an object, a list of pairs, or a list of alternating names and values.
function pairsOf(headers: object): HeaderPair[] {
  if (!Array.isArray(headers)) return Object.entries(headers) as HeaderPair[];
  if (Array.isArray(headers[0])) return headers as HeaderPair[];
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]] as const] : []));
}

function setHeaders(response: ServerResponse, headers: object): void {
  const pairs = pairsOf(headers).filter(([, value]) => value !== undefined);
  // Headers given to `writeHead` replace those set before; a list may contain a name twice.
  for (const [name] of pairs) response.removeHeader(name);
  for (const [name, value] of pairs) response.appendHeader(name, Array.isArray(value) ? value : String(value));
}

/**
 * Sets the caching headers of an answer when its headers are sent, overriding the code or library that wrote it. The
 * default is `Cache-Control: no-store` and `Vary` by every credential header; only `allowPrivateCaching` and
 * `allowSharedCaching` permit storing, so no cache can give one caller's answer to another. An answer that closes its
 * connection never announces keep-alive.
 */
export function guardHeaders(response: ServerResponse): void {
  const { writeHead } = response;
  response.writeHead = (status: number, ...rest: unknown[]) => {
    const headers = rest.at(-1);
    // Set one by one: headers given to `writeHead` would be added to, or replace, the ones set here.
    if (typeof headers === 'object' && headers !== null) setHeaders(response, headers);
    const { cacheControl, shared } = allowed.get(response) ?? never;
    response.setHeader('Cache-Control', cacheControl);
    if (!response.shouldKeepAlive) response.setHeader('Connection', 'close');
    if (!shared) response.setHeader('Vary', mergedVary(response.getHeader('Vary')));
    if (typeof rest[0] === 'string') response.statusMessage = rest[0];
    return writeHead.call(response, status);
  };
}
