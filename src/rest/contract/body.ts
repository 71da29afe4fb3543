import { z } from 'zod';
import { bodyRequests } from '../../access/limits/body-points.ts';
import { bodyOver, utf8Text } from '../../platform/http/request-body.ts';
import { type Failure, invalidParameter } from '../../platform/wire/failure.ts';
import { boundedJsonSize, jsonFailure } from '../../platform/wire/sent-text.ts';
import { named } from './components.ts';

/** Reader of a route's request body. */
export interface BodyReader {
  /** Accepted media types; OpenAPI lists them in this order. */
  mediaTypes: readonly string[];
  maxBytes: number;
  required: boolean;
  /** JSON Schema of the body, for OpenAPI. */
  schema: Record<string, unknown>;
  /** Number of requests that a request with this body costs, including itself. Throws 400 for an invalid body. */
  cost: (bytes: Buffer) => number;
  /** The value for the route's `variables`. Throws 400 for a body of the wrong shape. */
  read: (bytes: Buffer) => unknown;
}

/**
 * Reads and checks a body: 413 if too large, 400 if invalid. `charge` takes the request's cost before the body is
 * parsed.
 */
export async function readBody(
  reader: BodyReader,
  bytes: Buffer,
  charge: (requests: number) => Promise<void>,
): Promise<unknown> {
  if (bytes.length > reader.maxBytes) throw bodyOver(reader.maxBytes);
  if (bytes.length === 0) {
    if (!reader.required) return null;
    throw invalidParameter('body', 'is required; it was empty');
  }
  await charge(Math.ceil(reader.cost(bytes)));
  return reader.read(bytes);
}

/** The first error in a JSON value, as a 400 that names the field, or `body` for the value as a whole. */
function shapeFailure(error: z.ZodError): Failure {
  const { path, message } = error.issues[0]!;
  const [field, index] = path;
  const item = typeof index === 'number' ? `item ${index + 1}: ` : '';
  return invalidParameter(String(field ?? 'body'), `${item}${message}`);
}

/** OpenAPI's description of a body: the name of its schema, and a valid example. */
export interface BodyDescription {
  name: string;
  example: unknown;
}

function describedBody(shape: z.ZodType, { name, example }: BodyDescription): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(shape, { io: 'input' });
  return named('schemas', name, { ...schema, examples: [example] });
}

/**
 * A JSON body of at most `maxBytes` and of this shape. Unknown fields are ignored. OpenAPI shows `described` if the
 * shape leaves some checks to the operation.
 */
export function jsonBody(
  shape: z.ZodType,
  description: BodyDescription,
  { required = true, maxBytes = 64 * 1024, mediaTypes = ['application/json'], described = shape } = {},
): BodyReader {
  return {
    mediaTypes,
    maxBytes,
    required,
    schema: describedBody(described, description),
    cost: (bytes) => 1 + bodyRequests(boundedJsonSize(bytes, 'body')),
    read: (bytes) => {
      let value: unknown;
      try {
        value = JSON.parse(utf8Text(bytes));
      } catch (error) {
        if (error instanceof SyntaxError) throw invalidParameter('body', 'expected JSON');
        throw error;
      }
      const fault = jsonFailure(value, 'body');
      if (fault) throw fault;
      const read = shape.safeParse(value);
      if (!read.success) throw shapeFailure(read.error);
      return read.data;
    },
  };
}

/** The message for a field that is missing, and for one of another type. */
export const fieldError = (expected: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : `expected ${expected}`;

/**
 * A JSON object that OpenAPI describes as `shape`. Only its being an object is checked here; the operation checks its
 * fields, so that every endpoint reports the same errors.
 */
export function objectBody(
  shape: z.ZodType,
  description: BodyDescription,
  { error = 'expected an object', mediaTypes = ['application/json'] } = {},
): BodyReader {
  const anyObject = z.record(z.string(), z.unknown(), { error });
  return jsonBody(anyObject, description, { mediaTypes, described: shape });
}

/** A merge patch (RFC 7396), sent as one or as plain JSON. */
export function mergePatchBody(shape: z.ZodType, description: BodyDescription): BodyReader {
  return objectBody(shape, description, { mediaTypes: ['application/merge-patch+json', 'application/json'] });
}
