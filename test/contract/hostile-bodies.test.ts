import { execFile } from 'node:child_process';
import http from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { rawClient, sentBlindly } from '../support/raw-client.ts';

let app: TestApp;
let key: string;
let port: number;
const logLines: string[] = [];
beforeAll(async () => {
  app = await testApp({ env: { LOG_LEVEL: 'info' }, logLines });
  key = await app.key();
  port = Number(new URL(app.url).port);
});
afterAll(async () => {
  expect(logLines).toEqual([]);
  await app.close();
});

/**
 * Every endpoint that reads a body, and two that do not: bytes that are too many, and the code of a failure in the
 * endpoint's form.
 */
interface Endpoint {
  method: string;
  path: string;
  type: string;
  bytes: number;
  /** Status of a body that is too large; 413 unless the request is wrong otherwise. */
  status?: number;
  codeOf: (body: Json) => unknown;
}
const KiB = 1024;
const json = 'application/json';
const envelope = (body: Json) => body.error.code;
const graph = (body: Json) => body.errors[0].extensions.code;
const rpc = (body: Json) => body.error.data?.code ?? body.error.code;
const endpoints: Endpoint[] = [
  { method: 'PUT', path: '/v2/watchlists/x', type: json, bytes: 3000 * KiB, codeOf: envelope },
  { method: 'POST', path: '/v2/account/keys', type: json, bytes: 3000 * KiB, codeOf: envelope },
  { method: 'POST', path: '/v2/journal/import?import_id=i', type: 'text/plain', bytes: 12_000 * KiB, codeOf: envelope },
  { method: 'POST', path: '/graphql', type: json, bytes: 3000 * KiB, codeOf: graph },
  { method: 'POST', path: '/mcp', type: json, bytes: 3000 * KiB, codeOf: rpc },
  { method: 'POST', path: '/v2/nowhere', type: json, bytes: 3000 * KiB, status: 404, codeOf: envelope },
  { method: 'POST', path: '/healthz', type: json, bytes: 3000 * KiB, status: 405, codeOf: envelope },
];

/** Head of a request, by default with a credential. */
function head({ method, path, type }: Endpoint, headers: string[], version = '1.1', credential: string | null = key) {
  const auth = credential === null ? [] : [`Authorization: Bearer ${credential}`];
  const lines = [
    'Host: x',
    `Content-Type: ${type}`,
    'Accept: application/json, text/event-stream',
    ...auth,
    ...headers,
  ];
  return `${method} ${path} HTTP/${version}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

const chunks = (bytes: number) => {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  return `${chunk.repeat(Math.ceil(bytes / 0x10000))}0\r\n\r\n`;
};

/** A request with a body that is too large, in every form that bodies come in. */
const forms: Record<string, (endpoint: Endpoint, credential?: string | null) => string> = {
  'a length': (e, c) => head(e, [`Content-Length: ${e.bytes}`], '1.1', c) + 'x'.repeat(e.bytes),
  'a length and Connection: close': (e, c) =>
    head(e, ['Connection: close', `Content-Length: ${e.bytes}`], '1.1', c) + 'x'.repeat(e.bytes),
  'HTTP/1.0': (e, c) => head(e, [`Content-Length: ${e.bytes}`], '1.0', c) + 'x'.repeat(e.bytes),
  chunks: (e, c) => head(e, ['Transfer-Encoding: chunked'], '1.1', c) + chunks(e.bytes),
  'a request before': (e, c) =>
    `GET /v2/symbols HTTP/1.1\r\nHost: x\r\n\r\n${head(e, [`Content-Length: ${e.bytes}`], '1.1', c)}${'x'.repeat(e.bytes)}`,
};

/** The last answer of what came over a connection. */
function lastAnswer(text: string): { status: number; head: string; body: Json } {
  const [headers, body] = text.slice(text.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n');
  return { status: Number(headers!.slice(9, 12)), head: headers!, body: JSON.parse(body!) };
}

const cases = endpoints.flatMap((endpoint) =>
  Object.entries(forms).map(([form, bytes]) => ({ name: endpoint.path, form, endpoint, bytes })),
);

describe('a body that is too large', () => {
  test.each(cases)('$name, $form: the client sees 413 and no reset', async ({ endpoint, bytes }) => {
    const { text, reset } = await sentBlindly(port, bytes(endpoint));
    const { status, body, head: headers } = lastAnswer(text);
    expect({ status, reset }).toEqual({ status: endpoint.status ?? 413, reset: false });
    expect(endpoint.codeOf(body)).toBe(endpoint.status === 404 ? 'not_found' : 'invalid_params');
    expect(headers).toMatch(/\r\nConnection: close/i);
    expect(headers).toMatch(/\r\nx-request-id: /i);
  });

  test.each(cases.filter(({ endpoint }) => endpoint.status === undefined))(
    '$name, $form: without a credential it is 401, and not read',
    async ({ endpoint, bytes }) => {
      const { text, reset } = await sentBlindly(port, bytes(endpoint, null));
      const { status, body } = lastAnswer(text);
      expect({ status, reset, code: (body.errors?.[0].extensions ?? body.error).code }).toEqual({
        status: 401,
        reset: false,
        code: 'unauthenticated',
      });
    },
  );

  test.each(endpoints)('$path: Expect: 100-continue is refused before the body is sent', async (endpoint) => {
    const client = await rawClient(port);
    await client.send(head(endpoint, ['Expect: 100-continue', `Content-Length: ${endpoint.bytes}`]));
    const { text } = await client.ended;
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${endpoint.status ?? 413} `));
  });

  test.each(endpoints.filter(({ status }) => status === undefined))(
    '$path: Expect: 100-continue goes on with a body that is fine, and not without a credential',
    async (endpoint) => {
      const client = await rawClient(port);
      await client.send(head(endpoint, ['Expect: 100-continue', 'Content-Length: 2', 'Connection: close']));
      expect(await client.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      await client.send('{}');
      expect((await client.ended).text).toMatch(/\r\n\r\nHTTP\/1\.1 (200|4\d\d) /);
      if (endpoint.path === '/graphql') return;
      const anonymous = await rawClient(port);
      await anonymous.send(head(endpoint, ['Expect: 100-continue', 'Content-Length: 2'], '1.1', null));
      expect((await anonymous.ended).text).toMatch(/^HTTP\/1\.1 401 /);
    },
  );

  test('is told to the clients that people use: fetch, http and curl', async () => {
    for (const { method, path, type, bytes } of endpoints.filter(({ status }) => status === undefined)) {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': type,
        accept: 'application/json, text/event-stream',
      };
      const body = 'x'.repeat(bytes);
      expect([path, (await fetch(app.url + path, { method, headers, body })).status]).toEqual([path, 413]);
      const status = await new Promise((resolve, reject) => {
        const request = http.request(
          app.url + path,
          { method, headers: { ...headers, connection: 'close' } },
          (response) => response.resume().once('end', () => resolve(response.statusCode)),
        );
        request.once('error', reject).end(body);
      });
      expect([path, status]).toEqual([path, 413]);
      const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
      const curl = promisify(execFile)('curl', [
        '-s',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code}',
        '-X',
        method,
        ...sent,
        '--data-binary',
        '@-',
        app.url + path,
      ]);
      curl.child.stdin!.on('error', () => {}).end(body);
      expect([path, (await curl).stdout]).toEqual([path, '413']);
    }
  });
});

describe('a body that is compressed', () => {
  test.each(endpoints.filter(({ status }) => status === undefined))(
    '$path: 415, and what is expected',
    async (endpoint) => {
      const { text } = await sentBlindly(
        port,
        `${head(endpoint, ['Content-Encoding: gzip', 'Connection: close', 'Content-Length: 2'])}{}`,
      );
      const { status, body } = lastAnswer(text);
      expect([status, endpoint.codeOf(body)]).toEqual([415, 'invalid_params']);
      expect(JSON.stringify(body)).toContain('Content-Encoding');
    },
  );
});

describe('what is nested thousands deep', () => {
  const list = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const object = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const inVariables = 'query($a: String!) { lookup(q: $a) { valid } }';
  const places: Record<string, (nested: string) => [method: string, path: string, body: string]> = {
    'a REST body': (nested) => ['PUT', '/v2/watchlists/x', nested],
    'a field of a REST body': (nested) => ['PUT', '/v2/watchlists/x', `{"name":"a","symbols":${nested}}`],
    'a merge patch': (nested) => ['PATCH', '/v2/journal/trades/x', `{"note":${nested}}`],
    'a trade': (nested) => ['POST', '/v2/journal/trades', `{"note":${nested}}`],
    'a body of /graphql': (nested) => ['POST', '/graphql', nested],
    'variables that are used': (nested) => [
      'POST',
      '/graphql',
      `{"query":"${inVariables}","variables":{"a":${nested}}}`,
    ],
    'variables that are not': (nested) => [
      'POST',
      '/graphql',
      `{"query":"{ me { tier } }","variables":{"a":${nested}}}`,
    ],
    'a patch of the graph': (nested) => [
      'POST',
      '/graphql',
      `{"query":"mutation($a: JournalTradePatch!) { patchJournalTrade(id: \\"x\\", patch: $a) { meta { plane } } }","variables":{"a":{"note":${nested}}}}`,
    ],
    'a message': (nested) => ['POST', '/mcp', nested],
    'the arguments of a tool': (nested) => [
      'POST',
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"put_watchlist","arguments":{"id":"x","body":${nested}}}}`,
    ],
  };
  const documents: Record<string, (open: string, close: string) => string> = {
    'a list in a document': () => `{ lookup(q: ${list(2000)}) { valid } }`,
    'an object in a document': () => `{ lookup(q: ${'{a:'.repeat(2000)}1${'}'.repeat(2000)}) { valid } }`,
    'a type in a document': () => `query($a: ${'['.repeat(2000)}Int${']'.repeat(2000)}) { me { tier } }`,
    'selections in a document': () => `${'{ me '.repeat(2000)}${'}'.repeat(2000)}`,
    'a list that does not end': () => `{ lookup(q: ${'['.repeat(20_000)}`,
  };

  test.each(Object.entries(places))('%s is invalid_params', async (_place, request) => {
    for (const nested of [list(2000), list(20_000), object(2000), object(20_000)]) {
      const [method, path, body] = request(nested);
      const headers = { accept: 'application/json, text/event-stream' };
      const { bytes, status } = await app.send(method, path, { credential: key, headers, body });
      expect([status, bytes.toString()]).toEqual([expect.any(Number), expect.stringContaining('"invalid_params"')]);
      expect(status).toBeLessThan(500);
    }
  });

  test.each(Object.entries(documents))('%s is invalid_params, by every way to the graph', async (_what, document) => {
    const query = document('', '');
    const headers = { accept: 'application/json, text/event-stream' };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'graphql', arguments: { query } } };
    for (const [path, body] of [
      ['/graphql', { query }],
      ['/mcp', call],
    ] as const) {
      const { bytes } = await app.send('POST', path, { credential: key, headers, body: JSON.stringify(body) });
      expect([path, bytes.toString()]).toEqual([path, expect.stringMatching(/\\?"code\\?":\\?"invalid_params/)]);
    }
  });

  test('a line of an import is an error of its row, or passed over where it does not matter', async () => {
    const rows = [
      list(2000),
      `{"note":${object(2000)},"account_id":"m","symbol":"SPY","side":"buy","qty":1,"price":1}`,
      '"'.repeat(2000),
    ];
    const path = '/v2/journal/import?import_id=nested';
    const { status, body } = await app.send('POST', path, {
      credential: key,
      body: rows.join('\n'),
      contentType: 'text/plain',
    });
    expect([status, body.data.errors.map(({ row }: Json) => row)]).toEqual([200, [1, 2, 3]]);
    const csv = `id,account_id,symbol,side,qty,price,ts,note\n${'['.repeat(2000)},m,SPY,buy,1,1,,x\n`;
    const imported = await app.send('POST', `${path}2&format=csv`, {
      credential: key,
      body: csv,
      contentType: 'text/plain',
    });
    expect([imported.status, imported.body.data.errors]).toEqual([200, [{ row: 2, code: 'bad_id' }]]);
  });
});

describe('what /graphql does not take', () => {
  test('a list of operations, an upload: said clearly', async () => {
    const batch = await app.send('POST', '/graphql', { credential: key, body: '[{"query":"{ me { tier } }"}]' });
    expect([batch.status, batch.body.errors[0].message]).toEqual([400, 'Batching is not supported.']);
    const form = '--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{"query":"{me{tier}}"}\r\n--x--\r\n';
    const contentType = 'multipart/form-data; boundary=x';
    const upload = await app.send('POST', '/graphql', { credential: key, body: form, contentType });
    const expected = 'Content-Type: expected application/json or application/graphql+json.';
    expect([upload.status, upload.body.errors[0].message]).toEqual([415, expected]);
  });
});
