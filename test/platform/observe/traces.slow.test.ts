import { once } from 'node:events';
import type http from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { tapegraph } from '../../cli/command-line.ts';
import { served } from '../../cli/served.ts';
import { storeForThisTest } from '../../support/store.ts';

// Each starts processes of its own, which is slow where other tests run beside them.
vi.setConfig({ testTimeout: 90_000 });

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number; boolValue?: boolean };
}

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Attribute[];
  status: { code?: number };
}

interface Sent {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: SentSpan[] }[] }[];
}

const detailsOf = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]));

/** A collector of OTLP over HTTP: what it was sent. */
async function collector(status = 200) {
  const bodies: Sent[] = [];
  const headers: http.IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      if (request.url === '/v1/traces') bodies.push(JSON.parse(text));
      headers.push(request.headers);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    headers,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    resources: () => bodies.flatMap((body) => body.resourceSpans.map((each) => detailsOf(each.resource.attributes))),
    spans: () =>
      bodies
        .flatMap((body) => body.resourceSpans.flatMap((each) => each.scopeSpans.flatMap((scope) => scope.spans)))
        .map(({ attributes, ...span }) => ({ ...span, details: detailsOf(attributes) })),
  };
}

/** A server that hands its traces to `endpoint`, and how to ask it with a key. */
async function traced(endpoint: string, more: Record<string, string> = {}) {
  const store = await storeForThisTest();
  const env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'info' };
  await tapegraph(['account', 'set', 'acme', '--api-tier', 'pro'], env);
  const { key } = JSON.parse((await tapegraph(['key', 'create', '--account', 'acme', '--json'], env)).stdout);
  const server = await served([], { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...more });
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${server.ready.url}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
  const stop = () => {
    server.child.kill('SIGTERM');
    return server.ended;
  };
  return { ...server, ask, stop, key };
}

describe('traces', () => {
  test('tell a request, its operation, its fields and its statements, as a part of the caller’s trace, and nothing secret', async () => {
    const to = await collector();
    const { ask, stop, key } = await traced(to.url, {
      OTEL_SERVICE_NAME: 'gateway',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=abc',
    });
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'content-type': 'application/json' };
    await ask(`/v2/symbols/SPY?secret=hidden-in-query`, { headers });
    const query = 'query Names($s: Ticker!) { first: symbol(symbol: $s) { name } me { accountId } }';
    await ask('/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables: { s: 'HIDDEN' } }) });
    await ask('/v2/watchlists/hidden-id', { method: 'DELETE' });
    // The remaining spans are sent at the end.
    expect(await stop()).toMatchObject({ code: 0 });

    const spans = to.spans();
    const requests = spans.filter((span) => span.details['http.route'] !== undefined);
    expect(requests).toMatchObject([
      {
        name: 'GET /v2/symbols/:symbol',
        traceId,
        parentSpanId: '00f067aa0ba902b7',
        details: {
          'http.request.method': 'GET',
          'http.response.status_code': 200,
          'url.path': '/v2/symbols/SPY',
          'url.scheme': 'http',
          'tapegraph.cost': 1,
        },
      },
      {
        name: 'POST /graphql',
        traceId,
        details: { 'url.path': '/graphql', 'graphql.operation.type': 'query', 'graphql.operation.name': 'Names' },
      },
      { name: 'DELETE /v2/watchlists/:id', details: { 'error.type': expect.any(String) } },
    ]);
    expect(requests[2]!.traceId).not.toBe(traceId);
    const below = (parent: (typeof spans)[number]) => spans.filter((span) => span.parentSpanId === parent.spanId);
    const [rest, graphql] = requests;
    expect(below(rest!)).toContainEqual(
      expect.objectContaining({
        name: 'query',
        details: { 'graphql.operation.type': 'query', 'graphql.operation.name': 'Symbol' },
      }),
    );
    const operation = below(graphql!).find(({ name }) => name === 'query')!;
    expect(operation.details).toEqual({ 'graphql.operation.type': 'query', 'graphql.operation.name': 'Names' });
    expect(new Set(below(operation).map(({ name }) => name))).toEqual(new Set(['field symbol', 'field me']));
    const statements = spans.filter((span) => span.details['db.system.name'] === 'postgresql');
    expect(statements.map(({ name }) => name)).toContain('SELECT');
    const ids = new Set(spans.map(({ spanId }) => spanId));
    for (const statement of statements) expect(ids.has(statement.parentSpanId!)).toBe(true);
    expect(to.resources()[0]).toMatchObject({ 'service.name': 'gateway' });
    expect(to.headers[0]).toMatchObject({ 'x-collector-key': 'abc' });
    const text = JSON.stringify(spans);
    for (const secret of [key, 'hidden-in-query', 'HIDDEN']) expect(text).not.toContain(secret);
  });

  test('are of as many requests as asked for; a caller’s own trace decides for itself', async () => {
    const to = await collector();
    const { ask, stop } = await traced(to.url, { OTEL_TRACES_SAMPLER_ARG: '0' });
    await ask('/v2/symbols/SPY');
    await ask('/v2/symbols/SPY', {
      headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    });
    await ask('/v2/symbols/SPY', { headers: { traceparent: 'rubbish' } });
    await stop();
    expect(new Set(to.spans().map(({ traceId }) => traceId))).toEqual(new Set(['0af7651916cd43dd8448eb211c80319c']));
  });

  test.each([
    ['cannot be reached', async () => 'http://127.0.0.1:9'],
    ['refuses them', async () => (await collector(400)).url],
  ])('harm nobody when the collector %s: one warning, and a clean end', async (_, endpoint) => {
    const { ask, stop, log } = await traced(await endpoint());
    for (let i = 0; i < 3; i += 1) expect((await ask('/v2/symbols/SPY')).status).toBe(200);
    const warnings = () => log().split('traces cannot be exported').length - 1;
    await vi.waitUntil(() => warnings() > 0, { timeout: 20_000, interval: 100 });
    expect((await ask('/v2/symbols/SPY')).status).toBe(200);
    const { code } = await stop();
    expect({ code, warnings: warnings() }).toEqual({ code: 0, warnings: 1 });
  });
});
