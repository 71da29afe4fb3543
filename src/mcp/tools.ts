import type { JsonSchema } from '../rest/contract/answer-schema.ts';
import type { Needs } from '../rest/contract/route.ts';
import type { CompiledRoute } from '../rest/http/router.ts';

/** A tool, as listed to clients. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, JsonSchema>; required: string[] };
  outputSchema?: { type: 'object'; properties: Record<string, JsonSchema>; required: string[] };
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

/** Default and maximum number of items per list in an answer. */
export const listItems = { usual: 40, most: 500 };

/** As much of an operation of the OpenAPI document as tools are made from. */
interface Operation {
  parameters: readonly {
    name: string;
    required: boolean;
    description: string;
    schema: JsonSchema;
    example?: unknown;
  }[];
  requestBody?: { required: boolean; content: Readonly<Record<string, { schema: JsonSchema }>> };
  responses: Readonly<Record<string, { content: Readonly<Record<string, { schema: JsonSchema }>> }>>;
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

/** The tool that a route is: named after its operation. */
export function toolName({ route }: CompiledRoute): string {
  return route.operation.replace(/\.graphql$/, '').replaceAll('-', '_');
}

function operationOf(document: JsonSchema, { route }: CompiledRoute): Operation {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  return paths[route.path.replace(/:(\w+)/g, '{$1}')]![route.method.toLowerCase()]!;
}

const maxItems: JsonSchema = {
  type: 'integer',
  minimum: 1,
  maximum: listItems.most,
  default: listItems.usual,
  description: 'Number of items per list in the answer. The answer reports what was truncated.',
};

function inputSchema({ route }: CompiledRoute, { parameters, requestBody }: Operation): Tool['inputSchema'] {
  // Which of an answer's lists CSV and Arrow give; tools answer in JSON, which holds them all.
  const taken = parameters.filter(({ name }) => name !== 'table');
  const properties = Object.fromEntries(
    taken.map(({ name, description, schema, example }) => [
      name,
      { ...schema, description, ...(example === undefined ? {} : { examples: [example] }) },
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
    `The REST route ${route.method} ${route.path.replace(/:(\w+)/g, '{$1}')}.`,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** A route as a tool. */
export function toolOf(document: JsonSchema, compiled: CompiledRoute): Tool {
  const { route } = compiled;
  const operation = operationOf(document, compiled);
  const reads = route.method === 'GET';
  return {
    name: toolName(compiled),
    title: route.summary,
    description: describe(compiled),
    inputSchema: inputSchema(compiled, operation),
    outputSchema: operation.responses['200']!.content['application/json']!.schema as NonNullable<Tool['outputSchema']>,
    annotations: {
      title: route.summary,
      readOnlyHint: reads,
      // POST adds; what the others touch is no longer what it was.
      destructiveHint: !reads && route.method !== 'POST',
      idempotentHint: route.method !== 'POST' && route.method !== 'PATCH',
      openWorldHint: false,
    },
  };
}
