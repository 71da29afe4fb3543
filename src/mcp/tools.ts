import type { Caller } from '../access/caller.ts';
import { reaches, type Tier } from '../platform/config/tiers.ts';
import type { CompiledRoute } from '../rest/contract/compiled-route.ts';
import { readAtKey } from '../rest/contract/envelope.ts';
import type { JsonSchema } from '../rest/contract/json-schema.ts';
import { endedOn, writtenPath } from '../rest/contract/route.ts';
import type { Needs } from '../schema/field-options.ts';

/** A tool, as listed to clients. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, JsonSchema>; required: string[] };
  outputSchema?: { type: 'object'; properties: Record<string, JsonSchema>; required: string[] };
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

/** Default and maximum number of items per list in an answer. */
export const listItems = { usual: 40, most: 500 };

/** The parts of an OpenAPI operation that tools are built from. */
interface Operation {
  parameters: readonly {
    name: string;
    required: boolean;
    description: string;
    schema: JsonSchema;
    example?: unknown;
  }[];
  requestBody?: { required: boolean; content: Readonly<Record<string, { schema: JsonSchema }>> };
}

const needsText: Record<Needs, string> = {
  any: '',
  symbol: 'Requires a tier that can read the symbol.',
  flow: 'Requires the pro tier and the non-professional market-data declaration.',
  'off-exchange': 'Requires the basic tier and the non-professional market-data declaration.',
  'site-session': 'Requires a site session; an API key is rejected.',
  'declared-site-session':
    'Requires a site session and the non-professional market-data declaration; an API key is rejected.',
};

/** The tool that a route is. */
export function toolName({ route }: CompiledRoute): string {
  return route.name.replaceAll('-', '_');
}

function operationOf(document: JsonSchema, { route }: CompiledRoute): Operation {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  return paths[writtenPath(route.path)]![route.method.toLowerCase()]!;
}

// Described once for all tools, in `commonParameters`.
const maxItems: JsonSchema = {
  type: 'integer',
  minimum: 1,
  maximum: listItems.most,
  default: listItems.usual,
};

/** Parameters that most tools have: described to clients once, since each tool's text would repeat it. */
export const commonParameters = `max_items: maximum items per list; the answer reports what was omitted.
at: the answer as of a past instant: epoch ms, a date (its end), or YYYY-MM-DDTHH:MM[:SS] in tz, an IANA time zone (default America/New_York). Without it the answer is live.
known: data as it was known at an instant, before later files replaced it; forms of at.
provenance: true adds meta.provenance, the files or live lines that the answer is from.`;

/** True for a parameter that \`commonParameters\` describes. */
const isCommon = ({ instant }: CompiledRoute['route'], name: string) =>
  name === 'provenance' || (instant !== null && ['at', 'known', 'tz'].includes(name));

function inputSchema({ route }: CompiledRoute, { parameters, requestBody }: Operation): Tool['inputSchema'] {
  // Selects the list for the formats of rows; tools answer in JSON, which holds all lists.
  const taken = parameters.filter(({ name }) => name !== 'table');
  const properties = Object.fromEntries(
    taken.map(({ name, description, schema, example }) => [
      name,
      isCommon(route, name)
        ? { type: schema.type }
        : { ...schema, description, ...(example === undefined ? {} : { examples: [example] }) },
    ]),
  );
  const body = requestBody && Object.values(requestBody.content)[0]!.schema;
  return {
    type: 'object',
    properties: {
      ...properties,
      ...(body ? { body } : {}),
      ...(route.method === 'GET' ? { max_items: maxItems } : {}),
    },
    required: [
      ...taken.filter(({ required }) => required).map(({ name }) => name),
      ...(requestBody?.required ? ['body'] : []),
    ],
  };
}

function describe({ route }: CompiledRoute): string {
  return [
    route.description,
    route.sunset ? `Deprecated: use ${route.sunset.successor}.` : '',
    needsText[route.needs],
    `The REST route ${route.method} ${writtenPath(route.path)}.`,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

const namesOf = (schema: JsonSchema): string[] => Object.keys((schema.properties as object | undefined) ?? {});

/** The objects at and below a schema, each with the names of its fields; `[]` marks rows of a list. */
function fieldNames(schema: JsonSchema, path: string): string[] {
  if (schema.items) return fieldNames(schema.items as JsonSchema, `${path}[]`);
  const names = namesOf(schema);
  if (names.length === 0) return [];
  const inner = Object.entries(schema.properties as Record<string, JsonSchema>);
  return [`${path}: ${names.join(', ')}`, ...inner.flatMap(([name, each]) => fieldNames(each, `${path}.${name}`))];
}

/**
 * Schema of an answer by name only: full schemas of all tools would fill a model's context. The resource openapi.json
 * has them.
 */
function outputSchema({ answer }: CompiledRoute): NonNullable<Tool['outputSchema']> {
  const { data, meta } = answer.properties as { data: JsonSchema; meta: JsonSchema };
  const names = namesOf(meta).filter((name) => name !== readAtKey);
  return {
    type: 'object',
    properties: {
      data: { type: data.type ?? ['object', 'null'], description: fieldNames(data, 'data').join('; ') },
      meta: { type: 'object', description: `meta: ${names.join(', ')}` },
    },
    required: ['data', 'meta'],
  };
}

/** The lowest tier for a tool's callers, if the route has one. */
const floorOf: Partial<Record<Needs, Tier>> = { flow: 'pro', 'off-exchange': 'basic' };

/**
 * True if a caller can use a route's tool now. A key of too low a tier cannot, nor can any key use the routes of a
 * person, nor anybody one that has ended. A missing market-data declaration does not matter: the tool `classify` makes
 * one.
 */
export function isOffered(
  route: CompiledRoute['route'],
  caller: Pick<Caller, 'kind' | 'tier'>,
  nowMs: number,
): boolean {
  const { needs, own } = route;
  if (endedOn(route, nowMs) !== null) return false;
  if (caller.kind !== 'key') return own === undefined || reaches(caller.tier, own.tier);
  return [needs, ...(own?.needs ?? [])].every(
    (each) =>
      !each.endsWith('site-session') &&
      reaches(caller.tier, own?.tier ?? 'free') &&
      reaches(caller.tier, floorOf[each] ?? 'free'),
  );
}

/** A route as a tool. */
export function toolOf(document: JsonSchema, compiled: CompiledRoute): Tool {
  const { route } = compiled;
  const operation = operationOf(document, compiled);
  const reads = route.method === 'GET';
  const { destructive = false, idempotent = false } = route.hints ?? {};
  return {
    name: toolName(compiled),
    title: route.summary,
    description: describe(compiled),
    inputSchema: inputSchema(compiled, operation),
    outputSchema: outputSchema(compiled),
    annotations: {
      readOnlyHint: reads,
      // POST creates; the other methods change or remove.
      destructiveHint: destructive || (!reads && route.method !== 'POST'),
      idempotentHint: idempotent || (route.method !== 'POST' && route.method !== 'PATCH'),
      openWorldHint: false,
    },
  };
}
