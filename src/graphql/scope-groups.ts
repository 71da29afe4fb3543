import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { isMarketGroup } from '../core/domain/screener.ts';

interface Walk {
  schema: GraphQLSchema;
  document: DocumentNode;
  groups: Set<string>;
  seen: Set<SelectionSetNode>;
}

/**
 * Adds the scope groups of the fields below; true when there was one. Market data gives way to fields below it: a
 * symbol is only the path to its bars. Data of an account (`watchlists`, `account`, `journal`) was read in any case,
 * and makes the answer that account's own.
 */
function collect(walk: Walk, set: SelectionSetNode, typeName: string): boolean {
  if (walk.seen.has(set)) return false;
  walk.seen.add(set);
  const type = walk.schema.getType(typeName);
  let found = false;
  for (const node of set.selections) {
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = walk.document.definitions.find(
        (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === node.name.value,
      );
      if (fragment?.kind === Kind.FRAGMENT_DEFINITION)
        found = collectChosen(walk, fragment.selectionSet, typeName, fragment.typeCondition.name.value) || found;
    } else if (node.kind === Kind.INLINE_FRAGMENT) {
      found = collectChosen(walk, node.selectionSet, typeName, node.typeCondition?.name.value) || found;
    } else if (isObjectType(type) || isInterfaceType(type)) {
      const field = type.getFields()[node.name.value];
      if (!field) continue;
      const fieldType = getNamedType(field.type);
      const below =
        node.selectionSet && isCompositeType(fieldType) ? collect(walk, node.selectionSet, fieldType.name) : false;
      const group = field.extensions.scopeGroup;
      if (typeof group === 'string' && !(below && isMarketGroup(group))) walk.groups.add(group);
      found = below || typeof group === 'string' || found;
    }
  }
  return found;
}

/** Like `collect`, for a fragment on a type: an object read by its id belongs to the group of its type. */
function collectChosen(walk: Walk, set: SelectionSetNode, typeName: string, chosen = typeName): boolean {
  const below = collect(walk, set, chosen);
  const group = chosen === typeName ? undefined : walk.schema.getType(chosen)?.extensions.scopeGroup;
  if (typeof group !== 'string') return below;
  if (!(below && isMarketGroup(group))) walk.groups.add(group);
  return true;
}

/**
 * The scope groups that usage counts for a document: of each path, the deepest field that belongs to one, and all
 * groups of the account.
 */
export function scopeGroups(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): string[] {
  const operation = getOperationAST(document, operationName);
  if (!operation) return [];
  const walk: Walk = { schema, document, groups: new Set(), seen: new Set() };
  collect(walk, operation.selectionSet, schema.getRootType(operation.operation)!.name);
  return [...walk.groups];
}

/** Names of an operation's root fields, if it has only fields there; null otherwise. */
function rootFields(document: DocumentNode, operationName: string | null | undefined): string[] | null {
  const selections = getOperationAST(document, operationName)?.selectionSet.selections ?? [];
  const names = selections.flatMap((node) => (node.kind === Kind.FIELD ? [node.name.value] : []));
  return names.length > 0 && names.length === selections.length ? names : null;
}

/** True if an operation reads only the schema, which is public: by introspection, or as the SDL of a subgraph. */
export function isIntrospectionOnly(document: DocumentNode, operationName: string | null | undefined): boolean {
  return rootFields(document, operationName)?.every((name) => name.startsWith('__') || name === '_service') ?? false;
}

/** True if an operation reads only the name of its root type. */
export function isTypenameOnly(document: DocumentNode, operationName: string | null | undefined): boolean {
  return rootFields(document, operationName)?.every((name) => name === '__typename') ?? false;
}

/**
 * True if a request of these groups reads market data alone, and nothing of an account: then callers with the same
 * rights get the same answer.
 */
export function isMarketData(groups: readonly string[]): boolean {
  return groups.length > 0 && groups.every(isMarketGroup);
}
