import http from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { type Random, randomOf } from '../support/random.ts';
import { badGraphqlRequest } from './bad-documents.ts';
import { badBody, badPiece, contentTypes, someHeaders } from './bad-values.ts';
import { knownRoutes } from './route-cases.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20_261_120);
const count = Number(process.env.FUZZ_COUNT ?? 20_000);
const atOnce = 24;
/** No request takes longer, or it hangs. */
const patienceMs = 20_000;

const codes = new Set([
  'invalid_params',
  'unauthenticated',
  'token_expired',
  'not_entitled_tier',
  'attestation_required',
  'not_found',
  'rate_limited',
]);

let app: TestApp;
let credentials: string[];
const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);
const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce });

beforeAll(async () => {
  process.on('unhandledRejection', onRejection);
  app = await testApp({ nowMs: filledNowMs });
  await fillMarket(app.store);
  credentials = [await app.session(), await app.session(), await app.key()];
});
afterAll(async () => {
  agent.destroy();
  process.off('unhandledRejection', onRejection);
  await app.close();
});

interface Bad {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
}

const routes = knownRoutes();
const methods = ['GET', 'GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];

function badQuery(random: Random, names: string[]): string {
  if (random.once(25))
    return random.pick(['&&&==', '=', '?', '[', 'a[b][c]=1', 'a=%', '&'.repeat(3000), 'x=1&'.repeat(1500)]);
  const pairs = Array.from({ length: random.below(names.length + 3) }, () => {
    const name = random.once(6)
      ? random.pick(['__proto__', 'constructor', 'symbols[]', 'toString', '%', ''])
      : random.pick([...names, 'x']);
    return `${name}=${badPiece(random)}`;
  });
  return pairs.join('&');
}

/** A request to a route of the table, or near one. */
function badRest(random: Random): Bad {
  const { route } = random.pick(routes);
  const path = random.once(30)
    ? `/${random.pick(['v2', 'V2', 'v2/v2', '', 'gex'])}/${badPiece(random)}`
    : route.path.replace(/:\w+/g, () => (random.once(2) ? 'SPY' : badPiece(random)));
  const query = badQuery(random, Object.keys(route.queryParams));
  const method = random.once(4) ? random.pick(methods) : route.method;
  const hasBody = route.body ? !random.once(10) : random.once(10);
  return {
    method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      authorization: `Bearer ${random.pick(credentials)}`,
      ...(hasBody
        ? { 'content-type': random.once(3) ? random.pick(contentTypes) : (route.body?.mediaTypes[0] ?? 'x/y') }
        : {}),
      ...someHeaders(random),
    },
    ...(hasBody && method !== 'TRACE' ? { body: badBody(random) } : {}),
  };
}

/** Anything as text that an address can hold. */
const inAddress = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 6000).toWellFormed();

function badGraphql(random: Random): Bad {
  const request = badGraphqlRequest(random);
  const headers = {
    authorization: `Bearer ${random.pick(credentials)}`,
    ...(random.once(3) ? someHeaders(random) : {}),
  };
  if (random.once(8)) {
    const { query, variables } = (request ?? {}) as Json;
    const text = `query=${encodeURIComponent(inAddress(query))}&variables=${badPiece(random)}${random.once(2) ? encodeURIComponent(inAddress(variables)) : ''}`;
    return { method: random.pick(['GET', 'GET', 'HEAD', 'PUT', 'DELETE']), path: `/graphql?${text}`, headers };
  }
  return {
    method: 'POST',
    path: random.once(30) ? `/graphql/${badPiece(random)}` : '/graphql',
    headers: { 'content-type': random.once(10) ? random.pick(contentTypes) : 'application/json', ...headers },
    body: random.once(12) ? badBody(random) : Buffer.from(JSON.stringify(request)),
  };
}

interface Came {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

function exchange({ method, path, headers, body }: Bad): Promise<Came> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      app.url,
      {
        method,
        path,
        agent,
        headers: { ...headers, ...(body ? { 'content-length': body.length } : {}) },
        timeout: patienceMs,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
        response.on('error', reject);
      },
    );
    request.on('timeout', () => request.destroy(new Error(`no answer in ${patienceMs} ms`)));
    request.on('error', reject);
    request.end(body);
  });
}

/** What is wrong with the answer to a bad request; null when nothing is. */
function wrongWith(bad: Bad, { status, headers, text }: Came): string | null {
  if (status >= 500) return `${status}: ${text}`;
  if (status >= 300 && status < 400 && status !== 304 && bad.path.startsWith('/v2')) return `a redirect: ${status}`;
  // Headers that are too large are turned away by the HTTP parser, before there is a request.
  if (status === 431) return null;
  if (headers['x-request-id'] === undefined) return `${status} without x-request-id`;
  if (bad.method === 'HEAD' || (headers['content-encoding'] ?? 'none') !== 'none' || text === '') {
    return status >= 400 && bad.method !== 'HEAD' ? `${status} without a body` : null;
  }
  if (bad.path.startsWith('/graphql')) return wrongWithGraphql(status, headers, text);
  if (status < 400) return null;
  const { error } = asJson(text);
  const known = error && codes.has(error.code) && typeof error.message === 'string' && error.message !== '';
  return known ? null : `${status} outside the envelope: ${text.slice(0, 300)}`;
}

function asJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function wrongWithGraphql(status: number, headers: http.IncomingHttpHeaders, text: string): string | null {
  const isPage = /^text\/html/.test(headers['content-type'] ?? '');
  if (isPage && status === 200) return null;
  const payload = /event-stream/.test(headers['content-type'] ?? '') ? (/^data: (.*)$/m.exec(text)?.[1] ?? '') : text;
  const { errors, error } = asJson(payload);
  const told: Json[] = errors ?? (error ? [{ message: error.message, extensions: error }] : []);
  if (status >= 400 && told.length === 0) return `${status} without errors: ${text.slice(0, 300)}`;
  const odd = told.find((one) => !codes.has(one.extensions?.code) || typeof one.message !== 'string');
  return odd ? `${status} with an error of no known code: ${JSON.stringify(odd).slice(0, 300)}` : null;
}

describe(`${count} bad requests, seed ${seed}`, () => {
  test(
    'each is answered in time, none with 5xx, every failure in the envelope with a known code',
    async () => {
      const random = randomOf(seed);
      const statuses = new Map<number, number>();
      const faults: string[] = [];
      let sent = 0;
      const worker = async () => {
        while (sent < count && faults.length < 20) {
          sent += 1;
          const bad = random.once(3) ? badGraphql(random) : badRest(random);
          const told = `${bad.method} ${bad.path.slice(0, 300)} ${JSON.stringify({ ...bad.headers, authorization: (bad.headers.authorization ?? '').slice(0, 12) }).slice(0, 300)} ${bad.body?.subarray(0, 300).toString() ?? ''}`;
          try {
            const came = await exchange(bad);
            statuses.set(came.status, (statuses.get(came.status) ?? 0) + 1);
            const wrong = wrongWith(bad, came);
            if (wrong) faults.push(`${wrong}\n    ${told}`);
          } catch (error) {
            faults.push(`${String(error)}\n    ${told}`);
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      expect(faults).toEqual([]);
      // They are bad in many ways, and some are none.
      for (const status of [200, 400, 401, 404, 405, 413, 415]) expect(statuses.get(status) ?? 0).toBeGreaterThan(0);
      expect(statuses.get(400)!).toBeGreaterThan(count / 4);
    },
    10 * 60_000,
  );

  test('none left a rejection that nobody handles, and the server serves on', async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(rejections).toEqual([]);
    const { status, body } = await app.get('/v2/symbols/SPY', { credential: credentials[0]! });
    expect([status, body.data.symbol]).toEqual([200, 'SPY']);
  });
});

/** Sends bytes as they are, and gives back what came until the connection closed or was silent. */
function raw(bytes: Buffer | string, { hangUp = false } = {}): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname, () => {
      socket.write(bytes);
      if (hangUp) setTimeout(() => socket.destroy(), 5);
    });
    let answer = '';
    socket.setTimeout(400, () => socket.destroy());
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
}

describe('what no client would send', () => {
  const auth = () => `Host: x\r\nAuthorization: Bearer ${credentials[0]}\r\n`;
  const json = (length: number | string) => `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
  const bytes: Record<string, () => Buffer | string> = {
    'nothing of HTTP': () => 'hello\r\n\r\n',
    'random bytes': () => Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7919) % 256)),
    'TLS to a plain port': () => Buffer.from('16030100c8010000c40303', 'hex'),
    'an unknown method': () => `BREW /v2/quotes HTTP/1.1\r\n${auth()}\r\n`,
    CONNECT: () => `CONNECT example.com:443 HTTP/1.1\r\n${auth()}\r\n`,
    'another version': () => `GET /v2/quotes HTTP/9.9\r\n${auth()}\r\n`,
    'no version': () => 'GET /v2/quotes\r\n\r\n',
    'HTTP/1.0 without a host': () => `GET /v2/symbols/SPY HTTP/1.0\r\n\r\n`,
    'no host': () => 'GET /v2/symbols/SPY HTTP/1.1\r\n\r\n',
    'two hosts': () => `GET /v2/symbols/SPY HTTP/1.1\r\nHost: a\r\n${auth()}\r\n`,
    'the whole address': () => `GET http://other.example.com/v2/symbols/SPY HTTP/1.1\r\n${auth()}\r\n`,
    'an asterisk': () => `OPTIONS * HTTP/1.1\r\n${auth()}\r\n`,
    'no slash': () => `GET v2/symbols/SPY HTTP/1.1\r\n${auth()}\r\n`,
    'two slashes and a port': () => `GET //x:99999/v2 HTTP/1.1\r\n${auth()}\r\n`,
    'bytes above ASCII in the path': () => Buffer.from(`GET /v2/symbols/\xff\xfe HTTP/1.1\r\n${auth()}\r\n`, 'latin1'),
    'NUL in the path': () => `GET /v2/symbols/S\0Y HTTP/1.1\r\n${auth()}\r\n`,
    'a space in the path': () => `GET /v2/symbols/S Y HTTP/1.1\r\n${auth()}\r\n`,
    'a path of 20,000 characters': () => `GET /v2/symbols/${'A'.repeat(20_000)} HTTP/1.1\r\n${auth()}\r\n`,
    'headers of 100 KB': () => `GET /v2/symbols/SPY HTTP/1.1\r\n${auth()}X: ${'a'.repeat(100_000)}\r\n\r\n`,
    '3,000 headers': () => `GET /v2/symbols/SPY HTTP/1.1\r\n${auth()}${'A: b\r\n'.repeat(3000)}\r\n`,
    'NUL in a header': () => `GET /v2/symbols/SPY HTTP/1.1\r\n${auth()}X: a\0b\r\n\r\n`,
    'two credentials': () => `GET /v2/symbols/SPY HTTP/1.1\r\n${auth()}Authorization: Bearer x\r\n\r\n`,
    'two lengths': () => `PUT /v2/watchlists/x HTTP/1.1\r\n${auth()}${json(2)}Content-Length: 3\r\n\r\n{}`,
    'a length and chunks': () =>
      `PUT /v2/watchlists/x HTTP/1.1\r\n${auth()}${json(2)}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'a negative length': () => `PUT /v2/watchlists/x HTTP/1.1\r\n${auth()}${json(-1)}\r\n{}`,
    'a chunk that is none': () =>
      `PUT /v2/watchlists/x HTTP/1.1\r\n${auth()}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
    'chunks of a coding nobody knows': () =>
      `PUT /v2/watchlists/x HTTP/1.1\r\n${auth()}Content-Type: application/json\r\nTransfer-Encoding: x\r\n\r\n{}`,
    'a body with GET': () => `GET /v2/symbols/SPY HTTP/1.1\r\n${auth()}${json(2)}\r\n{}`,
    'an upgrade': () => `GET /graphql HTTP/1.1\r\n${auth()}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    'a body that is expected first': () =>
      `PUT /v2/watchlists/x HTTP/1.1\r\n${auth()}${json(2)}Expect: 100-continue\r\n\r\n{}`,
    'two requests at once': () => `GET /v2/symbols/SPY HTTP/1.1\r\n${auth()}\r\nGET /v2/none HTTP/1.1\r\n${auth()}\r\n`,
  };

  test.concurrent.each(Object.keys(bytes))('%s', async (name) => {
    const answer = await raw(bytes[name]!());
    const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => Number(match[1]));
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    for (const [, body] of answer.matchAll(/\r\n\r\n(\{"error".*?\})\s*(?=HTTP|$)/gs)) {
      expect(codes).toContain(JSON.parse(body!).error.code);
    }
  });

  test('clients that hang up in the middle leave nothing behind', async () => {
    const all = [
      `PUT /v2/watchlists/x HTTP/1.1\r\n${auth()}${json(1000)}\r\n{"name":`,
      `POST /v2/journal/import?import_id=x HTTP/1.1\r\n${auth()}Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\n{`,
      `POST /graphql HTTP/1.1\r\n${auth()}${json(1000)}\r\n{"query":`,
      `GET /v2/stocks/SPY/bars?from=2026-11-25&to=2026-12-01 HTTP/1.1\r\n${auth()}\r\n`,
      `GET /v2/gex/SPY/history?date=2026-11-30 HTTP/1.1\r\n${auth()}\r\n`,
      `GET /v2/symbols/SPY HTTP/1.1\r\n${auth()}`,
    ];
    await Promise.all(Array.from({ length: 60 }, (_, i) => raw(all[i % all.length]!, { hangUp: true })));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(rejections).toEqual([]);
    expect((await app.get('/v2/symbols/SPY', { credential: credentials[0]! })).status).toBe(200);
  });
});
