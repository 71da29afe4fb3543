import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, TestApp } from '../test/support/app.ts';
import { graphTransports } from '../test/support/graph-transports.ts';
import { hostileVariables, numbered, randomBody } from '../test/support/hostile-variables.ts';
import { randomOf } from '../test/support/random.ts';
import { isStructured, legalValue, variablePositions } from '../test/support/variable-positions.ts';
import { pageOfBars } from './graph-cpu.ts';
import { cpuMsOf, rssMbOf, type Served, serveSample } from './sample-server.ts';

// What a body, its variables and the errors about them cost in CPU for each request that is charged, beside a page of
// 1,000 bars: shapes of which each endpoint has its own, and random bodies.

/** Random bodies for each endpoint. */
const randomCount = Number(process.env.BODY_COUNT ?? 2000);
const seed = Number(process.env.BODY_SEED ?? 20261125);
/** A shape is sent until it took so much of the server's time, since that is told in hundredths of a second. */
const leastCpuMs = 200;
const mostTimes = 60;
/** Shapes that are measured between two measurements of the page. */
const shapesAPage = 6;
const randomTogether = 50;
const [mostAnswerBytes, MB] = [100 * 1024, 1024 * 1024];
const accept = 'application/json, text/event-stream';

/** A way to send a shape; says how many bytes came, and the status where there is one. */
interface Shape {
  name: string;
  send: () => Promise<{ status: number | null; bytes: number }>;
}

interface Taken {
  name: string;
  cpuMs: number;
  requests: number;
  ratio: number;
  bytes: number;
}

type Client = Pick<TestApp, 'send' | 'url'> & { remaining: () => Promise<number> };

function clientOf({ url, token }: Served): Client {
  const agent = new http.Agent({ keepAlive: true });
  const send: TestApp['send'] = (method, path, { headers = {}, body = '', contentType = 'application/json' } = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const all = { authorization: `Bearer ${token}`, ...headers, ...(body ? { 'content-type': contentType } : {}) };
      const request = http.request(url + path, { method, agent, headers: all }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part) => parts.push(part));
        response.on('end', () => {
          const bytes = Buffer.concat(parts);
          resolve({ status: response.statusCode!, headers: response.headers, bytes, body: undefined });
        });
      });
      request.on('error', reject).end(body);
    });
  return {
    url,
    send,
    async remaining() {
      const { headers } = await send('GET', '/v2/account/usage');
      return Number(headers['x-ratelimit-remaining']);
    },
  };
}

/** The charge of sending, without that of asking for it; null if the minute ended in between. */
async function charged(client: Client, work: () => Promise<void>): Promise<number | null> {
  const before = await client.remaining();
  await work();
  const taken = before - (await client.remaining()) - 1;
  return taken >= 0 ? taken : null;
}

async function taken(server: Served, client: Client, { name, send }: Shape): Promise<Omit<Taken, 'ratio'>> {
  let bytes = 0;
  for (let i = 0; i < 2; i++) bytes = (await send()).bytes;
  for (;;) {
    let [cpuMs, times] = [0, 0];
    const requests = await charged(client, async () => {
      const before = cpuMsOf(server);
      while (times < mostTimes && cpuMs < leastCpuMs) {
        await send();
        times += 1;
        cpuMs = cpuMsOf(server) - before;
      }
    });
    if (requests !== null) return { name, cpuMs: cpuMs / times, requests: requests / times, bytes };
  }
}

const object = (count: number) => `{${numbered(count, (i) => `"k${i}":1`)}}`;

/** Bodies of REST routes and of tools, each near a limit. */
function bodies(): [name: string, method: string, path: string, body: string][] {
  const deep = '['.repeat(30_000) + ']'.repeat(30_000);
  const shapes = {
    'many unknown keys': object(5000),
    'a long text': `{"name":"${'x'.repeat(60_000)}","note":"${'x'.repeat(4000)}"}`,
    'a long list': `{"name":"a","symbols":[${numbered(9000, () => '"SPY"')}]}`,
    'a list of lists': `{"name":"a","symbols":[${numbered(9000, () => '[]')}]}`,
    'a deep list': `{"note":${deep}}`,
    'too many values': `[${numbered(30_000, () => '1')}]`,
    'no JSON': '{'.repeat(60_000),
  };
  const routes = [
    ['PUT', '/v2/watchlists/bodies'],
    ['POST', '/v2/journal/trades'],
    ['PATCH', '/v2/journal/trades/bodies'],
    ['POST', '/v2/account/classification'],
  ] as const;
  const rest = routes.flatMap(([method, path]) =>
    Object.entries(shapes).map(([name, body]) => [name, method, path, body] as [string, string, string, string]),
  );
  const call = (args: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"put_watchlist","arguments":${args}}}`;
  const text = 'x'.repeat(MB - 300);
  const messages = {
    'a call of unknown arguments': call(object(9000)),
    'a call with a long text': call(`{"id":"a","body":"${text}"}`),
    'a call with a long list': call(`{"id":"a","body":{"name":"a","symbols":[${numbered(9000, () => '"SPY"')}]}}`),
    'an unknown method of a long name': `{"jsonrpc":"2.0","id":1,"method":"${text}"}`,
    'a batch': `[${numbered(20, () => call(object(400)))}]`,
    'params of many keys': `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${object(9000)}}`,
    'too many values': `[${numbered(200_000, () => '{}')}]`,
  };
  const mcp = Object.entries(messages).map(
    ([name, body]) => [name, 'POST', '/mcp', body] as [string, string, string, string],
  );
  return [...rest, ...mcp];
}

/** Documents whose errors could repeat them. */
function documents(): [name: string, query: string][] {
  const name = 'n'.repeat(90_000);
  return [
    ['an unknown field of a long name', `{ ${name} }`],
    ['unused variables', `query ${name.slice(0, 80_000)}(${numbered(90, (i) => `$v${i}: Int`)}) { me { tier } }`],
    ['a long wrong literal', `{ symbols(first: "${name}") { nodes { symbol } } }`],
    ['many unknown fields', `{ ${Array.from({ length: 1500 }, (_, i) => `unknown${i}`).join(' ')} }`],
    ['blanks', `{ me { tier } ${' '.repeat(95_000)} }`],
  ];
}

/** Every shape; each is new each time where a document would be known otherwise. */
function shapesOf(client: Client, token: string): Shape[] {
  const shapes: Shape[] = [];
  const legal = variablePositions().filter(({ type }) => isStructured(type));
  const long = 'x'.repeat(900_000);
  const most = Object.fromEntries(
    legal.map(({ name, query, type, others }) => {
      const value = legalValue(type);
      const largest = Array.isArray(value)
        ? Array.from({ length: 9900 }, () => value[0])
        : { ...(value as object), ...('side' in (value as object) ? { note: long } : { broker: long }) };
      return [`the largest ${name}`, { query, variables: JSON.stringify({ ...others, it: largest }) }];
    }),
  );
  const cheap = '{ market { __typename } }';
  const unused = {
    'unused variables': { query: cheap, variables: object(9900) },
    'an unused long variable': { query: cheap, variables: `{"a":"${'x'.repeat(MB - 300)}"}` },
    'an unused long variable of a free document': {
      query: '{ __typename }',
      variables: `{"a":"${'é'.repeat(500_000)}"}`,
    },
    'an unused long variable of escapes': { query: cheap, variables: `{"a":"${'\\u00e9'.repeat(170_000)}"}` },
  };
  const wrong = Object.fromEntries(documents().map(([name, query]) => [name, { query, variables: '{}' }]));
  for (const [way, send] of Object.entries(graphTransports)) {
    for (const [name, sent] of Object.entries({ ...hostileVariables, ...most, ...unused, ...wrong }))
      shapes.push({ name: `${way}: ${name}`, send: () => send(client, token, sent) });
  }
  for (const [name, method, path, body] of bodies()) {
    const send = async () => {
      const { status, bytes } = await client.send(method, path, { headers: { accept }, body });
      return { status, bytes: bytes.length };
    };
    shapes.push({ name: `${method} ${path}: ${name}`, send });
  }
  return shapes;
}

/** Endpoints of random bodies, and their limits in bytes. */
const randomEndpoints: [method: string, path: string, mostBytes: number][] = [
  ['POST', '/graphql', MB],
  ['POST', '/graphql/stream', MB],
  ['POST', '/mcp', MB],
  ['PUT', '/v2/watchlists/bodies', 64 * 1024],
  ['POST', '/v2/journal/trades', 64 * 1024],
  ['PATCH', '/v2/journal/trades/bodies', 64 * 1024],
  ['POST', '/v2/account/classification', 64 * 1024],
];

/** Sends random bodies; returns the dearest fifty that came together, and answers that are too large. */
async function randomBodies(server: Served, client: Client, page: () => Promise<number>) {
  for (const [method, path, mostBytes] of randomEndpoints) {
    const random = randomOf(seed);
    const ratios: number[] = [];
    let [tooLarge, failed] = [0, 0];
    for (let done = 0; done < randomCount; done += randomTogether) {
      const sent = Array.from({ length: randomTogether }, () => randomBody(random, mostBytes));
      const before = cpuMsOf(server);
      const requests = await charged(client, async () => {
        for (const body of sent) {
          const { status, bytes } = await client.send(method, path, { headers: { accept }, body });
          if (status >= 400 && bytes.length > mostAnswerBytes) tooLarge += 1;
          if (status >= 500) failed += 1;
        }
      });
      if (requests !== null) ratios.push((cpuMsOf(server) - before) / requests / (await page()));
    }
    const dearest = Math.max(...ratios).toFixed(2);
    const mean = (ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length).toFixed(2);
    console.log(
      `${randomCount} random bodies, ${method} ${path}: ${mean} of a page on average, ${dearest} the dearest ${randomTogether}; ${tooLarge} answers too large, ${failed} failed`,
    );
  }
}

const percentile = (values: readonly number[], at: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * at)]!;

/** How long a light client waits, ms, for so long. */
async function lightMs(client: Client, forMs: number): Promise<number[]> {
  const found: number[] = [];
  for (const until = performance.now() + forMs; performance.now() < until; await delay(10)) {
    const began = performance.now();
    await client.send('GET', '/v2/symbols/SPY');
    found.push(performance.now() - began);
  }
  return found;
}

/** A light client's p99 beside two that send a shape without pause, over its p99 alone. */
async function besideSenders(server: Served, { name, send }: Shape): Promise<void> {
  const own = clientOf(server);
  await lightMs(own, 2000);
  const alone = percentile(await lightMs(own, 6000), 0.99);
  let isOver = false;
  const senders = [1, 2].map(async () => {
    while (!isOver) await send();
  });
  const beside = percentile(await lightMs(own, 6000), 0.99);
  isOver = true;
  await Promise.all(senders);
  console.log(
    `a light client beside two senders of "${name}": p99 ${beside.toFixed(1)} ms, alone ${alone.toFixed(1)} ms, ${(beside / alone).toFixed(2)} times`,
  );
}

/** Looks for bodies, variables and errors that take more CPU for a request than a page of bars. */
export async function bodyWeights(): Promise<void> {
  const server = await serveSample();
  try {
    const client = clientOf(server);
    const query = pageOfBars('2026-11-10', '2026-11-20');
    let sent = 0;
    const askPage = async () => {
      sent += 1;
      const { status, bytes } = await client.send('POST', '/graphql', {
        body: JSON.stringify({ query, variables: { sent } }),
      });
      return { status, bytes: bytes.length };
    };
    const pages: number[] = [];
    const page = async () => {
      const { cpuMs, requests } = await taken(server, client, { name: 'page', send: askPage });
      pages.push(cpuMs / requests);
      return percentile(pages.slice(-5), 0.5);
    };
    for (let i = 0; i < 3; i++) await page();
    const idle = rssMbOf(server);
    const shapes = shapesOf(client, server.token).filter(({ name }) => name.includes(process.env.BODY_ONLY ?? ''));
    const found: Taken[] = [];
    let pageMs = await page();
    for (const [i, shape] of shapes.entries()) {
      // The pace of the machine changes: the page is measured along with the rest.
      if (i % shapesAPage === 0) pageMs = await page();
      const one = await taken(server, client, shape);
      const ratio = one.cpuMs / one.requests / pageMs;
      found.push({ ...one, ratio });
      if (process.env.BODY_EACH) console.log(`${ratio.toFixed(2)} ${one.requests.toFixed(1)} ${shape.name}`);
    }
    console.log(
      `CPU of a request, over that of a page of 1,000 bars (${percentile(pages, 0.5).toFixed(2)} ms), of ${found.length} shapes`,
    );
    found.sort((a, b) => b.ratio - a.ratio);
    for (const { name, ratio, cpuMs, requests, bytes } of found.slice(0, Number(process.env.BODY_SHOWN ?? 25)))
      console.log(
        `${ratio.toFixed(2)} (${cpuMs.toFixed(1)} ms, ${requests.toFixed(1)} requests, ${bytes} bytes) ${name}`,
      );
    const worst = shapes.find(({ name }) => name === found[0]!.name)!;
    await besideSenders(server, worst);
    if (randomCount > 0) await randomBodies(server, client, page);
    await delay(10_000);
    console.log(`resident memory: ${idle.toFixed(0)} MB before, ${rssMbOf(server).toFixed(0)} MB ten seconds after`);
  } finally {
    await server.close();
  }
}
