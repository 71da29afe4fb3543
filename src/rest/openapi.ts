import type { GraphQLArgument, GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { argumentsOf, variableOf } from './contract/argument-docs.ts';
import type { CompiledRoute } from './contract/compiled-route.ts';
import type { JsonSchema } from './contract/json-schema.ts';
import { mediaTypes, routeMedia } from './contract/media.ts';
import type { Param } from './contract/params.ts';
import { endedOn, type Route, readsMarket, writtenPath } from './contract/route.ts';
import { errorResponses } from './openapi/errors.ts';
import { answerHeaders, notModified, streamHeaders } from './openapi/headers.ts';
import { publicPaths, publicTag } from './openapi/public-paths.ts';
import { ownTag, tags } from './openapi/tags.ts';
import { socketOperation } from './socket/socket-openapi.ts';
import type { StreamOperations } from './stream/stream.ts';
import { streamOperation } from './stream/stream-openapi.ts';

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
