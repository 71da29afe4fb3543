import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Answer, type Json, type Sending, type TestApp, testApp } from '../support/app.ts';
import { goneWith } from '../support/servers/gone-pool.ts';

// Common mistakes of clients without ill intent, at each endpoint that could meet them.
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await testApp({ nowMs, env: { CORS_ORIGINS: 'https://desk.example' } });
  key = await app.key();
});
afterAll(() => app.close());

const document = JSON.stringify({ query: '{ me { tier } }' });
const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const posts = [
  ['a REST route', 'POST', '/v2/journal/accounts', JSON.stringify({ name: 'n' }), 'application/json'],
  ['a REST import', 'POST', '/v2/journal/import?import_id=a', '{}', 'text/plain'],
  ['a watchlist', 'PUT', '/v2/watchlists/a', JSON.stringify({ name: 'n', symbols: [] }), 'application/json'],
  ['the graph', 'POST', '/graphql', document, 'application/json'],
  ['MCP', 'POST', '/mcp', message, 'application/json'],
] as const;
const text = (body: unknown) => JSON.stringify(body);
const json = { accept: 'application/json, text/event-stream' };

/** The answer of a tool of `/mcp`. */
async function tool(name: string, sent: Json, credential = key, on = app): Promise<Json> {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: sent } };
  const { body } = await on.send('POST', '/mcp', { credential, headers: json, body: JSON.stringify(call) });
  return JSON.parse(body.result.content[0].text);
}

describe('a credential that is not valid', () => {
  test.each([
    ['a REST route', 'GET', '/v2/quotes?symbols=SPY', undefined],
    ['the stream', 'GET', '/v2/stream?topics=quotes&symbols=SPY', undefined],
    ['the graph', 'POST', '/graphql', document],
    ['MCP', 'POST', '/mcp', message],
  ])('is said to be not valid, none to be missing, by %s', async (_, method, path, body) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const sending = { headers, ...(body !== undefined && { body }) };
    const wrong = await app.send(method, path, { credential: `${key.slice(0, -4)}AAAA`, ...sending });
    expect([wrong.status, text(wrong.body)]).toEqual([401, expect.stringContaining('is not valid')]);
    const none = await app.send(method, path, { credential: null, ...sending });
    expect([none.status, text(none.body)]).toEqual([401, expect.stringContaining('Send an API key')]);
  });
});

describe('a body that declares another character set than UTF-8', () => {
  test.each(posts)('is 415 at %s; UTF-8 may be written in any of its ways', async (_, method, path, body, type) => {
    const sent = (charset: string) =>
      app.send(method, path, {
        credential: key,
        headers: {
          'content-type': `${type}; charset=${charset}`,
          accept: 'application/json, text/event-stream',
        },
        body,
      });
    const wrong = await sent('utf-16');
    expect([wrong.status, text(wrong.body)]).toEqual([415, expect.stringContaining('charset=utf-8')]);
    for (const charset of ['utf-8', 'UTF8', '"utf-8"']) expect((await sent(charset)).status).not.toBe(415);
  });
});

describe('the media type of a body', () => {
  const send = (method: string, path: string, body: string | Buffer, type: string) =>
    app.send(method, path, { credential: key, headers: { 'content-type': type, ...json }, body });

  test.each(posts)('is the same in any case at %s', async (_, method, path, body, type) => {
    for (const written of [type.toUpperCase(), `${type} ; Charset=UTF-8`, `${type.toUpperCase()};charset=utf-8`])
      expect([written, (await send(method, path, body, written)).status]).toEqual([written, 200]);
  });

  test.each(posts)('is 415 at %s when it is another or missing', async (_, method, path, body, type) => {
    for (const wrong of ['text/html', 'application/x-www-form-urlencoded', `${type}x`, '']) {
      const answer = await send(method, path, body, wrong);
      expect([wrong, answer.status]).toEqual([wrong, 415]);
      expect(text(answer.body)).toContain(`Content-Type: expected ${type}`);
      expect(text(answer.body)).toContain('"invalid_params"');
    }
  });
});

describe('a body of JSON', () => {
  const bodies = posts.filter(([, , , , type]) => type === 'application/json');
  const send = (method: string, path: string, body: Buffer) => app.send(method, path, { headers: json, body });

  test.each(bodies)('may begin with a byte order mark at %s', async (_, method, path, body) => {
    expect((await send(method, path, Buffer.from(`\ufeff${body}`))).status).toBe(200);
  });

  // Read with a replacement character, it would be stored with one.
  test.each(bodies)('that is not UTF-8 is 400 at %s', async (_, method, path, body) => {
    const bytes = Buffer.from(body.replace('{', '{"x":"?",'));
    bytes[bytes.indexOf('?')] = 0xff;
    const answer = await send(method, path, bytes);
    expect([answer.status, text(answer.body)]).toEqual([400, expect.stringContaining('UTF-8')]);
  });
});

describe.each(['\u017fPY', 'SP\u0131'])(
  'a ticker with letters beyond ASCII that upper-case to ASCII ones, %s',
  (symbol) => {
    const encoded = encodeURIComponent(symbol);
    const contract = `O:${symbol}261218C00600000`;

    test.each([
      ['in a query', 400, `/v2/quotes?symbols=${encoded}`],
      ['in a path', 400, `/v2/gex/${encoded}/grid`],
      ['in the path of bars', 404, `/v2/stocks/${encoded}/bars?from=2026-11-18&to=2026-11-20`],
      ['in a contract', 400, `/v2/options/${encodeURIComponent(contract)}/greeks`],
      ['in a topic', 400, `/v2/stream?topics=quotes:${encoded}`],
    ])('is no ticker %s', async (_, status, path) => {
      expect((await app.get(path, { credential: key })).status).toBe(status);
    });

    test('is no ticker in a body', async () => {
      const body = JSON.stringify({ name: 'n', symbols: [symbol] });
      expect((await app.send('PUT', '/v2/watchlists/a', { credential: key, body })).status).toBe(400);
    });

    test('is no ticker of the graph, as a variable, a literal or in a contract', async () => {
      for (const [query, variables] of [
        ['query ($s: Ticker!) { symbol(symbol: $s) { symbol } }', { s: symbol }],
        [`{ symbol(symbol: "${symbol}") { symbol } }`, {}],
        [`{ contract(id: "${contract}") { id } }`, {}],
      ] as const) {
        const { data, errors } = await app.graphql(query, variables);
        expect([data, errors![0].extensions.code]).toEqual([undefined, 'invalid_params']);
      }
    });

    test('is no ticker of a tool', async () => {
      expect((await tool('quotes', { symbols: symbol })).error.code).toBe('invalid_params');
    });
  },
);

describe('the deprecated route', () => {
  test('says when it ends and what comes after it in its errors too', async () => {
    for (const [path, status] of [
      ['/gex/SPY/strikes', 400],
      ['/gex/SPY/strikes?date=tomorrow', 400],
      ['/gex/SPX/strikes?date=2026-11-18', 403],
    ] as const) {
      const credential = await app.key({ classification: null });
      const answer = await app.get(path, { credential });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.deprecation).toMatch(/^@\d+$/);
      expect(answer.headers.sunset).toContain('2026');
      expect(answer.headers.link).toContain('rel="successor-version"');
    }
    expect((await app.get('/gex/SPY/strikes', { credential: null })).headers.deprecation).toMatch(/^@/);
    const posted = await app.send('POST', '/gex/SPY/strikes', { credential: key });
    expect([posted.status, posted.headers.allow, posted.headers.sunset]).toEqual([
      405,
      'GET, HEAD',
      expect.stringContaining('2026'),
    ]);
  });
});

describe('what is larger than a number holds', () => {
  test('is a limit that is clamped like any large one', async () => {
    const range = 'from=2026-11-18&to=2026-11-20';
    for (const limit of ['1001', '9007199254740993', '9'.repeat(40)]) {
      const { status, body } = await app.get(`/v2/stocks/SPY/bars?${range}&limit=${limit}`, { credential: key });
      expect([limit, status, body.meta.caps.applied]).toEqual([limit, 200, ['limit_clamped']]);
    }
  });

  test.each([
    '/v2/flow/large-trades?symbol=SPY&limit=',
    '/v2/options/O:SPY261218C00600000/bars?limit=',
    '/v2/offexchange/SPY/activity?limit=',
    '/v2/screener/movers?limit=',
    '/v2/gex/SPY/history?date=2026-11-18&top=',
    '/v2/gex/SPY/grid?top=',
  ])('%s takes it', async (path) => {
    for (const limit of ['9007199254740993', '9'.repeat(40)])
      expect((await app.get(path + limit, { credential: key })).status).toBe(200);
  });

  test('is clamped for a tool too, as a number or a text', async () => {
    const range = { symbol: 'SPY', from: '2026-11-18', to: '2026-11-20' };
    for (const limit of [9_007_199_254_740_992, 1e21, '9'.repeat(40)])
      expect((await tool('stock_bars', { ...range, limit })).meta.caps.applied).toEqual(['limit_clamped']);
  });
});

describe('a time beyond the year 9999 as a number', () => {
  const [year9999, from] = ['253402300799999', '2026-11-18'];
  const larger = ['253402300800000', '9007199254740993', '1000000000000000000000', '9'.repeat(40)];
  const bars =
    'query ($to: PointInTime!) { symbol(symbol: "SPY") { bars(from: "2026-11-18", to: $to) { rows { tsMs } } } }';

  test.each(larger)('%s is that year’s last millisecond for REST, the graph and a tool', async (to) => {
    const rest = async (sent: string) => {
      const { status, body } = await app.get(`/v2/stocks/SPY/bars?from=${from}&to=${sent}`, { credential: key });
      return [status, body.data];
    };
    expect(await rest(to)).toEqual(await rest(year9999));
    const { data } = await app.graphql(bars, { to: year9999 });
    for (const sent of [to, Number(to)]) expect((await app.graphql(bars, { to: sent })).data).toEqual(data);
    expect((await app.graphql(bars.replace('$to)', `${to})`).replace(' ($to: PointInTime!)', ''))).data).toEqual(data);
    const last = (await tool('stock_bars', { symbol: 'SPY', from, to: year9999 })).data;
    for (const sent of [to, Number(to)])
      expect((await tool('stock_bars', { symbol: 'SPY', from, to: sent })).data).toEqual(last);
  });
});

describe('a page of another origin', () => {
  test('may send the headers of MCP', async () => {
    const headers = { origin: 'https://desk.example', 'access-control-request-method': 'POST' };
    const preflight = await app.send('OPTIONS', '/mcp', { credential: null, headers });
    expect(preflight.headers['access-control-allow-headers']?.toLowerCase()).toMatch(
      /mcp-protocol-version.*mcp-session-id/,
    );
  });
});

describe('the default written out', () => {
  test('expiries=all is every expiry', async () => {
    const grid = async (query: string) => {
      const { status, body } = await app.get(`/v2/gex/SPY/grid?${query}`, { credential: key });
      return [status, body];
    };
    expect(await grid('expiries=all')).toEqual(await grid(''));
    expect((await grid('expiries=all&dte=0'))[0]).toBe((await grid('dte=0'))[0]);
  });
});

describe('a request that no minute can pay for', () => {
  const quote = 'quote { spot }';
  const symbols = Array.from(
    { length: 40 },
    (_, i) => `s${i}: symbol(symbol: "SPY") { name access { allowed } ${quote} }`,
  );

  test.each<[string, string, string, Sending]>([
    ['a document', 'POST', '/graphql', { body: JSON.stringify({ query: `{ ${symbols.join(' ')} }` }) }],
    [
      'a stream of many topics',
      'GET',
      `/v2/stream?topics=${Array.from({ length: 10 }, (_, i) => `gex:SPY:${i + 1}`).join(',')}`,
      {},
    ],
    [
      'a batch of messages',
      'POST',
      '/mcp',
      { body: JSON.stringify(Array.from({ length: 10 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))) },
    ],
  ])('%s is 400 with what it costs, never a 429 that says to try again', async (_, method, path, sending) => {
    const poor = await testApp({ nowMs, env: { RATE_PRO: '2' } });
    onTestFinished(() => poor.close());
    const credential = await poor.key();
    const answer = await poor.send(method, path, { credential, headers: json, ...sending });
    expect([answer.status, text(answer.body)]).toEqual([
      400,
      expect.stringMatching(/costs \d+ requests; the limit is 2 per minute/),
    ]);
    expect(answer.headers['retry-after']).toBeUndefined();
    // It was a request all the same.
    expect(answer.headers['x-ratelimit-remaining']).toBe('1');
  });
});

describe('the note of an empty range of bars', () => {
  const query =
    '{ symbol(symbol: "SPY") { bars(from: "2026-11-19", to: "2026-11-19") { rows { close } meta { note } } } }';
  const range = 'from=2026-11-19&to=2026-11-19';

  test('is the same over REST, in the headers of other forms, by the graph and by MCP', async () => {
    const path = `/v2/stocks/SPY/bars?${range}`;
    const { body } = await app.get(path, { credential: key });
    const note = body.meta.note;
    expect([body.data, note]).toEqual([[], expect.stringContaining('`to` is exclusive')]);
    for (const accept of [
      'text/csv',
      'application/vnd.apache.arrow.stream',
      'application/vnd.apache.parquet',
      'application/x-protobuf',
    ]) {
      const { headers } = await app.get(path, { credential: key, headers: { accept } });
      expect(JSON.parse(String(headers['x-itm-extra'])).note).toBe(note);
    }
    expect((await app.graphql(query)).data.symbol.bars.meta.note).toBe(note);
    expect((await tool('stock_bars', { symbol: 'SPY', from: '2026-11-19', to: '2026-11-19' })).meta.note).toBe(note);
  });
});

describe('a time before 1970 written as a number', () => {
  test('is 400 that names it, at every endpoint', async () => {
    const { status, body } = await app.get('/v2/stocks/SPY/bars?from=-1&to=2026-11-20', { credential: key });
    expect([status, body.error.details]).toEqual([400, { parameter: 'from' }]);
    for (const from of ['"-1"', '-1']) {
      const { errors } = await app.graphql(
        `{ symbol(symbol: "SPY") { bars(from: ${from}, to: "2026-11-20") { rows { close } } } }`,
      );
      expect(errors![0].extensions.code).toBe('invalid_params');
    }
    const { error } = await tool('stock_bars', { symbol: 'SPY', from: -1, to: '2026-11-20' });
    expect(error.details).toEqual({ parameter: 'from' });
  });
});

describe('the end-of-day list of an index, asked for with a key', () => {
  const note = expect.stringContaining('API key');

  test('is empty and says why, over REST, by the graph and by MCP', async () => {
    const path = '/v2/flow/eod?symbol=SPX&session=2026-11-19';
    expect((await app.get(path, { credential: key })).body.meta.note).toEqual(note);
    const query = '{ symbol(symbol: "SPX") { flow { eod(session: "2026-11-19") { meta { note } } } } }';
    expect((await app.graphql(query, {}, { credential: key })).data.symbol.flow.eod.meta.note).toEqual(note);
    expect((await tool('eod_prints', { symbol: 'SPX', session: '2026-11-19' })).meta.note).toEqual(note);
  });
});

describe('when the database is away', () => {
  test('every endpoint says which source failed, as 502, and option bars as their provider, 503', async () => {
    const fragile = await testApp({ nowMs });
    onTestFinished(() => fragile.close());
    const credential = await fragile.key();
    // Whose key it is, and which symbols there are, is known from here on.
    expect((await fragile.get('/v2/symbols/SPY', { credential })).status).toBe(200);
    const { pool } = fragile.store;
    const works = { query: pool.query, connect: pool.connect };
    const gone = goneWith('connection refused, password=secret');
    Object.assign(pool, { query: gone, connect: gone });
    try {
      const contract = 'O:SPY261218C00600000';
      const bars = await fragile.get(`/v2/options/${contract}/bars`, { credential });
      const activity = await fragile.get('/v2/offexchange/SPY/activity', { credential });
      expect([bars, activity].map(({ status, body }) => [status, body.error.code])).toEqual([
        [503, 'provider_unavailable'],
        [502, 'internal'],
      ]);
      const graph = await fragile.graphql(
        `{ contract(id: "${contract}") { bars { rows { close } } } symbol(symbol: "SPY") { offExchange { activity { rows { vwap } } } } }`,
        {},
        { credential },
      );
      const tools = [
        await tool('option_bars', { contract }, credential, fragile),
        await tool('off_exchange_activity', { symbol: 'SPY' }, credential, fragile),
      ];
      const words = [bars, activity].map(({ body }) => [body.error.code, body.error.message]);
      expect(graph.errors!.map(({ extensions, message: said }) => [extensions.code, said]).sort()).toEqual(
        words.sort(),
      );
      expect(tools.map(({ error }) => [error.code, error.message]).sort()).toEqual(words);
      const stream: Answer = await fragile.get('/v2/stream?topics=cross-section:SPY', { credential });
      expect([stream.status, stream.body.error.code]).toEqual([502, 'internal']);
      const subscription = 'subscription { crossSection(symbol: "SPY") { seq } }';
      const opened = await fragile.send('POST', '/graphql', {
        credential,
        headers: { accept: 'text/event-stream' },
        body: JSON.stringify({ query: subscription }),
      });
      expect(String(opened.bytes)).toContain('"internal"');
      for (const said of [bars, activity, graph.answer, stream, opened])
        expect(String(said.bytes)).not.toContain('secret');
    } finally {
      Object.assign(pool, works);
    }
  });
});
