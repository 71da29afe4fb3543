import {
  type DocumentNode,
  executeSync,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getIntrospectionQuery,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { fragmentsOf } from '../execution/document.ts';

/** Cached answers as JSON: tools send few variants, and any other variant is a part of the same data. */
const maxCached = 16;

const wholeQuery = getIntrospectionQuery({
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  experimentalDirectiveDeprecation: true,
  oneOf: true,
});

/** Canonical text of a selection. */
function textOf(selected: Selected): string {
  return [...selected]
    .map(([name, { withDeprecated, below }]) => `${name}${withDeprecated ? '+' : ''}{${textOf(below)}}`)
    .sort()
    .join(' ');
}

/**
 * Answers the standard introspection query, as `getIntrospectionQuery` makes it with any options, and any part of it,
 * regardless of the names of the operation and of fragments, the order, and the depth of types. The schema is
 * introspected once; the JSON of an answer's data is derived from that and cached. Null for any other document.
 */
export function standardIntrospection(schema: GraphQLSchema): (document: DocumentNode) => Buffer | null {
  const answers = new LRUCache<string, Buffer>({ max: maxCached });
  const known = new WeakMap<DocumentNode, Selected | null>();
  let made: { selected: Selected; data: unknown } | null = null;

  function whole() {
    const document = parse(wholeQuery);
    made ??= { selected: selectedBy(document)!, data: executeSync({ schema, document }).data };
    return made;
  }

  function standardBy(document: DocumentNode): Selected | null {
    const cached = known.get(document);
    if (cached !== undefined) return cached;
    const selected = selectedBy(document);
    const standard = selected?.has('__schema') && isWithin(selected, whole().selected) ? selected : null;
    known.set(document, standard);
    return standard;
  }

  return (document) => {
    const selected = standardBy(document);
    if (selected === null) return null;
    const text = textOf(selected);
    const answer = answers.get(text) ?? Buffer.from(JSON.stringify(projected(whole().data, selected)));
    answers.set(text, answer);
    return answer;
  };
}

/** Levels of `ofType` that suffice: no type of the schema has more wrappers than `[T!]!`. Deeper levels are null. */
const deepestType = 4;

/** The selection of an introspection, normalized: independent of order, fragments and their names. */
type Selected = Map<string, SelectedField>;

interface SelectedField {
  /** `includeDeprecated: true`. */
  withDeprecated: boolean;
  below: Selected;
}

/** True if a field has `includeDeprecated: true`; null for a field that no standard query has. */
function deprecatedIn({ alias, arguments: args = [], directives = [] }: FieldNode): boolean | null {
  if (alias || directives.length > 0 || args.length > 1) return null;
  const [arg] = args;
  if (!arg) return false;
  return arg.name.value === 'includeDeprecated' && arg.value.kind === Kind.BOOLEAN ? arg.value.value : null;
}

/** A document's only operation, if it may be a standard introspection: a query without variables and directives. */
function onlyQuery({ definitions }: DocumentNode): OperationDefinitionNode | null {
  const [operation, ...others] = definitions.filter(({ kind }) => kind !== Kind.FRAGMENT_DEFINITION);
  if (operation?.kind !== Kind.OPERATION_DEFINITION || others.length > 0) return null;
  const { operation: kind, variableDefinitions = [], directives = [] } = operation;
  return kind === OperationTypeNode.QUERY && variableDefinitions.length + directives.length === 0 ? operation : null;
}

/** Collects selections. Returns false if one is in no standard query. `used` collects the fragments that are spread. */
function collecting(fragments: ReadonlyMap<string, FragmentDefinitionNode>, used: Set<string>) {
  function addField(to: Selected, node: FieldNode, typeDepth: number): boolean {
    const name = node.name.value;
    const withDeprecated = deprecatedIn(node);
    const depth = name === 'ofType' ? typeDepth + 1 : 0;
    if (withDeprecated === null) return false;
    if (depth > deepestType) return true;
    const field = to.get(name) ?? { withDeprecated, below: new Map() };
    to.set(name, field);
    if (field.withDeprecated !== withDeprecated) return false;
    return !node.selectionSet || add(field.below, node.selectionSet, depth);
  }

  function add(to: Selected, set: SelectionSetNode, typeDepth: number): boolean {
    return set.selections.every((node) => {
      if (node.kind === Kind.FIELD) return addField(to, node, typeDepth);
      if (node.kind === Kind.FRAGMENT_SPREAD) used.add(node.name.value);
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
      const directives = [...(node.directives ?? []), ...(fragment?.directives ?? [])];
      return fragment !== undefined && directives.length === 0 && add(to, fragment.selectionSet, typeDepth);
    });
  }
  return add;
}

/** The selection of a document if it may be a standard introspection, else null. Its fields are within the limit. */
function selectedBy(document: DocumentNode): Selected | null {
  const operation = onlyQuery(document);
  if (!operation) return null;
  const fragments = fragmentsOf(document);
  const used = new Set<string>();
  const selected: Selected = new Map();
  const isPlain = collecting(fragments, used)(selected, operation.selectionSet, 0);
  // An unused fragment makes a document invalid.
  return isPlain && used.size === fragments.size ? selected : null;
}

/** True if everything selected is in `whole` too, and has fields below it exactly if it has them in `whole`. */
function isWithin(selected: Selected, whole: Selected): boolean {
  return [...selected].every(([name, { below }]) => {
    const field = whole.get(name);
    return field !== undefined && (below.size === 0) === (field.below.size === 0) && isWithin(below, field.below);
  });
}

/** The selected part of the answer to a whole introspection. */
function projected(data: unknown, selected: Selected): unknown {
  if (Array.isArray(data)) return data.map((item) => projected(item, selected));
  if (data === null || typeof data !== 'object' || selected.size === 0) return data;
  const answer: Record<string, unknown> = {};
  for (const [name, { withDeprecated, below }] of selected) {
    const value = (data as Record<string, unknown>)[name];
    const shown = Array.isArray(value) && !withDeprecated ? value.filter((item) => !item.isDeprecated) : value;
    answer[name] = projected(shown, below);
  }
  return answer;
}
