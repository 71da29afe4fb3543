import { named } from '../contract/components.ts';
import type { JsonSchema } from '../contract/json-schema.ts';

function header(name: string, description: string, schema: JsonSchema, required = false): JsonSchema {
  return named('headers', name, { description, ...(required ? { required } : {}), schema });
}

const requestId = header(
  'RequestId',
  'Id of the request: the x-request-id that was sent, if it is well-formed, else a new one.',
  { type: 'string' },
  true,
);
const count: JsonSchema = { type: 'integer', minimum: 0 };

const rate: Record<string, JsonSchema> = {
  'x-ratelimit-limit': header('RateLimit', 'Requests per minute of the tier.', count),
  'x-ratelimit-remaining': header('RateRemaining', 'Requests left in this minute.', count),
  'x-ratelimit-reset': header('RateReset', 'Seconds until the minute is over.', count),
  'x-ratelimit-consumed': header('RateConsumed', 'Requests that this answer took from the minute.', count),
};
const retryAfter = header('RetryAfter', 'Seconds to wait before the request is sent again.', count);
const etag = header(
  'ETag',
  'Strong tag of an answer about past sessions. Send it as If-None-Match to check whether the answer is current.',
  {
    type: 'string',
  },
);
const readAt = header(
  'ReadAt',
  'Read instant, epoch ms: when the request arrived. All data of a symbol in an answer is from one commit.',
  { type: 'integer', format: 'int64' },
  true,
);
const cacheControl = header('CacheControl', 'no-store if the answer can still change, else private.', {
  type: 'string',
});
const vary = header('Vary', 'The request headers that the answer depends on.', { type: 'string' }, true);

/** Headers of every answer, and of answers to charged requests. */
const ofAll = { 'x-request-id': requestId, 'Cache-Control': cacheControl, Vary: vary };
const always = { ...ofAll, ...rate };

/** Headers that an answer of a route can carry. */
export interface AnswerHeaders {
  /** Answers are of market data. */
  ofMarket: boolean;
  /** Answers about past sessions carry a tag. */
  tagged: boolean;
  /** True if answers are paged. */
  paged: boolean;
  /** True if the route has been replaced. */
  deprecated: boolean;
  /** Prefix of the headers that carry `meta` in formats other than JSON; null = there are none. */
  metaPrefix: string | null;
}

const text: JsonSchema = { type: 'string' };

function metaHeaders(prefix: string): Record<string, JsonSchema> {
  const json = 'As JSON, in formats other than JSON';
  return {
    [`${prefix}plane`]: header('MetaPlane', 'meta.plane, in formats other than JSON.', text),
    [`${prefix}caps`]: header('MetaCaps', `${json}: meta.caps.`, text),
    [`${prefix}extra`]: header('MetaExtra', `${json}: the rest of meta, including the cursor.`, text),
    [`${prefix}data`]: header('MetaData', `${json}: the values of data that are not in the rows. Of tables.`, text),
  };
}

const successor = 'rel="successor-version": the route that replaces this one.';
const replaced: Record<string, JsonSchema> = {
  Deprecation: header('Deprecation', 'When the route was deprecated (RFC 9745).', text),
  Sunset: header('Sunset', 'When the route will be retired (RFC 8594).', text),
};

/** Headers of a success. */
export function answerHeaders({
  ofMarket,
  tagged,
  paged,
  deprecated,
  metaPrefix,
}: AnswerHeaders): Record<string, JsonSchema> {
  const link = [
    ...(deprecated ? [successor] : []),
    ...(paged ? ['rel="next": the next page, in formats other than JSON; absent at the end.'] : []),
  ];
  return {
    ...always,
    ...(ofMarket ? { 'x-read-at': readAt } : {}),
    ...(tagged ? { ETag: etag } : {}),
    ...(link.length > 0 ? { Link: { description: link.join(' '), schema: text } } : {}),
    ...(deprecated ? replaced : {}),
    ...(metaPrefix === null ? {} : metaHeaders(metaPrefix)),
  };
}

/** Headers of the failures of a replaced route, beside those of all. */
export const replacedHeaders: Record<string, JsonSchema> = {
  ...replaced,
  Link: { description: successor, schema: text },
};

/** Headers of a failure. */
export function failureHeaders(status: number): Record<string, JsonSchema> {
  if (status === 401)
    return {
      ...ofAll,
      'WWW-Authenticate': header('WwwAuthenticate', 'The scheme that is expected (RFC 6750).', text, true),
    };
  return { ...always, ...(status === 429 || status === 503 ? { 'Retry-After': retryAfter } : {}) };
}

/** The request's id, on every answer. */
export const publicHeaders: Record<string, JsonSchema> = { 'x-request-id': requestId };

/** Headers of a description of the interface. */
export const descriptionHeaders: Record<string, JsonSchema> = {
  ...publicHeaders,
  ETag: header(
    'DescriptionTag',
    'Strong tag of a description. Send it as If-None-Match to check whether the description is current.',
    text,
  ),
};

/** Headers of a stream of market data. */
export const streamHeaders: Record<string, JsonSchema> = { ...publicHeaders, 'x-read-at': readAt };

/** The answer to a request whose If-None-Match names the tag. */
export function notModified(deprecated: boolean): JsonSchema {
  return named('responses', deprecated ? 'NotModifiedDeprecated' : 'NotModified', {
    description: 'The answer that the client has cached is current. No body.',
    headers: { ...always, 'x-read-at': readAt, ETag: etag, ...(deprecated ? replacedHeaders : {}) },
  });
}
