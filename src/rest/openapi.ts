import type { GraphQLArgument, GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { tiers } from '../domain/tier.ts';
import type { JsonSchema } from './contract/answer-schema.ts';
import { argumentOf, variableOf } from './contract/argument-docs.ts';
import { mediaTypes, routeMedia } from './contract/media.ts';
import type { Param } from './contract/params.ts';
import type { CompiledRoute } from './http/router.ts';
import { streamOperation } from './stream/openapi.ts';
import type { StreamOperations } from './stream/stream.ts';

/** The statuses of failures: what each means, and the codes it comes with. */
export const errorCodes: Readonly<Record<number, { description: string; codes: readonly string[] }>> = {
  400: { description: 'A parameter or the body is invalid. The message names it.', codes: ['invalid_params'] },
  401: { description: 'No valid credential.', codes: ['unauthenticated', 'token_expired'] },
  403: {
    description: 'The tier is too low, or the non-professional declaration is missing.',
    codes: ['not_entitled_tier', 'attestation_required'],
  },
  404: { description: 'The symbol is not registered, or the resource does not exist.', codes: ['not_found'] },
  410: { description: 'The route has been retired.', codes: ['not_found'] },
  413: { description: 'The body is too large.', codes: ['invalid_params'] },
  415: { description: 'The content type of the body is not supported.', codes: ['invalid_params'] },
  429: {
    description: 'A rate or in-flight limit is exceeded. Retry-After says when to retry.',
    codes: ['rate_limited'],
  },
  500: { description: 'An internal error.', codes: ['internal'] },
  502: { description: 'A source failed.', codes: ['internal'] },
  503: { description: 'A source is not configured or not reachable.', codes: ['internal', 'provider_unavailable'] },
};

const detailsSchemas: Record<string, JsonSchema> = {
  parameter: { type: 'string', description: 'The invalid parameter or field of the body.' },
  symbols: { type: 'array', items: { type: 'string' }, description: 'The rejected symbols.' },
  required_tier: { type: 'string', enum: tiers, description: 'The required tier.' },
  retry_after_seconds: { type: 'integer', description: 'Seconds after which to retry, as in Retry-After.' },
};

function errorResponse(status: number): JsonSchema {
  const { description, codes } = errorCodes[status]!;
  return {
    description,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['error'],
          properties: {
            error: {
              type: 'object',
              required: ['code', 'message'],
              properties: {
                code: { type: 'string', enum: codes },
                message: { type: 'string' },
                details: {
                  type: 'object',
                  description: 'Machine-readable details. Each field is present only if it applies.',
                  properties: detailsSchemas,
                },
              },
            },
          },
        },
      },
    },
  };
}

/** What a parameter is, and what the graph says of the argument it becomes: defaults and maxima are stated there. */
function parameterDescription(own: unknown, argument: GraphQLArgument | null): string {
  const texts = [argument?.description, own].filter((text) => typeof text === 'string' && text !== '');
  return [...new Set(texts)].join(' ');
}

function parameter(
  name: string,
  place: 'path' | 'query',
  schema: Param,
  argument: GraphQLArgument | null = null,
): JsonSchema {
  const required = place === 'path' || !(schema instanceof z.ZodOptional);
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  const { description, example, type = 'string', ...rest } = (inner.meta() ?? {}) as Record<string, unknown>;
  return {
    name,
    in: place,
    required,
    description: parameterDescription(description, argument),
    schema: {
      type,
      ...rest,
      ...(argument?.defaultValue === undefined ? {} : { default: argument.defaultValue }),
    },
    ...(example === undefined ? {} : { example }),
  };
}

/** The schema of a body. A table's is of its rows, as the type of its columns. */
function bodySchema({ route, answer, tables }: CompiledRoute, media: string): JsonSchema {
  if (media === mediaTypes.json) return answer;
  if (media === mediaTypes.protobuf)
    return { type: 'string', format: 'binary', description: `${route.protobuf!.name} of /v2/rest-protocol.proto` };
  const columns = tables.tables.map((table) => `${table.name}: ${table.columns.map(({ name }) => name).join(', ')}`);
  return {
    type: 'string',
    ...(media === mediaTypes.arrow ? { format: 'binary' } : {}),
    description: `Columns of ${columns.join('; of ')}. Values that are not in a column are sent as headers.`,
  };
}

function operationObject(schema: GraphQLSchema, compiled: CompiledRoute): JsonSchema {
  const { route, operation } = compiled;
  // Who asks is looked up in the store, so that every route can meet its absence.
  const statuses = [...new Set([401, 429, 500, 502, ...route.errors])].sort((a, b) => a - b);
  return {
    operationId: route.name,
    tags: [route.scopeGroup],
    summary: route.summary,
    description: route.description,
    ...(route.sunset ? { deprecated: true } : {}),
    parameters: [
      ...Object.entries(route.pathParams).map(([name, param]) => parameter(name, 'path', param)),
      ...Object.entries(route.queryParams).map(([name, param]) =>
        parameter(name, 'query', param, argumentOf(schema, operation, variableOf(name))),
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
      200: {
        description: 'The answer.',
        content: Object.fromEntries(
          routeMedia(compiled).map((media) => [media, { schema: bodySchema(compiled, media) }]),
        ),
      },
      ...Object.fromEntries(statuses.map((status) => [status, errorResponse(status)])),
    },
    'x-graphql-operation': operation.source,
  };
}

/** The OpenAPI 3.1 description of the route table: parameters from the readers, answers from the operations' own types. */
export function openApi(
  schema: GraphQLSchema,
  routes: readonly CompiledRoute[],
  streams: StreamOperations,
): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const compiled of routes) {
    const { route } = compiled;
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationObject(schema, compiled) };
  }
  paths['/v2/stream'] = { get: streamOperation(schema, streams, errorResponse) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tapegraph',
      version: '2',
      description:
        'Market data and analytics. Every route is a stored operation of the graph at /graphql. Prices are dollars, times are epoch milliseconds, strikes are thousandths of a dollar. null means unknown.',
    },
    security: [{ bearer: [] }, { apiKey: [] }],
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key or a site-session token.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
    paths,
  };
}
