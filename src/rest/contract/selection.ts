import {
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
  parseType,
  parseValue,
  type SelectionNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
} from 'graphql';
import { snakeCase } from '../../core/domain/columns.ts';
import { responseKey } from '../../graphql/execution/document.ts';
import { withFragments } from './operation.ts';

// No operation lists what is in every answer. It is written as of now, without metadata: the engine reads it below
// `asOf`, and selects all of the type of `meta`, under the names of REST.

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

/**
 * Instants that a route is read as of. `whole`: it takes `at`, `known` and `tz`. `without known`: data as it was known
 * before is not kept, and `known` is 400. `own at`: fields of its operation take `at` and `tz`; only `known` is added.
 */
export type Instant = 'whole' | 'without known' | 'own at';

/** Arguments of `asOf` that a route's operation is read with. */
const argumentsOf: Readonly<Record<Instant, readonly string[]>> = {
  whole: ['at', 'known', 'tz'],
  'without known': ['at', 'tz'],
  'own at': ['known', 'tz'],
};

/** Variables of the instant that an operation is read as of: arguments of `asOf` that it does not declare itself. */
export function instantVariables(
  schema: GraphQLSchema,
  instant: Instant,
  { variableDefinitions = [] }: Pick<OperationDefinitionNode, 'variableDefinitions'> = {},
): VariableDefinitionNode[] {
  const declared = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  const { args } = schema.getQueryType()!.getFields().asOf!;
  return args
    .filter(({ name }) => argumentsOf[instant].includes(name) && !declared.has(name))
    .map(({ name, type }) => ({
      kind: Kind.VARIABLE_DEFINITION,
      variable: { kind: Kind.VARIABLE, name: named(name) },
      type: parseType(String(type), { noLocation: true }),
    }));
}

/** A selection of the market below `asOf`, whose arguments are variables of their names. */
export function asOfSelection({ selections }: SelectionSetNode, instant: Instant): SelectionSetNode {
  const asOf: FieldNode = {
    ...fieldNode('asOf', 'asOf'),
    arguments: argumentsOf[instant].map((name) => ({
      kind: Kind.ARGUMENT,
      name: named(name),
      value: parseValue(`$${name}`, { noLocation: true }),
    })),
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  };
  return { kind: Kind.SELECTION_SET, selections: [asOf] };
}

/** Traits of a route that decide the metadata of its answers. */
export interface MetaTraits {
  /** Path of the answer in the operation as it is written. */
  answer: string;
  instant: Instant | null;
  withoutMeta?: readonly string[] | undefined;
  reportsFlow?: true | undefined;
}

const ofInstant = ['at', 'atEffective', 'knownAt'];

const onRequest = withFragments(
  parse('query ($provenance: Boolean!) { provenance @include(if: $provenance) { ...Provenance } }', {
    noLocation: true,
  }),
);
const [provenance] = onRequest.definitions as [OperationDefinitionNode];

/** The metadata of a route's answer: what its operation selects itself, and all else of the type. */
function wholeMeta(type: GraphQLObjectType, byHand: readonly SelectionNode[], traits: MetaTraits): SelectionNode[] {
  const { instant, withoutMeta = [], reportsFlow } = traits;
  const written = byHand.flatMap((node) => (node.kind === Kind.FIELD ? [node.name.value, responseKey(node)] : []));
  const apart = new Set(['caps', 'provenance', ...withoutMeta, ...(instant ? [] : ofInstant), ...written]);
  const fields = Object.values(type.getFields()).filter((field) => takesNothing(field) && !apart.has(field.name));
  return [
    caps('applied', 'tier', ...(reportsFlow ? ['flow'] : [])),
    ...byHand,
    ...fields.map(wholeField),
    ...(hasProvenance(type, traits) ? provenance.selectionSet.selections : []),
  ];
}

const hasProvenance = (type: GraphQLObjectType, { instant }: MetaTraits) =>
  instant !== null && type.getFields().provenance !== undefined;

/** The root's `meta`, for data without metadata of its own, takes the plane. */
const registry = {
  kind: Kind.ARGUMENT,
  name: named('plane'),
  value: parseValue('registry', { noLocation: true }),
} as const;

const isMeta = (node: SelectionNode): node is FieldNode => node.kind === Kind.FIELD && responseKey(node) === 'meta';

/**
 * A route's operation as it runs: as of the instant of a request, with the metadata of its answer, and with the
 * variables of both.
 */
export function completed(schema: GraphQLSchema, document: DocumentNode, traits: MetaTraits): DocumentNode {
  let variables: OperationDefinitionNode['variableDefinitions'] = [];
  const metaOf = (type: GraphQLObjectType, { selections }: SelectionSetNode): SelectionSetNode => {
    const byHand = selections.find(isMeta)?.selectionSet?.selections ?? [];
    const metaType = getNamedType(type.getFields().meta!.type) as GraphQLObjectType;
    if (hasProvenance(metaType, traits)) variables = provenance.variableDefinitions;
    const meta: FieldNode = {
      ...fieldNode('meta', 'meta'),
      ...(type === schema.getQueryType() && { arguments: [registry] }),
      selectionSet: { kind: Kind.SELECTION_SET, selections: wholeMeta(metaType, byHand, traits) },
    };
    return { kind: Kind.SELECTION_SET, selections: [...selections.filter((node) => !isMeta(node)), meta] };
  };
  const { instant } = traits;
  const definitions = document.definitions.map((node) => {
    if (node.kind !== Kind.OPERATION_DEFINITION) return node;
    const path = traits.answer.split('.').filter(Boolean);
    const type = instant ? (schema.getType('AsOf') as GraphQLObjectType) : schema.getRootType(node.operation)!;
    const set = changedAt(type, node.selectionSet, path, metaOf);
    return {
      ...node,
      selectionSet: instant ? asOfSelection(set, instant) : set,
      variableDefinitions: [
        ...(node.variableDefinitions ?? []),
        ...(instant ? instantVariables(schema, instant, node) : []),
        ...variables!,
      ],
    };
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
