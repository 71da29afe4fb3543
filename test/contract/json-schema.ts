// As much of JSON Schema 2020-12 as the published description uses; anything else in it is a fault of the check, and
// throws.

type Schema = Record<string, unknown>;

const annotations = new Set(['description', 'example', 'examples', 'default', 'title', 'deprecated']);
const known = new Set([
  'type',
  'properties',
  'required',
  'items',
  'enum',
  'const',
  'anyOf',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'maxItems',
  'additionalProperties',
]);

const formats: Record<string, (value: unknown) => boolean> = {
  date: (value) => /^\d{4}-\d{2}-\d{2}$/.test(String(value)) && !Number.isNaN(Date.parse(String(value))),
  int32: (value) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
  int64: (value) => Number.isSafeInteger(value),
  double: (value) => Number.isFinite(value),
};

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function isOfType(value: unknown, type: string): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;
}

/** A schema with what its references lead to put in their place. */
export function dereferenced(document: Schema, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => dereferenced(document, item));
  if (schema === null || typeof schema !== 'object') return schema;
  const { $ref, ...own } = schema as Schema;
  const entries = Object.entries(own).map(([key, value]) => [key, dereferenced(document, value)]);
  if (typeof $ref !== 'string') return Object.fromEntries(entries);
  let target: unknown = document;
  for (const key of $ref.slice('#/'.length).split('/')) target = (target as Schema)[key];
  return { ...(dereferenced(document, target) as Schema), ...Object.fromEntries(entries) };
}

/**
 * Misfits of `value` with `schema`: a line for each, with its position. Stricter than JSON Schema: a key of an object
 * that the schema does not name is one, too.
 */
export function misfits(schema: Schema, value: unknown, path = '$'): string[] {
  for (const keyword of Object.keys(schema)) {
    if (!known.has(keyword) && !annotations.has(keyword)) throw new Error(`${path}: keyword ${keyword} is not checked`);
  }
  if (Array.isArray(schema.anyOf)) {
    const tries = (schema.anyOf as Schema[]).map((one) => misfits(one, value, path));
    return tries.some((found) => found.length === 0) ? [] : tries.flat();
  }
  const types = [schema.type ?? []].flat() as string[];
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    return [`${path}: ${typeOf(value)} ${JSON.stringify(value)?.slice(0, 60)}, not ${types.join(' or ')}`];
  }
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) {
    return [`${path}: ${JSON.stringify(value)} is none of ${JSON.stringify(schema.enum)}`];
  }
  if (value === null) return [];
  if (typeof schema.format === 'string') {
    const fits = formats[schema.format];
    if (!fits) throw new Error(`${path}: format ${schema.format} is not checked`);
    if (!fits(value)) return [`${path}: ${JSON.stringify(value)} is not of format ${schema.format}`];
  }
  if (Array.isArray(value)) {
    if (!schema.items) throw new Error(`${path}: an array without items`);
    return value.flatMap((item, i) => misfits(schema.items as Schema, item, `${path}[${i}]`));
  }
  return typeof value === 'object' ? objectMisfits(schema, value as Record<string, unknown>, path) : [];
}

function objectMisfits(schema: Schema, value: Record<string, unknown>, path: string): string[] {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const more = schema.additionalProperties as Schema | undefined;
  const missing = ((schema.required ?? []) as string[]).filter((key) => !Object.hasOwn(value, key));
  return [
    ...missing.map((key) => `${path}.${key} is missing`),
    ...Object.entries(value).flatMap(([key, inner]) => {
      const property = Object.hasOwn(properties, key) ? properties[key] : more;
      return property ? misfits(property, inner, `${path}.${key}`) : [`${path}.${key} is not in the schema`];
    }),
  ];
}
