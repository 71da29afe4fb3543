import { dereferenced } from '../contract/json-schema.ts';
import type { FuzzRequest, Grammar } from './request.ts';
import { hostileBody, hostileJson, hostilePiece, hostileText, meaningOf, plausible } from './values.ts';

/** As much of a JSON Schema as bodies are generated from. */
export interface Schema {
  type?: string | readonly string[];
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  $ref?: string;
}

/** One operation of the target's OpenAPI document. */
export interface RestOperation {
  method: string;
  path: string;
  /** The usage group: `market.bars`, `analytics.gex`, …. */
  tag: string;
  parameters: readonly { name: string; in: string; required: boolean; schema: Schema; example?: unknown }[];
  bodies: readonly { mediaType: string; schema: Schema }[];
}

/** The operations of an OpenAPI document. */
export function restOperations(document: { paths: Record<string, Record<string, unknown>> }): RestOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, found]) => {
      if (!['get', 'post', 'put', 'patch', 'delete'].includes(method)) return [];
      const operation = found as {
        tags?: string[];
        parameters?: RestOperation['parameters'];
        requestBody?: { content: Record<string, { schema: Schema }> };
      };
      const bodies = Object.entries(operation.requestBody?.content ?? {});
      return {
        method: method.toUpperCase(),
        path,
        tag: operation.tags?.[0] ?? '',
        parameters: operation.parameters ?? [],
        bodies: bodies.map(([mediaType, { schema }]) => ({
          mediaType,
          schema: dereferenced(document, schema) as Schema,
        })),
      };
    }),
  );
}

/** The text of a parameter: right as a rule, else anything. */
function parameterText(
  { random, today }: Grammar,
  { name, schema, example }: RestOperation['parameters'][number],
  isClock: boolean,
): string {
  if (random.once(5)) return hostilePiece(random);
  if (schema.enum) return encodeURIComponent(String(random.pick(schema.enum)));
  if (schema.type === 'boolean') return random.pick(['true', 'false', '1', '0', 'yes']);
  if (example !== undefined && random.once(4)) return encodeURIComponent(String(example));
  const meaning = isClock ? 'clock' : meaningOf(name);
  const many = /^(symbols|expiries)$/.test(name) ? 1 + random.below(random.once(20) ? 200 : 4) : 1;
  const texts = Array.from({ length: many }, () => plausible(random, meaning, today));
  return encodeURIComponent(texts.join(','));
}

/** A value that a schema describes, wrong in a part of it now and then. */
function schemaValue(grammar: Grammar, name: string, schema: Schema): unknown {
  const { random, today } = grammar;
  if (random.once(12)) return hostileJson(random);
  if (schema.enum) return random.pick(schema.enum);
  if (schema.const !== undefined) return schema.const;
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return schemaValue(grammar, name, random.pick(either));
  const type = typeof schema.type === 'string' ? schema.type : random.pick(schema.type ?? ['string']);
  if (type === 'object') return objectValue(grammar, schema);
  if (type === 'array')
    return Array.from({ length: random.below(random.once(30) ? 600 : 4) }, () =>
      schemaValue(grammar, name, schema.items ?? {}),
    );
  if (type === 'integer' || type === 'number')
    return name === 'ts'
      ? Number(plausible(random, 'epoch', today))
      : random.below(1000) / (type === 'integer' ? 1 : 8);
  if (type === 'boolean') return random.once(2);
  if (type === 'null') return null;
  if (name === 'account_id') return random.pick(['main', 'other', hostileText(random)]);
  return plausible(random, /symbol/.test(name) ? 'ticker' : 'text', today);
}

function objectValue(grammar: Grammar, { properties = {} }: Schema): Record<string, unknown> {
  const kept = Object.entries(properties).filter(() => !grammar.random.once(7));
  return Object.fromEntries(kept.map(([name, schema]) => [name, schemaValue(grammar, name, schema)]));
}

/** A file to import: lines of trades, most of them right, under an id that comes again. */
function importLines({ random, today }: Grammar): Buffer {
  const lines = Array.from({ length: random.below(random.once(50) ? 2000 : 8) }, (_, i) =>
    random.once(5)
      ? JSON.stringify(hostileJson(random, 1))
      : JSON.stringify({
          id: `t${random.below(500)}-${i}`,
          account_id: 'main',
          symbol: plausible(random, 'ticker', today),
          side: 'buy',
          qty: 1 + i,
          price: 2.5,
          ts: Number(plausible(random, 'epoch', today)),
        }),
  );
  return Buffer.from(lines.join(random.pick(['\n', '\r\n', '\n\n'])));
}

function bodyOf(grammar: Grammar, { bodies, path }: RestOperation): { mediaType: string; body: Buffer } | null {
  const { random } = grammar;
  if (bodies.length === 0) return random.once(40) ? { mediaType: 'application/json', body: hostileBody(random) } : null;
  const { mediaType, schema } = random.pick(bodies);
  if (random.once(12)) return random.once(2) ? null : { mediaType, body: hostileBody(random) };
  if (path.endsWith('/import')) return { mediaType, body: importLines(grammar) };
  return { mediaType, body: Buffer.from(JSON.stringify(schemaValue(grammar, '', schema))) };
}

function queryOf(grammar: Grammar, { parameters, path }: RestOperation): string {
  const { random } = grammar;
  const pairs = parameters
    .filter((parameter) => parameter.in === 'query' && !random.once(parameter.required ? 12 : 2))
    .map(
      (parameter) =>
        `${parameter.name}=${parameterText(grammar, parameter, path.endsWith('/history') && parameter.name !== 'date')}`,
    );
  if (random.once(25))
    pairs.push(
      `${random.pick(['__proto__', 'constructor', 'symbols[]', 'toString', '%', '', 'x'])}=${hostilePiece(random)}`,
    );
  // Sent twice.
  if (pairs.length > 0 && random.once(25)) pairs.push(random.pick(pairs));
  return pairs.join('&');
}

const forms = [
  'application/json',
  'text/csv',
  'application/x-protobuf',
  'application/vnd.apache.arrow.stream',
  'application/vnd.apache.parquet',
  'application/x-ndjson',
];

/** A request to a route: as its description says, but for the parts that are wrong on purpose. */
export function restRequest(grammar: Grammar, operations: readonly RestOperation[]): FuzzRequest {
  const { random } = grammar;
  const operation = random.pick(operations.filter(({ path }) => path !== '/v2/stream'));
  let about: string | null = null;
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((each) => each.in === 'path' && each.name === name);
    const text = parameterText(grammar, parameter ?? { name, in: 'path', required: true, schema: {} }, false);
    if (name === 'symbol' || name === 'underlying') about = text.toUpperCase();
    return text;
  });
  const query = queryOf(grammar, operation);
  const body = bodyOf(grammar, operation);
  return {
    kind: 'rest',
    method: operation.method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      ...(body ? { 'content-type': body.mediaType } : {}),
      ...(random.once(6) ? { accept: random.pick(forms) } : {}),
    },
    credential: null,
    ...(body ? { body: body.body } : {}),
    about: /^(market\.(live|bars)|analytics)/.test(operation.tag) && !/expirations/.test(operation.path) ? about : null,
  };
}
