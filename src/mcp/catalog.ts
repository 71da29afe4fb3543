import { readFileSync } from 'node:fs';
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  printType,
} from 'graphql';
import MiniSearch, { type SearchOptions } from 'minisearch';
import type { Caller } from '../access/caller.ts';
import type { EndpointServices } from '../access/endpoint-services.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import { shownValue } from '../platform/wire/printed-value.ts';
import type { CompiledRoute } from '../rest/contract/compiled-route.ts';
import type { JsonSchema } from '../rest/contract/json-schema.ts';
import { methodologyPath } from './resources.ts';
import { isOffered, toolName, toolOf } from './tools.ts';

/** Kinds of what a catalogue holds. */
export const entryKinds = ['operation', 'type', 'field', 'document'] as const;
type EntryKind = (typeof entryKinds)[number];

/** Meaning of a name of the catalogue. */
interface Entry {
  /** Name of an operation, a type, `Type.field`, or `methodology.md#section`. */
  name: string;
  kind: EntryKind;
  about: string;
  /** Other words by which it is found: names of parameters and fields. */
  words: string;
  /** All about it. */
  describe: () => object;
  isFor: (caller: Caller) => boolean;
}

const everybody = () => true;

const example = ({ examples }: JsonSchema): unknown => (examples as readonly unknown[] | undefined)?.[0];

/** The arguments of a call that shows how an operation is run. */
function exampleArguments({ properties, required }: ReturnType<typeof toolOf>['inputSchema']): object {
  return Object.fromEntries(required.map((name) => [name, example(properties[name]!) ?? null]));
}

function operationEntry(compiled: CompiledRoute, description: JsonSchema, now: () => number): Entry {
  const { title, description: about, inputSchema, outputSchema, annotations } = toolOf(description, compiled);
  const name = toolName(compiled);
  const tool = annotations.readOnlyHint ? 'run' : 'change';
  return {
    name,
    kind: 'operation',
    about: `${title}. ${about}`,
    words: Object.keys(inputSchema.properties).join(' '),
    isFor: (caller) => isOffered(compiled.route, caller, now()),
    describe: () => ({
      title,
      description: about,
      arguments: inputSchema,
      answer: outputSchema?.properties,
      example: { tool, arguments: { operation: name, arguments: exampleArguments(inputSchema) } },
    }),
  };
}

const fieldsOf = (type: GraphQLNamedType): GraphQLField<unknown, unknown>[] =>
  isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];

/** Maximum number of fields that are named as ways to a type. */
const mostWays = 12;

function typeEntry(type: GraphQLNamedType, ways: readonly string[]): Entry {
  return {
    name: type.name,
    kind: 'type',
    about: type.description ?? '',
    words: fieldsOf(type)
      .map(({ name }) => name)
      .join(' '),
    isFor: everybody,
    describe: () => ({ sdl: printType(type), returnedBy: ways.slice(0, mostWays) }),
  };
}

function fieldEntry(parent: GraphQLNamedType, field: GraphQLField<unknown, unknown>): Entry {
  return {
    name: `${parent.name}.${field.name}`,
    kind: 'field',
    about: field.description ?? '',
    words: '',
    isFor: everybody,
    describe: () => ({
      description: field.description,
      type: String(field.type),
      arguments: field.args.map(({ name, type, description }) => ({ name, type: String(type), description })),
    }),
  };
}

function graphEntries(schema: GraphQLSchema): Entry[] {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  const ways = new Map<string, string[]>();
  for (const type of types)
    for (const { name, type: returned } of fieldsOf(type)) {
      const to = getNamedType(returned).name;
      ways.set(to, [...(ways.get(to) ?? []), `${type.name}.${name}`]);
    }
  return types.flatMap((type) => [
    typeEntry(type, ways.get(type.name) ?? []),
    ...fieldsOf(type).map((field) => fieldEntry(type, field)),
  ]);
}

/** The sections of the methodology; none if it is not installed. */
function documentEntries(): Entry[] {
  if (methodologyPath === null) return [];
  const sections = readFileSync(methodologyPath, 'utf8')
    .split(/^(?=##+ )/m)
    .slice(1);
  return sections.map((text) => {
    const [heading] = text.split('\n', 1);
    const title = heading!.replace(/^#+ /, '');
    return {
      name: `methodology.md#${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
      kind: 'document',
      about: title,
      words: text,
      isFor: everybody,
      describe: () => ({ text }),
    };
  });
}

/** Maximum number of words that are searched for. */
const mostWords = 12;

/** Characters of what a search says of each result. */
const shownCharacters = 240;

const firstPart = (text: string) => (text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)}…`);

/** A name and its parts: `chainPolicy` and `gex_history` are found by each of their words. */
const nameParts = (name: string) => `${name} ${name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_.#-]/g, ' ')}`;

/** All that a client can run or read, found by words and described by name. Made when it is first asked. */
export class Catalog {
  readonly #make: () => Entry[];
  #entries: ReadonlyMap<string, Entry> | null = null;
  #index: MiniSearch | null = null;

  constructor(
    { schema, now }: Pick<EndpointServices, 'schema' | 'now'>,
    compiled: readonly CompiledRoute[],
    description: JsonSchema,
  ) {
    this.#make = () => [
      ...compiled.map((each) => operationEntry(each, description, now)),
      ...graphEntries(schema),
      ...documentEntries(),
    ];
  }

  #all(): ReadonlyMap<string, Entry> {
    this.#entries ??= new Map(this.#make().map((entry) => [entry.name, entry]));
    return this.#entries;
  }

  #indexed(): MiniSearch {
    if (!this.#index) {
      const boost = { parts: 3, about: 2 };
      this.#index = new MiniSearch({
        idField: 'name',
        fields: ['parts', 'about', 'words'],
        // Short words would begin most of the others.
        searchOptions: { boost, prefix: (term) => term.length > 2, fuzzy: (term) => (term.length > 3 ? 0.15 : false) },
      });
      this.#index.addAll(
        [...this.#all().values()].map(({ name, about, words }) => ({ name, parts: nameParts(name), about, words })),
      );
    }
    return this.#index;
  }

  /** The best `most` entries of a kind, or of any, that a caller can use. */
  search(text: string, most: number, kind: EntryKind | null, caller: Caller) {
    const query = [...new Set(text.split(/\s+/))].slice(0, mostWords).join(' ');
    const entries = this.#all();
    const boostDocument = (name: string) => (entries.get(name)!.kind === 'operation' ? 1.5 : 1);
    const filter = ({ id }: { id: string }) => {
      const entry = entries.get(id)!;
      return (kind === null || entry.kind === kind) && entry.isFor(caller);
    };
    const by = (words: string, options: SearchOptions) =>
      this.#indexed()
        .search(words, { filter: filter as never, boostDocument, ...options })
        .map(({ id }) => id as string);
    // Those whose name the words make come first, then those with all words.
    const named = by(query.replace(/\s+/g, ''), { fields: ['parts'], fuzzy: false });
    return [...new Set([...named, ...by(query, { combineWith: 'AND' }), ...by(query, { combineWith: 'OR' })])]
      .slice(0, most)
      .map((id) => entries.get(id)!)
      .map(({ name, kind: found, about }) => ({ name, kind: found, about: firstPart(about) }));
  }

  /** All about a name. Throws 400 for an unknown one, with those that are like it. */
  describe(name: string, caller: Caller): object {
    const entry = this.#all().get(name);
    if (entry?.isFor(caller)) return { name, kind: entry.kind, ...entry.describe() };
    const like = this.search(nameParts(name), 5, null, caller).map((found) => found.name);
    const hint = like.length > 0 ? `; similar names are ${like.join(', ')}` : '';
    throw invalidParameter('name', `expected a name that search returns, got ${shownValue(name)}${hint}`);
  }
}
