import { withComponents } from '../../src/rest/contract/components.ts';
import type { JsonSchema } from '../../src/rest/contract/json-schema.ts';
import { writtenPath } from '../../src/rest/contract/route.ts';
import { openApi } from '../../src/rest/openapi.ts';
import { compiledRoutes } from '../../src/rest/routes.ts';
import { streamOperations } from '../../src/rest/stream/stream.ts';
import { schema } from '../../src/schema/index.ts';

/** Kinds of values that a client takes for a parameter, beside its enum's. */
export type ParameterKind = 'text' | 'instant' | 'day' | 'texts' | 'object' | 'flag' | 'integer' | 'number';

/** A parameter of a route, as clients send it. */
export interface ClientParameter {
  name: string;
  inPath: boolean;
  required: boolean;
  description: string;
  kind: ParameterKind;
  /** Its values, if it has a list of them. */
  values: readonly string[] | null;
}

/** The rows in an answer. */
export interface ClientRows {
  /**
   * Columns of its lists of objects, by the keys that lead to each, with `/` after a list around it; '' for the data
   * itself.
   */
  tables: Map<string, string[]>;
  /** Columns with epoch milliseconds. A column is its keys joined by dots, after those of a list within a list. */
  times: Set<string>;
}

/** A route, as clients call it. */
export interface ClientRoute {
  name: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  parameters: readonly ClientParameter[];
  body: { schema: JsonSchema; media: string; required: boolean } | null;
  /** Schemas of the answer's data and metadata. */
  data: JsonSchema;
  meta: JsonSchema;
  rows: ClientRows;
}

interface DescribedOperation {
  operationId: string;
  summary: string;
  description: string;
  parameters: Described[];
  requestBody?: DescribedBody;
  responses: { 200: DescribedBody };
}

interface DescribedBody {
  required: boolean;
  content: Record<string, { schema: JsonSchema }>;
}

interface Described {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description: string;
  schema: JsonSchema;
}

function kindOf({ schema: { type, format }, description }: Described): ParameterKind {
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return type;
  if (format === 'date') return 'day';
  if (description.includes('YYYY-MM-DDTHH:MM')) return 'instant';
  if (/separated by commas/i.test(description)) return 'texts';
  return description.includes('object as JSON') ? 'object' : 'text';
}

// `table` is of the formats of rows, and so is `format`: clients read JSON.
const isOfJson = ({ name, schema: { enum: values } }: Described) =>
  name !== 'table' && !(name === 'format' && [values].flat().includes('text'));

/** An item of a list, or the data itself. */
interface Item {
  /** Path of its list, with `/`; '' for the data. */
  lead: string;
  /** Prefix of its columns. */
  prefix: string;
  /** Its columns found so far, after those of the items around it. */
  columns: string[];
}

/** The OpenAPI document, with which clients are generated. */
export class ApiDescription {
  readonly #document: JsonSchema;

  constructor() {
    this.#document = withComponents(openApi(schema, compiledRoutes, streamOperations(schema), 'x-itm-'));
  }

  /** The named schemas, by name. */
  get schemas(): Readonly<Record<string, JsonSchema>> {
    return (this.#document.components as { schemas: Record<string, JsonSchema> }).schemas;
  }

  /** The routes of the table, in its order. */
  get routes(): ClientRoute[] {
    return compiledRoutes.map(({ route }) => this.#routeOf(writtenPath(route.path), route.method));
  }

  #routeOf(path: string, method: string): ClientRoute {
    const paths = this.#document.paths as Record<string, Record<string, DescribedOperation>>;
    const operation = paths[path]![method.toLowerCase()]!;
    const { content } = operation.responses[200];
    const { data, meta } = this.resolved(content['application/json']!.schema).properties as Record<string, JsonSchema>;
    const rows: ClientRows = { tables: new Map(), times: new Set() };
    this.#find(data!, { lead: '', prefix: '', columns: [] }, [], rows);
    return {
      name: operation.operationId,
      method,
      path,
      summary: operation.summary,
      description: operation.description,
      parameters: operation.parameters.filter(isOfJson).map((each) => ({
        name: each.name,
        inPath: each.in === 'path',
        required: each.required,
        description: each.description,
        kind: kindOf(each),
        values: (each.schema.enum as string[] | undefined) ?? null,
      })),
      body: this.#bodyOf(operation.requestBody),
      data: data!,
      meta: meta!,
      rows,
    };
  }

  #bodyOf(body: DescribedBody | undefined) {
    if (body === undefined) return null;
    const [media, { schema: described }] = Object.entries(body.content)[0]!;
    return { schema: described, media, required: body.required };
  }

  /** A schema without its reference and its null. */
  resolved(described: JsonSchema): JsonSchema {
    const choices = described.anyOf as JsonSchema[] | undefined;
    const found = choices?.find(({ type }) => type !== 'null') ?? described;
    const reference = found.$ref as string | undefined;
    return reference === undefined ? found : this.schemas[reference.split('/').at(-1)!]!;
  }

  /** The properties of an object: those with lists of objects last, so that the columns around these are known. */
  #listsLast(properties: Record<string, JsonSchema>): [string, JsonSchema][] {
    const hasList = ([, inner]: [string, JsonSchema]) => {
      const rows: ClientRows = { tables: new Map(), times: new Set() };
      this.#find(inner, { lead: '', prefix: '', columns: [] }, [], rows);
      return rows.tables.size > 0;
    };
    const entries = Object.entries(properties);
    return [...entries.filter((entry) => !hasList(entry)), ...entries.filter(hasList)];
  }

  /** Finds the lists of objects and the times at and below `keys` of an item. */
  #find(described: JsonSchema, item: Item, keys: readonly string[], found: ClientRows): void {
    const { type, items, properties } = this.resolved(described);
    const { lead, prefix, columns } = item;
    const name = keys.join('.');
    const inner = [type].flat().includes('array') ? this.resolved(items as JsonSchema) : null;
    if (inner?.properties) {
      // The data around the outermost list is no part of its rows.
      const below = lead === '' ? [] : [...columns];
      found.tables.set(lead + name, below);
      const listed = { lead: `${lead}${name}/`, prefix: lead === '' ? '' : `${prefix}${name}.`, columns: below };
      this.#find(inner, listed, [], found);
    } else if (properties) {
      for (const [key, each] of this.#listsLast(properties as Record<string, JsonSchema>))
        this.#find(each, item, [...keys, key], found);
    } else {
      columns.push(prefix + name);
      if ([type].flat().includes('integer') && /epoch ms/i.test(String(described.description)))
        found.times.add(prefix + name);
    }
  }
}
