import type { GraphQLArgument, GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { dataSchema } from './contract/answer-schema.ts';
import { argumentsOf, variableOf } from './contract/argument-docs.ts';
import type { CompiledRoute } from './contract/compiled-route.ts';
import type { JsonSchema } from './contract/json-schema.ts';
import { mediaTypes, routeMedia } from './contract/media.ts';
import type { Param } from './contract/params.ts';
import { endedOn, type Route, readsMarket, writtenPath } from './contract/route.ts';
import { errorResponses } from './openapi/errors.ts';
import { answerHeaders, notModified, publicHeaders, streamHeaders } from './openapi/headers.ts';
import { publicPaths, publicTag } from './openapi/public-paths.ts';
import { ownTag, tags } from './openapi/tags.ts';
import { topicOptions } from './socket/control.ts';
import type { StreamOperations } from './stream/stream.ts';
import { topicKinds } from './stream/stream-topics.ts';

const says = (text: string, sentence: string) => text.toLowerCase().includes(sentence.toLowerCase().replace(/\.$/, ''));

/** Description of a parameter, with that of the graph's argument, which states defaults and maxima. */
function parameterDescription(own: unknown, argument: GraphQLArgument | undefined): string {
  const [said, form] = [argument?.description ?? '', typeof own === 'string' ? own : ''];
  const further = form.split(/(?<=\.) (?=[A-Z])/).filter((sentence) => !says(said, sentence));
  return [said, ...further].join(' ').trim();
}

function parameter(name: string, location: 'path' | 'query', schema: Param, argument?: GraphQLArgument): JsonSchema {
  const required = location === 'path' || !(schema instanceof z.ZodOptional);
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  const { description, example, type = 'string', ...rest } = (inner.meta() ?? {}) as Record<string, unknown>;
  return {
    name,
    in: location,
    required,
    description: parameterDescription(description, argument),
    schema: {
      type,
      ...rest,
      ...(argument?.defaultValue === undefined ? {} : { default: argument.defaultValue }),
    },
    ...(example === undefined ? {} : { example: type === 'string' ? example : Number(example) }),
  };
}

/** The schema of a body. A table's schema is that of its rows by column type. Bytes have no JSON type: OpenAPI 3.1. */
function bodySchema({ route, answer, tables }: CompiledRoute, media: string): JsonSchema {
  if (media === mediaTypes.json) return answer;
  if (media === mediaTypes.protobuf)
    return { contentMediaType: media, description: `${route.protobuf!.name} of /v2/rest-protocol.proto` };
  if (media === mediaTypes.text)
    return { type: 'string', description: 'The data as text. Values that are not in it are sent as headers.' };
  if (media === mediaTypes.ndjson) {
    const lists = tables.tables.map(({ name }) => name).join(', ');
    return { type: 'string', description: `A line of JSON per row of ${lists}. Other values are sent as headers.` };
  }
  const columns = tables.tables.map((table) => `${table.name}: ${table.columns.map(({ name }) => name).join(', ')}`);
  return {
    ...(media === mediaTypes.csv ? { type: 'string' } : { contentMediaType: media }),
    description: `Columns of ${columns.join('; of ')}. Values that are not in a column are sent as headers.`,
  };
}

/** The success answer of a route, in every format. */
function success(compiled: CompiledRoute, metaPrefix: string): JsonSchema {
  const { route, answer } = compiled;
  const media = routeMedia(compiled);
  const { meta } = answer.properties as { meta: { properties: JsonSchema } };
  return {
    description: 'The answer.',
    headers: answerHeaders({
      ofMarket: readsMarket(route),
      tagged: route.aboutSessions,
      paged: 'cursor' in meta.properties && media.includes(mediaTypes.csv),
      deprecated: route.sunset !== undefined,
      metaPrefix: media.length > 1 ? metaPrefix : null,
    }),
    content: Object.fromEntries(media.map((one) => [one, { schema: bodySchema(compiled, one) }])),
  };
}

/** The answer of a route that is a stream: its events are named by the route. */
function eventAnswer({ answer }: CompiledRoute): JsonSchema {
  const { data } = answer.properties as JsonSchema;
  const description = 'Server-sent events until the client disconnects: ready, one event per answer, then end.';
  const schema = { type: 'string', description, contentMediaType: 'text/event-stream', contentSchema: data };
  return { description, headers: streamHeaders, content: { 'text/event-stream': { schema } } };
}

/** Statuses of every route. Credentials are looked up in the store, so each route can fail without it. */
const statusesOfEvery = ({ sourceFailure }: Route) => [401, 414, 429, 500, ...(sourceFailure ? [] : [502])];

function operationObject(schema: GraphQLSchema, compiled: CompiledRoute, metaPrefix: string): JsonSchema {
  const { route, operation } = compiled;
  const taken = argumentsOf(schema, operation);
  return {
    operationId: route.name,
    tags: [route.scopeGroup],
    summary: route.summary,
    description: route.description,
    ...(route.sunset ? { deprecated: true } : {}),
    parameters: [
      ...Object.entries(route.pathParams).map(([name, param]) => parameter(name, 'path', param)),
      ...Object.entries(route.queryParams).map(([name, param]) =>
        parameter(name, 'query', param, taken.get(route.own?.variableOf[name] ?? variableOf(name))),
      ),
    ],
    ...(route.body
      ? {
          requestBody: {
            required: route.body.required,
            content: Object.fromEntries(route.body.mediaTypes.map((media) => [media, { schema: route.body!.schema }])),
          },
        }
      : {}),
    responses: {
      200: compiled.stream ? eventAnswer(compiled) : success(compiled, metaPrefix),
      ...(route.aboutSessions ? { 304: notModified(route.sunset !== undefined) } : {}),
      ...errorResponses([...statusesOfEvery(route), ...route.errors], route.sunset !== undefined),
    },
    'x-graphql-operation': operation.source,
  };
}

const about =
  `Market data and analytics. Every route is a stored operation of the graph at /graphql. Prices are dollars, times are epoch
milliseconds, strikes are thousandths of a dollar. null means unknown.`.replaceAll('\n', ' ');

const info: JsonSchema = {
  title: 'Tapegraph',
  version: '2',
  description: about,
  contact: { name: 'The operator of this gateway' },
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
};

/** The paths of routes, each with its methods. */
function pathsOf(
  schema: GraphQLSchema,
  routes: readonly CompiledRoute[],
  metaPrefix: string,
): Record<string, JsonSchema> {
  const paths: Record<string, JsonSchema> = {};
  for (const compiled of routes) {
    const { route } = compiled;
    const path = writtenPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationObject(schema, compiled, metaPrefix) };
  }
  return paths;
}

/** A description with the paths of the operator's routes, and their tag. */
export function withOwnPaths(
  description: JsonSchema,
  schema: GraphQLSchema,
  own: readonly CompiledRoute[],
  metaPrefix: string,
): JsonSchema {
  if (own.length === 0) return description;
  const paths = { ...(description.paths as JsonSchema), ...pathsOf(schema, own, metaPrefix) };
  return { ...description, tags: [...(description.tags as JsonSchema[]), ownTag], paths };
}

/**
 * The OpenAPI 3.1 description of the route table: parameters from the readers, answers from the operations' own types.
 * Schemas are written inline; `withComponents` writes each once. `metaPrefix` is the prefix of the headers that carry
 * `meta`.
 */
export function openApi(
  schema: GraphQLSchema,
  routes: readonly CompiledRoute[],
  streams: StreamOperations,
  metaPrefix: string,
): JsonSchema {
  const paths = pathsOf(schema, routes, metaPrefix);
  paths['/v2/stream'] = { get: streamOperation(schema, streams) };
  paths['/v2/ws'] = { get: socketOperation };
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    tags: [...tags, publicTag],
    security: [{ bearer: [] }, { apiKey: [] }],
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key or a site-session token.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key.' },
      },
    },
    paths: { ...paths, ...publicPaths },
  };
}

/** An OpenAPI document in which routes that have ended by `nowMs`, epoch ms, say so and have no answers. */
export function withEnded(description: JsonSchema, compiled: readonly CompiledRoute[], nowMs: number): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = { ...(description.paths as object) };
  for (const { route } of compiled) {
    const date = endedOn(route, nowMs);
    if (date === null) continue;
    const [path, method] = [writtenPath(route.path), route.method.toLowerCase()];
    const operation = paths[path]![method]!;
    const errors = Object.entries(operation.responses as object).filter(([status]) => Number(status) >= 400);
    const text = `Ended on ${date}: returns 410. Use ${route.sunset!.successor} instead.`;
    const ended = { ...operation, description: text, responses: Object.fromEntries(errors) };
    paths[path] = { ...paths[path], [method]: ended };
  }
  return { ...description, paths };
}

const topics = Object.entries(topicOptions).map(([topic, options]) => `${topic} (${options.join(', ')})`);

/** The WebSocket of protobuf frames as an OpenAPI operation: its handshake, and a description of the protocol. */
const socketOperation: JsonSchema = {
  operationId: 'ws',
  tags: ['market.live'],
  summary: 'Live stream of protobuf frames',
  description: [
    'A WebSocket. Text messages are JSON control; each binary message of the server is one Frame of /v2/stream-protocol.proto.',
    'Send {op: "auth", ticket, proto: 3, encoding: "protobuf"} within 10 seconds, with a ticket of POST /v2/stream/ticket; the answer is {op: "authed"}, or {op: "nack", code: "invalid_ticket"} and close code 4401.',
    'Then send {op: "sub", id, topic, symbol, …}; the answer is {op: "ack", id, effective} or {op: "nack", id, code, message}. {op: "unsub", id} ends a subscription.',
    `Topics with their options: ${topics.join(', ')}.`,
    'Answer each {op: "ping", t} with {op: "pong", t}. {op: "bye", reconnect_after_ms, reason, code, message} precedes the end of the connection.',
  ].join(' '),
  // The ticket is in the first message.
  security: [],
  responses: {
    101: { description: 'The WebSocket is open.', headers: publicHeaders },
    // Linters require a success for every operation; this one has one over HTTP/2.
    200: { description: 'The WebSocket is open, through a proxy that speaks HTTP/2 (RFC 8441).' },
    ...errorResponses([400, 414, 426, 429, 503]),
  },
};

function topicLine([kind, { option, all, description }]: [string, (typeof topicKinds)[string]]): string {
  const form = `${kind}:${all ? 'SYMBOL or *' : 'SYMBOL'}${option === null ? '' : '[:option]'}`;
  return `${form}: ${description}${option === null ? '' : ` (option: ${option})`}`;
}

/** Parameters of the stream. */
const parameters: JsonSchema[] = [
  {
    name: 'topics',
    in: 'query',
    required: true,
    description: `Topics separated by commas. A topic without a kind has the kind of the topic before it. ${Object.entries(topicKinds).map(topicLine).join('. ')}.`,
    schema: { type: 'string' },
    example: 'quotes:SPY,QQQ,bars:SPY:1m,large-trades:*:250000',
  },
  {
    name: 'since',
    in: 'query',
    required: false,
    description:
      'The time of the last event received before a disconnect: epoch ms, YYYY-MM-DD, or YYYY-MM-DDTHH:MM[:SS] in tz. Events after it are sent first. A time before the stored data is 400, which names the earliest. Last-Event-ID takes precedence.',
    schema: { type: 'string' },
  },
  {
    name: 'from',
    in: 'query',
    required: false,
    description:
      'Replays the topics from this time on: epoch ms, YYYY-MM-DD (its start), or YYYY-MM-DDTHH:MM[:SS] in tz. The events are those that a live stream would have sent; the last is `end` with the reason completed.',
    schema: { type: 'string' },
  },
  {
    name: 'to',
    in: 'query',
    required: false,
    description: 'End of the replay, inclusive, at most 31 days after from. Default, and latest: now.',
    schema: { type: 'string' },
  },
  {
    name: 'speed',
    in: 'query',
    required: false,
    description: 'Seconds of the past per second of a replay, from 0.1 to 3600. Default: 1.',
    schema: { type: 'number' },
  },
  {
    name: 'tz',
    in: 'query',
    required: false,
    description: 'IANA time zone of times without an offset. Default: America/New_York.',
    schema: { type: 'string' },
  },
  {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'The id of the last event of an earlier stream of the same topics.',
    schema: { type: 'string' },
  },
];

/** The stream as an OpenAPI operation. */
function streamOperation(schema: GraphQLSchema, operations: StreamOperations): JsonSchema {
  const live = [...operations].filter(([kind]) => Object.hasOwn(topicKinds, kind));
  const events = Object.fromEntries(live.map(([kind, operation]) => [kind, dataSchema(schema, operation)]));
  return {
    operationId: 'stream',
    tags: ['market.live'],
    summary: 'Live stream',
    description: [
      'Server-sent events. Each event is a JSON row as in the route of the same name; the event name is the kind of the topic.',
      'The first event is `ready` with the topics. Send the id of the last event as Last-Event-ID to resume after it, as far as events are retained.',
      'If the server ends the stream, the last event is `end`: {reason, error}, with reason shutdown, too_slow, not_entitled or failed; completed at the end of a replay.',
    ].join(' '),
    parameters,
    responses: {
      200: {
        description: 'The events, until the client disconnects.',
        headers: streamHeaders,
        content: {
          'text/event-stream': {
            schema: {
              type: 'string',
              description: 'Events. The data of each is JSON of its schema in x-events.',
              contentMediaType: 'text/event-stream',
              contentSchema: { anyOf: Object.values(events) },
            },
            'x-events': events,
          },
        },
      },
      ...errorResponses([400, 401, 403, 404, 414, 429, 500, 502, 503]),
    },
    'x-graphql-operation': [...operations.values()].map(({ source }) => source).join('\n'),
  };
}
