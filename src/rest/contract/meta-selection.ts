import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  Kind,
  type OperationDefinitionNode,
  parse,
  parseValue,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { responseKey } from '../../graphql/execution/document.ts';
import { withFragments } from './fragments.ts';
import type { Route } from './route.ts';

// No operation lists the metadata of its answer: all of the type of `meta` is selected, under the names of REST.

/** A name of a document. */
export const named = (value: string) => ({ kind: Kind.NAME, value }) as const;

/** A field under a key, with the fields below it. */
export function fieldNode(name: string, key: string, selections?: readonly FieldNode[]): FieldNode {
  return {
    kind: Kind.FIELD,
    name: named(name),
    ...(key !== name && { alias: named(key) }),
    ...(selections && { selectionSet: { kind: Kind.SELECTION_SET, selections } }),
  };
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** True for a field that can be selected without arguments. */
export const takesNothing = ({ args }: GraphQLField<unknown, unknown>) => !args.some(isRequiredArgument);

/** A field under its name in REST, with every field below. */
function wholeField({ name, type }: GraphQLField<unknown, unknown>): FieldNode {
  const below = getNamedType(type);
  return fieldNode(name, snakeCase(name), isObjectType(below) ? wholeFields(below) : undefined);
}

const wholeFields = (type: GraphQLObjectType) => Object.values(type.getFields()).filter(takesNothing).map(wholeField);

const leaves = (...names: readonly string[]) => names.map((name) => fieldNode(name, name));

const caps = (...names: readonly string[]) => fieldNode('caps', 'caps', leaves(...names));

/** The metadata of a type: the caps, and every value of its own. */
export function metaSelection(type: GraphQLObjectType): SelectionSetNode {
  const values = Object.values(type.getFields()).filter(
    (field) => takesNothing(field) && isLeafType(getNamedType(field.type)),
  );
  return { kind: Kind.SELECTION_SET, selections: [caps('applied', 'tier'), ...values.map(wholeField)] };
}

/** Traits of a route that decide the metadata of its answers. */
export type MetaRoute = Pick<Route, 'answer' | 'hasInstant' | 'withoutMeta' | 'reportsFlow'>;

const ofInstant = ['at', 'atEffective', 'knownAt'];

const onRequest = withFragments(
  parse('query ($provenance: Boolean!) { provenance @include(if: $provenance) { ...Provenance } }', {
    noLocation: true,
  }),
);
const [provenance] = onRequest.definitions as [OperationDefinitionNode];

/** The metadata of a route's answer: what its operation selects itself, and all else of the type. */
function wholeMeta(type: GraphQLObjectType, byHand: readonly SelectionNode[], route: MetaRoute): SelectionNode[] {
  const { hasInstant, withoutMeta = [], reportsFlow } = route;
  const written = byHand.flatMap((node) => (node.kind === Kind.FIELD ? [node.name.value, responseKey(node)] : []));
  const apart = new Set(['caps', 'provenance', ...withoutMeta, ...(hasInstant ? [] : ofInstant), ...written]);
  const fields = Object.values(type.getFields()).filter((field) => takesNothing(field) && !apart.has(field.name));
  return [
    caps('applied', 'tier', ...(reportsFlow ? ['flow'] : [])),
    ...byHand,
    ...fields.map(wholeField),
    ...(hasProvenance(type, route) ? provenance.selectionSet.selections : []),
  ];
}

const hasProvenance = (type: GraphQLObjectType, { hasInstant }: MetaRoute) =>
  hasInstant !== undefined && type.getFields().provenance !== undefined;

/** The root's `meta`, for data without metadata of its own, takes the plane. */
const registry: ArgumentNode = {
  kind: Kind.ARGUMENT,
  name: named('plane'),
  value: parseValue('registry', { noLocation: true }),
};

/** A route's operation with the metadata of its answer, and the variable by which its provenance is asked for. */
export function withMeta(schema: GraphQLSchema, document: DocumentNode, route: MetaRoute): DocumentNode {
  let variables: OperationDefinitionNode['variableDefinitions'] = [];
  const metaOf = (type: GraphQLObjectType, { selections }: SelectionSetNode): SelectionSetNode => {
    const isMeta = (node: SelectionNode): node is FieldNode => node.kind === Kind.FIELD && responseKey(node) === 'meta';
    const byHand = selections.find(isMeta)?.selectionSet?.selections ?? [];
    const metaType = getNamedType(type.getFields().meta!.type) as GraphQLObjectType;
    if (hasProvenance(metaType, route)) variables = provenance.variableDefinitions;
    const meta: FieldNode = {
      ...fieldNode('meta', 'meta'),
      ...(type === schema.getQueryType() && { arguments: [registry] }),
      selectionSet: { kind: Kind.SELECTION_SET, selections: wholeMeta(metaType, byHand, route) },
    };
    return { kind: Kind.SELECTION_SET, selections: [...selections.filter((node) => !isMeta(node)), meta] };
  };
  const definitions = document.definitions.map((node) => {
    if (node.kind !== Kind.OPERATION_DEFINITION) return node;
    const path = route.answer.split('.').filter(Boolean);
    const selectionSet = changedAt(schema.getRootType(node.operation)!, node.selectionSet, path, metaOf);
    return { ...node, selectionSet, variableDefinitions: [...(node.variableDefinitions ?? []), ...variables!] };
  });
  return { ...document, definitions };
}

/** A selection of a type with that of the object at `path` changed. */
export function changedAt(
  type: GraphQLObjectType,
  set: SelectionSetNode,
  [key, ...path]: readonly string[],
  change: (type: GraphQLObjectType, set: SelectionSetNode) => SelectionSetNode,
): SelectionSetNode {
  if (key === undefined) return change(type, set);
  const selections = set.selections.map((node) => {
    if (node.kind !== Kind.FIELD || responseKey(node) !== key || !node.selectionSet) return node;
    const below = getNamedType(type.getFields()[node.name.value]!.type) as GraphQLObjectType;
    return { ...node, selectionSet: changedAt(below, node.selectionSet, path, change) };
  });
  return { ...set, selections };
}
