import type { Random } from '../support/random.ts';

const values: Record<string, readonly string[]> = {
  accept: [
    '',
    '*/*',
    'application/x-protobuf',
    'application/x-protobuf;q=abc',
    'text/csv',
    'application/vnd.apache.arrow.stream',
    'application/vnd.apache.parquet',
    'application/x-ndjson',
    'application/graphql-response+json',
    'multipart/mixed;deferSpec=20220824',
    'text/html',
    'a/b;;;',
    ',,,',
    'application/json;q=0',
    'a/b,'.repeat(400),
  ],
  'accept-encoding': ['br;q=2', 'gzip', 'gzip;q=0', 'identity;q=0', '*;q=0', ',', 'x'.repeat(2000), 'br', 'zstd'],
  'content-encoding': ['gzip', 'br', 'deflate', 'identity', 'x'],
  'if-none-match': ['*', '"', 'W/', `"${'a'.repeat(5000)}"`, ',,,', '"a", W/"b"'],
  'if-modified-since': ['x', 'Thu, 01 Jan 0001 00:00:00 GMT'],
  'x-request-id': ['', ' ', 'a b', 'x'.repeat(300), '../', 'fine-1'],
  'x-api-key': ['tg_live_', 'garbage', 'x'.repeat(9000), 'é', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'],
  authorization: [
    '',
    'Bearer',
    'Bearer  ',
    'Basic eDp4',
    'Bearer a.b.c',
    'bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.',
    `Bearer ${'x'.repeat(9000)}`,
    'Bearer tg_live_x',
    'Digest',
  ],
  'last-event-id': ['', 'x', '0', 'A'.repeat(5000), 'MS4xLmFiY2RlZmdoaWprbA'],
  'x-graphql-event-stream-token': ['', 'x', '00000000-0000-0000-0000-000000000000'],
  'mcp-protocol-version': ['2025-06-18', '2024-11-05', '1999-01-01', '', 'x'.repeat(500)],
  'mcp-session-id': ['x', '1'],
  range: ['bytes=0-', 'bytes=-1', 'x'],
  origin: ['null', 'http://', 'https://evil.example.com', 'http://localhost:3000'],
  host: ['evil.example.com', 'localhost:1', '[::1]'],
  cookie: ['a=b; '.repeat(100)],
  'x-http-method-override': ['DELETE'],
  'x-forwarded-for': ['1, 2, 3', '127.0.0.1', '203.0.113.9'],
  forwarded: ['for=127.0.0.1;proto=https', 'for="[::1'],
  'x-forwarded-proto': ['https'],
  upgrade: ['websocket', 'h2c'],
  traceparent: ['00-0-0-0', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'x'.repeat(600)],
  te: ['trailers'],
};

/** Up to two headers, most of them malformed or unusual. */
export function someHeaders(random: Random): Record<string, string> {
  const names = Object.keys(values);
  const picked = Array.from({ length: random.below(3) }, () => random.pick(names));
  return Object.fromEntries(picked.map((name) => [name, random.pick(values[name]!)]));
}

/** Content types, one of which each endpoint with a body reads. */
export const contentTypes = [
  'application/json',
  'application/json; charset=utf-16',
  'application/merge-patch+json',
  'application/graphql',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/csv',
  'x',
  '/',
  '',
];
