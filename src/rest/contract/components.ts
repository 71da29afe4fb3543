import type { JsonSchema } from './json-schema.ts';

/** The sections of an OpenAPI document's components that parts are moved to. */
type Section = 'schemas' | 'responses' | 'headers';

interface Component {
  section: Section;
  name: string;
  /** Its description wherever it is used. */
  description: string | undefined;
  /** The full component, if uses show only part of it. */
  whole: JsonSchema | undefined;
}

/** Key that holds the name of a part. A symbol is not serialized, so an inline description does not contain it. */
const component = Symbol('component');

type Named = JsonSchema & { [component]?: Component };

/**
 * Names a part of the description: `withComponents` writes it once, with this description, and a reference at every
 * use. A description in `part` itself belongs to the use. `whole` is the component if uses omit some of it.
 */
export function named(
  section: Section,
  name: string,
  part: JsonSchema,
  description?: string | null | undefined,
  whole?: JsonSchema,
): JsonSchema {
  return { ...part, [component]: { section, name, description: description ?? undefined, whole } };
}

/** A schema without `null`. */
function withoutNull({ type, enum: values, ...rest }: JsonSchema): JsonSchema {
  const types = [type].flat().filter((one) => one !== 'null');
  return {
    ...(type === undefined ? {} : { type: types.length === 1 ? types[0] : types }),
    ...(Array.isArray(values) ? { enum: values.filter((value) => value !== null) } : {}),
    ...rest,
  };
}

type Components = Record<string, Record<string, JsonSchema>>;

/** The accepted values of a part: its text without descriptions. */
function meaning(part: JsonSchema): string {
  return JSON.stringify(part, (key, value) => (key === 'description' && typeof value === 'string' ? undefined : value));
}

/** Adds a component. Throws if another of the same name has a different meaning. */
function add(components: Components, { section, name, description }: Component, part: JsonSchema): void {
  components[section] ??= {};
  const whole = { ...(description === undefined ? {} : { description }), ...part };
  const known = components[section][name];
  if (known && meaning(known) !== meaning(whole))
    throw new Error(`${section}/${name} of the description is two: ${meaning(known)} and ${meaning(whole)}`);
  components[section][name] ??= whole;
}

/** A document whose named parts are components, each written once. */
export function withComponents({ components: given, ...document }: JsonSchema): JsonSchema {
  const components: Components = {};
  // Three of four parts are objects that stand at several places.
  const done = new Map<object, unknown>();
  const written = (value: unknown): unknown => {
    if (value === null || typeof value !== 'object') return value;
    if (!done.has(value)) done.set(value, Array.isArray(value) ? value.map(written) : writtenPart(value));
    return done.get(value);
  };
  const writtenPart = (value: object): unknown => {
    const part = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, written(inner)]));
    const found = (value as Named)[component];
    if (!found) return part;
    const reference = { $ref: `#/components/${found.section}/${found.name}` };
    if (found.section !== 'schemas') {
      add(components, found, part);
      return reference;
    }
    const { description, ...shape } = part;
    const isNullable = [shape.type].flat().includes('null');
    const whole = (written(found.whole) as JsonSchema | undefined) ?? shape;
    add(components, found, isNullable ? withoutNull(whole) : whole);
    const own = description === undefined ? {} : { description };
    return isNullable ? { ...own, anyOf: [reference, { type: 'null' }] } : { ...own, ...reference };
  };
  const rest = written(document) as JsonSchema;
  const sorted = Object.entries(components).map(([section, parts]) => [
    section,
    Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1))),
  ]);
  return { ...rest, components: { ...(given as JsonSchema), ...Object.fromEntries(sorted) } };
}
