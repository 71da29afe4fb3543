import { named } from '../contract/components.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import { errorResponses } from './errors.ts';
import { descriptionHeaders, publicHeaders } from './headers.ts';

const tag = 'service';

function status(
  name: string,
  values: readonly string[],
  description: string,
  further: Record<string, JsonSchema> = {},
): JsonSchema {
  const properties = { status: { type: 'string', enum: values }, ...further };
  const schema = { type: 'object', required: ['status'], properties };
  return named('schemas', name, schema, description);
}

function answer(description: string, media: string, schema: JsonSchema): JsonSchema {
  return { description, headers: publicHeaders, content: { [media]: { schema } } };
}

const unchanged = named('responses', 'DescriptionNotModified', {
  description: 'The description that the client has cached is current. No body.',
  headers: descriptionHeaders,
});

/** The answers of a description of the interface. */
function described(description: string, media: string, schema: JsonSchema): JsonSchema {
  return { 200: { ...answer(description, media, schema), headers: descriptionHeaders }, 304: unchanged };
}

function publicPath(operationId: string, summary: string, description: string, responses: JsonSchema): JsonSchema {
  return {
    get: {
      operationId,
      tags: [tag],
      summary,
      description,
      security: [],
      responses: { ...responses, ...errorResponses([414]) },
    },
  };
}

const healthDetails: Record<string, JsonSchema> = {
  reasons: { type: 'array', items: { type: 'string' }, description: 'Why the process is degraded, for operators.' },
  loading: {
    type: 'object',
    description: 'The load in progress. Absent when everything is stored.',
    required: ['what', 'percent'],
    properties: {
      what: { type: 'string', description: 'Part of the sample market that is loading, for people.' },
      percent: {
        type: 'integer',
        minimum: 0,
        maximum: 100,
        description: 'Share of the market that is stored, percent.',
      },
    },
  },
};
const readiness = status(
  'Readiness',
  ['ready', 'not_ready', 'draining'],
  'Readiness of the process for requests. While a sample market is loaded: not_ready until its latest session is stored.',
);

const text = { type: 'string' };
const anyObject = { type: 'object', additionalProperties: true };
const protoFile = described('A .proto file.', 'text/plain', text);

/** The paths that need no credential, as OpenAPI describes them. */
export const publicPaths: Record<string, JsonSchema> = {
  '/healthz': publicPath('health', 'Health', 'Reports whether the process and its dependencies work.', {
    200: answer(
      'The process answers.',
      'application/json',
      status('Health', ['ok', 'degraded'], 'Health of the process.', healthDetails),
    ),
  }),
  '/readyz': publicPath('readiness', 'Readiness', 'Reports whether the process accepts requests. For load balancers.', {
    200: answer('Ready.', 'application/json', readiness),
    503: answer('Not ready, or shutting down.', 'application/json', readiness),
  }),
  '/v2/openapi.json': publicPath(
    'openapi',
    'OpenAPI description',
    'This document.',
    described('OpenAPI 3.1.', 'application/json', anyObject),
  ),
  '/asyncapi.json': publicPath(
    'asyncapi',
    'AsyncAPI description',
    'The streams and their messages.',
    described('AsyncAPI 3.0.', 'application/json', anyObject),
  ),
  '/schema.graphql': publicPath(
    'schema',
    'GraphQL schema',
    'Every type and field of the graph, with its unit.',
    described('The schema in the schema definition language.', 'text/plain', text),
  ),
  '/llms.txt': publicPath(
    'llms',
    'Index for language models',
    'The routes, guides and descriptions, as Markdown.',
    described('Markdown in the form of llmstxt.org.', 'text/plain', text),
  ),
  '/v2/rest-protocol.proto': publicPath(
    'rest-protocol',
    'Protobuf schema',
    'The messages of answers in application/x-protobuf.',
    protoFile,
  ),
  '/v2/stream-protocol.proto': publicPath(
    'stream-protocol',
    'Protobuf schema of frames',
    'The frames of /v2/ws.',
    protoFile,
  ),
  '/v2/ws-protocol.proto': publicPath(
    'ws-protocol',
    'Protobuf schema of frames',
    'The same as /v2/stream-protocol.proto.',
    protoFile,
  ),
  '/v2/ws-protocol.json': publicPath(
    'ws-protocol-json',
    'JSON descriptor of frames',
    'The schema of /v2/stream-protocol.proto as a JSON descriptor of protobufjs.',
    described('A JSON descriptor.', 'application/json', anyObject),
  ),
};

/** The tag of the public paths. */
export const publicTag = { name: tag, description: 'Health and descriptions. No credential.' };
