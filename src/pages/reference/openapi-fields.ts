import type { JsonSchema } from '../../rest/contract/json-schema.ts';
import { writtenPath } from '../../rest/contract/route.ts';

/** The OpenAPI properties of a parameter that the reference shows. */
export interface DescribedParameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example?: unknown;
}

/** The OpenAPI properties of a route that the reference shows. */
export interface Described {
  operationId: string;
  parameters: readonly DescribedParameter[];
  requestBody?: { required: boolean; content: Readonly<Record<string, { schema: JsonSchema }>> };
  responses: Readonly<
    Record<string, { description: string; content: Readonly<Record<string, { schema: JsonSchema }>> }>
  >;
}

/** The description of a route in an OpenAPI document. */
export function describedBy(document: JsonSchema, method: string, path: string): Described {
  const paths = document.paths as Record<string, Record<string, Described>>;
  return paths[writtenPath(path)]![method.toLowerCase()]!;
}

/** The schema of a route's answer; of a stream, that of its events. */
export function answerSchemaOf({ responses }: Described): JsonSchema {
  const { content } = responses[200]!;
  const [{ schema }] = Object.values(content) as [{ schema: JsonSchema }];
  return content['application/json']?.schema ?? (schema.contentSchema as JsonSchema);
}

/** The id of a parameter in the page; `operation` = the route's name. */
export const parameterId = (operation: string, parameter: string): string => `${operation}-parameter-${parameter}`;

/** A type in words: `integer`, `string, date or null`, `equity | index`. */
export function typeText(schema: JsonSchema): string {
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as JsonSchema[]).map(typeText).join(' or ');
  const types = [schema.type ?? 'any'].flat() as string[];
  const nullable = types.includes('null');
  const [type = 'null'] = types.filter((one) => one !== 'null');
  const values = (schema.enum as unknown[] | undefined)?.filter((value) => value !== null);
  const format = schema.format === 'date' ? ' (date)' : '';
  const text =
    type === 'array'
      ? `list of ${typeText((schema.items ?? {}) as JsonSchema)}`
      : (values?.join(' | ') ?? type + format);
  return nullable ? `${text} or null` : text;
}

/** A field of an answer or a body, with its path. */
export interface DescribedField {
  /** For example `data[].strikes[].gex`. */
  path: string;
  type: string;
  description: string;
  /** True if some answers lack it. */
  optional: boolean;
}

function objectIn(schema: JsonSchema): { object: JsonSchema; list: boolean } | null {
  const types = [schema.type].flat();
  if (types.includes('object') && schema.properties) return { object: schema, list: false };
  if (types.includes('array')) {
    const inner = objectIn((schema.items ?? {}) as JsonSchema);
    return inner && { object: inner.object, list: true };
  }
  const found = ((schema.anyOf ?? []) as JsonSchema[]).map(objectIn).find((one) => one !== null);
  return found ?? null;
}

/** The fields of a schema, each followed by those inside it. */
export function fieldsOf(schema: JsonSchema, place = ''): DescribedField[] {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  return Object.entries(properties).flatMap(([name, field]) => {
    const inner = objectIn(field);
    const path = place === '' ? name : `${place}.${name}`;
    return [
      {
        path,
        type: inner ? (inner.list ? 'list' : 'object') : typeText(field),
        description: String(field.description ?? ''),
        optional: !required.includes(name),
      },
      ...(inner ? fieldsOf(inner.object, inner.list ? `${path}[]` : path) : []),
    ];
  });
}
