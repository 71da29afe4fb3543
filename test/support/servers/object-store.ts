import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';

export const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'not/a+secret', sessionToken: 'session-token' };

/** A test's handler of an answer before it is sent: true = the test answered itself. */
export type Intercept = (request: IncomingMessage, response: ServerResponse, body: Buffer) => boolean;

/** A store of one bucket, `lake`, that verifies Signature Version 4 as AWS does. */
export interface ObjectStore {
  url: string;
  objects: Map<string, Buffer>;
  /** The requests: method, path and range. */
  requests: string[];
  /** Environment variables for a client. */
  env: Record<string, string>;
  intercept: Intercept;
  /** Number of keys per page of a list. */
  pageSize: number;
  close(): Promise<void>;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** The signature that a request must have, from what is on the wire alone. */
function isSigned(request: IncomingMessage, region: string): boolean {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})$/.exec(
      request.headers.authorization ?? '',
    );
  if (!match || match[1] !== credentials.accessKeyId || match[3] !== region) return false;
  const [, , day, , signedHeaders, signature] = match as unknown as string[];
  if (request.headers['x-amz-security-token'] !== credentials.sessionToken) return false;
  const [path, query = ''] = request.url!.split('?');
  const headers = signedHeaders!.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const canonical = [
    request.method,
    path,
    query.split('&').sort().join('&'),
    headers.join(''),
    signedHeaders,
    request.headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [region, 's3', 'aws4_request'].reduce(
    (previous, part) => hmac(previous, part),
    hmac(`AWS4${credentials.secretAccessKey}`, day!),
  );
  return hmac(key, toSign).toString('hex') === signature && /host/.test(signedHeaders!);
}

export function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

function fail(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status)
    .end(`<Error><Code>${code}</Code><Message>${credentials.secretAccessKey}</Message></Error>`);
}

function list(store: ObjectStore, url: URL, response: ServerResponse): void {
  const prefix = url.searchParams.get('prefix') ?? '';
  const from = Number(url.searchParams.get('continuation-token') ?? 0);
  const keys = [...store.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  const page = keys.slice(from, from + store.pageSize);
  const next = from + store.pageSize;
  const contents = page.map((key) => {
    const body = store.objects.get(key)!;
    return `<Contents><Key>${escaped(encodeURIComponent(key))}</Key><ETag>${escaped(etagOf(body))}</ETag><Size>${body.length}</Size></Contents>`;
  });
  const more = next < keys.length;
  response.end(
    `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${
      more ? `<NextContinuationToken>${next}</NextContinuationToken>` : ''
    }${contents.join('')}</ListBucketResult>`,
  );
}

/** Sends an object, whole or from a byte on; gives the status and code of why not. */
function send(
  store: ObjectStore,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): [number, string] | null {
  const body = store.objects.get(key);
  if (!body) return [404, 'NoSuchKey'];
  const etag = etagOf(body);
  const { range, 'if-match': ifMatch } = request.headers;
  if (ifMatch !== undefined && ifMatch !== etag) return [412, 'PreconditionFailed'];
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  const headers = { etag, ...(range === undefined && { 'x-amz-checksum-crc32': sum.toString('base64') }) };
  if (store.intercept(request, response, body)) return null;
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? 'bytes=0-')![1]);
  const part = body.subarray(start);
  response
    .writeHead(range === undefined ? 200 : 206, {
      ...headers,
      'content-length': part.length,
      ...(range !== undefined && { 'content-range': `bytes ${start}-${body.length - 1}/${body.length}` }),
    })
    .end(part);
  return null;
}

export async function objectStore(region = 'eu-central-1'): Promise<ObjectStore> {
  const answer = (request: IncomingMessage, response: ServerResponse): [number, string] | null => {
    if (!isSigned(request, region)) return [403, 'SignatureDoesNotMatch'];
    const url = new URL(request.url!, 'http://localhost');
    const [, bucket, ...key] = url.pathname.split('/').map(decodeURIComponent);
    if (bucket !== 'lake') return [404, 'NoSuchBucket'];
    if (key.length > 0) return send(store, key.join('/'), request, response);
    list(store, url, response);
    return null;
  };
  const server: Server = createServer((request, response) => {
    store.requests.push(`${request.method} ${request.url!.split('?')[0]} ${request.headers.range ?? 'whole'}`);
    const failure = answer(request, response);
    if (failure) fail(response, ...failure);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store: ObjectStore = {
    url,
    objects: new Map(),
    requests: [],
    env: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
      AWS_REGION: region,
      AWS_ENDPOINT_URL: url,
    },
    intercept: () => false,
    pageSize: 1000,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return store;
}
