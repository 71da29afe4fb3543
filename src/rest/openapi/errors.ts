import { defaultRates, rateRule, tiers } from '../../platform/config/tiers.ts';
import { named } from '../contract/components.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import { failureHeaders, replacedHeaders } from './headers.ts';

interface ErrorStatus {
  /** Name of the response among the components. */
  name: string;
  description: string;
  /** Its codes, each with an example message. */
  codes: Readonly<Record<string, string>>;
}

/** The statuses of failures: the meaning and the codes of each. */
export const errorStatuses: Readonly<Record<number, ErrorStatus>> = {
  400: {
    name: 'BadRequest',
    description: 'A parameter or the body is invalid. The message names it.',
    codes: { invalid_params: 'limit: expected a whole number of 1 or more, got "-3"' },
  },
  401: {
    name: 'Unauthorized',
    description: 'No valid credential.',
    codes: {
      unauthenticated: 'Send an API key or a session token: Authorization: Bearer <credential>.',
      token_expired: 'The credential has expired.',
    },
  },
  403: {
    name: 'Forbidden',
    description: 'The tier is too low, or the non-professional declaration is missing.',
    codes: {
      not_entitled_tier: 'SPX needs the pro tier.',
      attestation_required: 'SPX needs a non-professional market-data declaration: POST /v2/account/classification.',
    },
  },
  404: {
    name: 'NotFound',
    description: 'The symbol is not registered, or the resource does not exist.',
    codes: { not_found: 'Symbol ABCD was not found.' },
  },
  410: {
    name: 'Gone',
    description: 'The route has been retired.',
    codes: { not_found: 'This route is no longer served; use /v2/gex/{symbol}/grid.' },
  },
  413: {
    name: 'ContentTooLarge',
    description: 'The body is too large.',
    codes: { invalid_params: 'The body is too large: at most 65536 bytes.' },
  },
  414: {
    name: 'UriTooLong',
    description: 'The path and query are too long.',
    codes: { invalid_params: 'The URL is too long: at most 16384 bytes.' },
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The content type of the body is not supported.',
    codes: { invalid_params: 'Content-Type: expected application/json.' },
  },
  426: {
    name: 'UpgradeRequired',
    description: 'The address answers WebSocket handshakes alone.',
    codes: { invalid_params: 'Send a WebSocket handshake: Connection: Upgrade, Upgrade: websocket.' },
  },
  429: {
    name: 'TooManyRequests',
    description: 'A rate or in-flight limit is exceeded. Retry-After says when to retry.',
    codes: { rate_limited: rateRule(defaultRates.free) },
  },
  500: {
    name: 'InternalError',
    description: 'An internal error.',
    codes: { internal: 'Something went wrong on our side.' },
  },
  502: { name: 'BadGateway', description: 'A source failed.', codes: { internal: 'The bars source failed.' } },
  503: {
    name: 'ServiceUnavailable',
    description: 'A source is not configured or not reachable.',
    codes: {
      internal: 'No bars source is configured.',
      provider_unavailable: 'The option-bar provider is unavailable.',
    },
  },
};

const allCodes = [...new Set(Object.values(errorStatuses).flatMap(({ codes }) => Object.keys(codes)))];

const details = named(
  'schemas',
  'ErrorDetails',
  {
    type: 'object',
    properties: {
      parameter: { type: 'string', description: 'The invalid parameter or field of the body.' },
      symbols: { type: 'array', items: { type: 'string' }, description: 'The rejected symbols.' },
      required_tier: named(
        'schemas',
        'Tier',
        // The graph sorts the values of its enums.
        { type: 'string', enum: [...tiers].sort(), description: 'The required tier.' },
        'Service tiers, lowest first.',
      ),
      retry_after_seconds: { type: 'integer', description: 'Seconds after which to retry, as in Retry-After.' },
    },
  },
  'Machine-readable details. Each field is present only if it applies.',
);

const errorEnvelope = named(
  'schemas',
  'ErrorEnvelope',
  {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: named('schemas', 'ErrorCode', { type: 'string', enum: allCodes }, 'Code of the error, for programs.'),
          message: { type: 'string', description: 'Description of the error and of the expected value, for people.' },
          details,
        },
      },
    },
  },
  'The body of every failure.',
);

function examplesOf({ codes }: ErrorStatus): JsonSchema {
  return Object.fromEntries(
    Object.entries(codes).map(([code, message]) => [code, { value: { error: { code, message } } }]),
  );
}

function errorResponse(status: number, deprecated: boolean): JsonSchema {
  const known = errorStatuses[status]!;
  return named('responses', deprecated ? `${known.name}Deprecated` : known.name, {
    description: known.description,
    headers: { ...failureHeaders(status), ...(deprecated ? replacedHeaders : {}) },
    content: { 'application/json': { schema: errorEnvelope, examples: examplesOf(known) } },
  });
}

// Each is one object, however many routes have it.
const responses = Object.fromEntries(
  Object.keys(errorStatuses).map((status) => [
    status,
    { current: errorResponse(Number(status), false), deprecated: errorResponse(Number(status), true) },
  ]),
);

/** Responses of failures by status, in ascending order. Those of a replaced route are marked deprecated. */
export function errorResponses(statuses: Iterable<number>, deprecated = false): Record<string, JsonSchema> {
  const ascending = [...new Set(statuses)].sort((a, b) => a - b);
  return Object.fromEntries(
    ascending.map((status) => [status, responses[status]![deprecated ? 'deprecated' : 'current']]),
  );
}
