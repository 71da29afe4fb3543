import http from 'node:http';
import type { Route } from '../../src/rest/contract/route.ts';
import { routes } from '../../src/rest/routes.ts';
import { quotes, trade } from './hostile-variables.ts';
import type { Random } from './random.ts';
import { type BodyForm, randomBody, randomJson } from './random-bodies.ts';
import { talk } from './web-socket.ts';

/** Answer to a body. */
export interface BodyAnswer {
  /** HTTP status; null for a message of a WebSocket. */
  status: number | null;
  headers: http.IncomingHttpHeaders;
  /** Text of the answer; for a WebSocket, its messages and the close frame. */
  text: string;
  /** Requests left of the minute after the answer; null if the answer has no such header. */
  remaining: number | null;
}

/** Target of bodies. */
export interface BodyServer {
  url: string;
  /** A site session of a pro, attested account. */
  session: string;
}

/** An endpoint that reads what clients send. */
export interface BodyEndpoint {
  name: string;
  /** Makes a body and returns what sends it, so that it can be sent again. `mostBytes` = of the body. */
  make(random: Random, mostBytes?: number): (server: BodyServer) => Promise<BodyAnswer>;
}

const [KiB, MiB] = [1024, 1024 * 1024];
const accept = 'application/json, text/event-stream';

const numberOf = (header: string | string[] | undefined) => (header === undefined ? null : Number(header));

interface HttpBody {
  method: string;
  path: string;
  contentType: string | null;
  bytes: Buffer;
}

/** Sends a request; of a stream that does not end, the first events are its answer. */
function exchange({ url, session }: BodyServer, { method, path, contentType, bytes }: HttpBody): Promise<BodyAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<BodyAnswer>();
  const headers = {
    authorization: `Bearer ${session}`,
    accept,
    ...(method === 'GET' ? {} : { 'content-length': bytes.length }),
    ...(contentType === null ? {} : { 'content-type': contentType }),
  };
  const request = http.request(url + path, { method, headers }, (response) => {
    const parts: Buffer[] = [];
    const answered = () =>
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        text: Buffer.concat(parts).toString(),
        remaining: numberOf(response.headers['x-ratelimit-remaining']),
      });
    response.on('data', (part) => {
      parts.push(part);
      if (!path.startsWith('/v2/stream?') || response.statusCode !== 200) return;
      answered();
      response.destroy();
    });
    response.on('end', answered).on('error', () => {});
  });
  request.on('error', reject).end(method === 'GET' ? undefined : bytes);
  return promise;
}

function httpEndpoint(method: string, path: string, form: BodyForm, query = ''): BodyEndpoint {
  return {
    name: `${method} ${path}`,
    make(random, mostBytes = form.mostBytes) {
      const body = randomBody(random, { ...form, mostBytes: Math.min(mostBytes, form.mostBytes) });
      const own = query && `?${query}=${random.below(1e9)}`;
      return (server) => exchange(server, { method, path: path + own, ...body });
    },
  };
}

const whole = (json: string) => json;
const operation = (query: string) => (json: string) => `{"query":${JSON.stringify(query)},"variables":{"it":${json}}}`;
const cheap = '{ market { __typename } }';
const graphFrames = [
  whole,
  operation(quotes),
  operation(trade),
  (json: string) => `{"query":${JSON.stringify(cheap)},"variables":${json}}`,
  (json: string) => `{"query":${json}}`,
  (json: string) => `{"query":${JSON.stringify(cheap)},"extensions":${json}}`,
  (json: string) => `{"query":${JSON.stringify(cheap)},"operationName":${json}}`,
];

const rpc = (method: string, params: string) => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
const call = (tool: string, args: string) => rpc('tools/call', `{"name":"${tool}","arguments":${args}}`);
const mcpFrames = [
  whole,
  (json: string) => `[${json},${rpc('ping', '{}')}]`,
  (json: string) => rpc('tools/list', json),
  (json: string) => rpc('initialize', json),
  (json: string) => call('quotes', json),
  (json: string) => call('quotes', `{"symbols":${json}}`),
  (json: string) => call('put_watchlist', `{"id":"a","body":${json}}`),
  (json: string) => call('create_journal_trade', `{"body":${json}}`),
  (json: string) => call('graphql', json),
  (json: string) => call('graphql', operation(quotes)(json)),
];

/** Frames of a route: its whole body, and its example with each field replaced. */
function framesOf({ body }: Route): ((json: string) => string)[] {
  const [example] = (body!.schema.examples ?? []) as unknown[];
  if (typeof example !== 'object' || example === null) return [whole, (json) => `${json}\n${String(example)}`];
  const fields = Object.keys((body!.schema.properties as object) ?? example);
  return [
    whole,
    ...fields.map((field) => (json: string) => {
      const others = JSON.stringify({ ...example, [field]: undefined }).slice(1);
      return `{${JSON.stringify(field)}:${json}${others === '}' ? '' : ','}${others}`;
    }),
  ];
}

/** Every route with a method other than GET: those without a body discard input. */
function routeEndpoints(): BodyEndpoint[] {
  return routes
    .filter(({ method, body }) => body || method === 'POST')
    .map((route) => {
      const path = route.path.replace(/:\w+/g, 'bodies');
      const { body } = route;
      const ignored = { mostBytes: 64 * KiB, mediaType: 'text/plain', frames: [whole] };
      if (!body) return httpEndpoint(route.method, path, ignored);
      const form = { mostBytes: body.maxBytes, mediaType: body.mediaTypes[0]!, frames: framesOf(route) };
      // An import of a known id is not read.
      return httpEndpoint(route.method, path, form, route.queryParams.import_id ? 'import_id' : '');
    });
}

/** An address with random texts. */
function addressEndpoint(path: string, texts: (random: Random, json: string) => Record<string, string>): BodyEndpoint {
  return {
    name: `GET ${path}`,
    make(random, mostBytes = 15 * KiB) {
      const json = randomJson(random, Math.min(mostBytes, 15 * KiB) / random.pick([1, 3]));
      const query = Object.entries(texts(random, json)).map(
        ([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`,
      );
      const body = { method: 'GET', path: `${path}?${query.join('&')}`, contentType: null, bytes: Buffer.alloc(0) };
      return (server) => exchange(server, body);
    },
  };
}

/** Exchange of messages over a WebSocket, and the sign of an answer. */
interface Spoken {
  path: string;
  protocols: string[];
  mostBytes: number;
  frames: readonly ((json: string) => string)[];
  /** Is admitted; resolves when random messages may be sent. */
  begin(server: BodyServer, socket: ReturnType<typeof talk>): Promise<void>;
  /** A message that is sent after, and what answers it. */
  last: string;
  isLast(text: string): boolean;
  /** The answer of a message that is answered later than those after it. */
  isAnswer(text: string): boolean;
}

function socketEndpoint(spoken: Spoken): BodyEndpoint {
  return {
    name: `WebSocket ${spoken.path}`,
    make(random, mostBytes = spoken.mostBytes) {
      const form = { ...spoken, mediaType: '', mostBytes: Math.min(mostBytes, spoken.mostBytes) };
      const message = randomBody(random, form).bytes.toString();
      return async (server) => {
        const client = talk(server.url + spoken.path, spoken.protocols);
        await client.open;
        await spoken.begin(server, client);
        const texts: string[] = [];
        const over = Promise.withResolvers<void>();
        let isRead = false;
        const answers = /"type":"subscribe"/.test(message);
        client.socket.on('message', (data: Buffer) => {
          const text = String(data);
          if (spoken.isLast(text)) isRead = true;
          else texts.push(text);
          if (isRead && (!answers || texts.some(spoken.isAnswer))) over.resolve();
        });
        void client.closed.then(({ code, reason }) => {
          texts.push(JSON.stringify({ code, reason }));
          over.resolve();
        });
        client.send(message);
        client.send(spoken.last);
        await over.promise;
        client.socket.terminate();
        return { status: null, headers: {}, text: texts.join('\n'), remaining: null };
      };
    },
  };
}

async function heard(client: ReturnType<typeof talk>, wanted: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  client.socket.on('message', (data) => String(data).includes(wanted) && resolve());
  await Promise.race([promise, client.closed.then((end) => Promise.reject(new Error(JSON.stringify(end))))]);
}

const sockets = [
  socketEndpoint({
    path: '/graphql',
    protocols: ['graphql-transport-ws'],
    mostBytes: MiB,
    frames: [
      whole,
      ...graphFrames.map((frame) => (json: string) => `{"type":"subscribe","id":"1","payload":${frame(json)}}`),
      (json) => `{"type":"ping","payload":${json}}`,
      (json) => `{"type":"complete","id":${json}}`,
    ],
    async begin({ session }, client) {
      const acknowledged = heard(client, 'connection_ack');
      client.send({ type: 'connection_init', payload: { Authorization: `Bearer ${session}` } });
      await acknowledged;
    },
    last: '{"type":"ping","payload":{"last":1}}',
    isLast: (text) => text === '{"type":"pong","payload":{"last":1}}',
    isAnswer: (text) => /"type":"(?:next|error|complete)"/.test(text),
  }),
  socketEndpoint({
    path: '/v2/ws',
    protocols: [],
    mostBytes: 64 * KiB,
    frames: [
      whole,
      (json) => `{"op":"sub","id":"1","topic":"spot","symbol":${json}}`,
      (json) => `{"op":"sub","id":"1","topic":"stocks","symbol":"SPY","want":${json}}`,
      (json) => `{"op":"sub","id":${json},"topic":"spot","symbol":"SPY"}`,
      (json) => `{"op":"unsub","id":${json}}`,
      (json) => `{"op":"ping","t":${json}}`,
      (json) => `{"op":${json}}`,
    ],
    async begin(server, client) {
      const body = { method: 'POST', path: '/v2/stream/ticket', contentType: null, bytes: Buffer.alloc(0) };
      const { ticket } = JSON.parse((await exchange(server, body)).text).data;
      const authed = heard(client, '"authed"');
      client.send({ op: 'auth', ticket, proto: 3, encoding: 'protobuf' });
      await authed;
    },
    last: '{"op":"ping","t":"last"}',
    isLast: (text) => text === '{"op":"pong","t":"last"}',
    isAnswer: () => true,
  }),
];

/** Every endpoint that reads what clients send. */
export const bodyEndpoints: readonly BodyEndpoint[] = [
  httpEndpoint('POST', '/graphql', { mostBytes: MiB, mediaType: 'application/json', frames: graphFrames }),
  addressEndpoint('/graphql', (random, json) => {
    const query = random.pick([quotes, cheap, json]);
    const variables = random.pick([json, `{"it":${json}}`]);
    return random.pick([{ query, variables }, { query }, { query, extensions: json }, { query, operationName: json }]);
  }),
  httpEndpoint('POST', '/mcp', { mostBytes: MiB, mediaType: 'application/json', frames: mcpFrames }),
  ...routeEndpoints(),
  addressEndpoint('/v2/stream', (random, json) => ({
    topics: random.pick([json, `quotes:${json}`, `bars:SPY:1m,${json}`]),
  })),
  ...sockets,
];
