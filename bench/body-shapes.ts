import http from 'node:http';
import type { Answer, TestApp } from '../test/support/app.ts';
import { type BodyEndpoint, bodyEndpoints } from '../test/support/body-endpoints.ts';
import { graphTransports } from '../test/support/graph-transports.ts';
import { hostileVariables, numbered } from '../test/support/hostile-variables.ts';
import { randomOf } from '../test/support/random.ts';
import { isStructured, legalValue, variablePositions } from '../test/support/variable-positions.ts';

/** A way to send a shape; returns how many bytes came, and the status if there is one. */
export interface Shape {
  name: string;
  send: () => Promise<{ status: number | null; bytes: number }>;
}

/** Sender of shapes. */
export type ShapeClient = Pick<TestApp, 'send' | 'url'>;

/** A client of a server, over connections that last. */
export function shapeClient(url: string, token: string): ShapeClient {
  const agent = new http.Agent({ keepAlive: true });
  return {
    url,
    send: (method, path, { headers = {}, body = '', contentType = 'application/json' } = {}) =>
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
      }),
  };
}

const MB = 1024 * 1024;
const accept = 'application/json, text/event-stream';

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
  const call = (args: string, id = 1) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"put_watchlist","arguments":${args}}}`;
  const text = 'x'.repeat(MB - 300);
  const messages = {
    'a call of unknown arguments': call(object(9000)),
    'a call with a long text': call(`{"id":"a","body":"${text}"}`),
    'a call with a long list': call(`{"id":"a","body":{"name":"a","symbols":[${numbered(9000, () => '"SPY"')}]}}`),
    'an unknown method of a long name': `{"jsonrpc":"2.0","id":1,"method":"${text}"}`,
    'a batch': `[${numbered(20, (i) => call(object(400), i))}]`,
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
export function shapesOf(client: ShapeClient, token: string): Shape[] {
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

/** A random body of an endpoint, by the number that makes it. */
export function randomShape({ name, make }: BodyEndpoint, number: number, url: string, session: string): Shape {
  const send = make(randomOf(number));
  return {
    name: `${name}, random body ${number}`,
    send: async () => {
      const { status, text } = await send({ url, session });
      return { status, bytes: text.length };
    },
  };
}

/** A shape, or a random body, by its name. */
export function shapeNamed(name: string, url: string, token: string): Shape {
  const [, endpoint, number] = /^(.*), random body (\d+)$/.exec(name) ?? [];
  const found = bodyEndpoints.find((each) => each.name === endpoint);
  if (found) return randomShape(found, Number(number), url, token);
  return shapesOf(shapeClient(url, token), token).find((each) => each.name === name)!;
}
