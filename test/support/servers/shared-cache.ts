import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A shared cache on a loopback port, in front of an origin. */
export interface SharedCache {
  url: string;
  close(): Promise<void>;
}

interface Stored {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The request's headers that `Vary` names. */
  selecting: IncomingHttpHeaders;
  /** May be given again only once the origin has said that it still holds. */
  mustRevalidate: boolean;
}

/** RFC 9110 15.1: what may be stored although nothing is said of its age. */
const heuristicallyCacheable = new Set([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]);

function directives(headers: IncomingHttpHeaders): Map<string, string> {
  const parts = String(headers['cache-control'] ?? '').split(',');
  return new Map(
    parts.map((part) => {
      const [name = '', value = ''] = part.trim().toLowerCase().split('=');
      return [name, value];
    }),
  );
}

/** RFC 9111 3 and 3.5, and nothing stricter: a cache that stores whatever the standard lets it. */
function mayStore(request: IncomingMessage, status: number, headers: IncomingHttpHeaders): boolean {
  const said = directives(headers);
  if (request.method !== 'GET' || said.has('no-store') || said.has('private') || headers.vary === '*') return false;
  if (
    request.headers.authorization !== undefined &&
    !['public', 'must-revalidate', 's-maxage'].some((name) => said.has(name))
  )
    return false;
  const explicit = ['public', 'max-age', 's-maxage'].some((name) => said.has(name)) || headers.expires !== undefined;
  return explicit || heuristicallyCacheable.has(status);
}

const variedBy = (headers: IncomingHttpHeaders) =>
  String(headers.vary ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');

function selects({ headers, selecting }: Stored, request: IncomingMessage): boolean {
  return variedBy(headers).every((name) => selecting[name] === request.headers[name]);
}

function give(
  response: ServerResponse,
  { status, headers, body }: Stored,
  request: IncomingMessage,
  how: string,
): void {
  const { 'transfer-encoding': _, connection: __, ...kept } = headers;
  response.writeHead(status, { ...kept, 'x-cache': how, ...(how === 'hit' ? { age: '1' } : {}) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Asks the origin; resolves when its headers are there. */
async function ask(origin: URL, request: IncomingMessage, headers: IncomingHttpHeaders): Promise<IncomingMessage> {
  const asked = http.request({
    hostname: origin.hostname,
    port: origin.port,
    method: request.method,
    path: request.url,
    headers: { ...headers, 'x-forwarded-for': request.socket.remoteAddress },
  });
  request.pipe(asked);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

/**
 * Starts a shared cache that stores and reuses everything that RFC 9111 allows, for as long as it runs (a heuristic age
 * is the cache's own choice). Every answer has an `x-cache` of `hit`, `revalidated`, or `miss`. Answers that must not
 * be stored are streamed through.
 */
export async function sharedCache(originUrl: string): Promise<SharedCache> {
  const origin = new URL(originUrl);
  const stored = new Map<string, Stored[]>();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = request.url!;
    const reads = request.method === 'GET' || request.method === 'HEAD';
    const known = reads ? stored.get(key)?.find((each) => selects(each, request)) : undefined;
    if (known && !known.mustRevalidate) return give(response, known, request, 'hit');
    const conditions = known?.headers.etag === undefined ? {} : { 'if-none-match': known.headers.etag };
    const answer = await ask(origin, request, { ...request.headers, ...conditions });
    if (known && answer.statusCode === 304) {
      answer.resume();
      return give(response, known, request, 'revalidated');
    }
    if (!mayStore(request, answer.statusCode!, answer.headers)) {
      if (!reads) stored.delete(key);
      response.writeHead(answer.statusCode!, { ...answer.headers, 'x-cache': 'miss' });
      response.flushHeaders();
      answer.pipe(response);
      response.on('close', () => answer.destroy());
      return;
    }
    const body = await buffer(answer);
    const selecting = Object.fromEntries(variedBy(answer.headers).map((name) => [name, request.headers[name]]));
    const fresh: Stored = {
      status: answer.statusCode!,
      headers: answer.headers,
      body,
      selecting,
      mustRevalidate: directives(answer.headers).has('no-cache'),
    };
    stored.set(key, [...(stored.get(key) ?? []).filter((each) => each !== known), fresh]);
    give(response, fresh, request, 'miss');
  }

  const server = http.createServer((request, response) => {
    serve(request, response).catch((error: Error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
