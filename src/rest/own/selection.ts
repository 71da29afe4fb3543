import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { fragmentsOf, responseKey } from '../../graphql/execution/document.ts';
import { FileProblem } from './problems.ts';

interface Walk {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** True if an object of `type` always is one of `condition`. */
function always({ schema }: Walk, type: GraphQLCompositeType, condition: string): boolean {
  const on = schema.getType(condition)!;
  return on === type || (isAbstractType(on) && !isAbstractType(type) && schema.isSubType(on, type));
}

const directivesText = (nodes: readonly DirectiveNode[] = []) => nodes.map(print).sort().join(' ');

function fieldType(type: GraphQLCompositeType, node: FieldNode): GraphQLCompositeType {
  const fields = isObjectType(type) || isInterfaceType(type) ? type.getFields() : {};
  return getNamedType(fields[node.name.value]!.type) as GraphQLCompositeType;
}

/** The selections of a set, fragments replaced by what they select. */
function expanded(walk: Walk, type: GraphQLCompositeType, { selections }: SelectionSetNode): SelectionNode[] {
  return selections.flatMap((node): SelectionNode[] => {
    if (node.kind === Kind.FIELD) return [node];
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? walk.fragments.get(node.name.value)! : node;
    const { selectionSet, typeCondition } = fragment;
    const directives = node.directives ?? [];
    const on = typeCondition?.name.value ?? type.name;
    if (directives.length === 0 && always(walk, type, on)) return expanded(walk, type, selectionSet);
    const below = merged(walk, walk.schema.getType(on) as GraphQLCompositeType, selectionSet);
    const condition = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: on } } as const;
    return [{ kind: Kind.INLINE_FRAGMENT, typeCondition: condition, directives, selectionSet: below }];
  });
}

function together(first: FieldNode, second: FieldNode): FieldNode {
  if (directivesText(first.directives) !== directivesText(second.directives))
    throw new FileProblem(
      `${responseKey(second)} is selected twice, under different conditions; select it once`,
      second.loc?.startToken.line ?? null,
    );
  if (!first.selectionSet) return first;
  const selections = [...first.selectionSet.selections, ...second.selectionSet!.selections];
  return { ...first, selectionSet: { ...first.selectionSet, selections } };
}

/** A set with each response key once, as execution merges them, and with fragments only on other types. */
function merged(walk: Walk, type: GraphQLCompositeType, set: SelectionSetNode): SelectionSetNode {
  const fields = new Map<string, FieldNode>();
  const others: SelectionNode[] = [];
  for (const node of expanded(walk, type, set)) {
    if (node.kind !== Kind.FIELD) others.push(node);
    else {
      const known = fields.get(responseKey(node));
      fields.set(responseKey(node), known ? together(known, node) : node);
    }
  }
  const whole = [...fields.values()].map((node) =>
    node.selectionSet ? { ...node, selectionSet: merged(walk, fieldType(type, node), node.selectionSet) } : node,
  );
  return { kind: Kind.SELECTION_SET, selections: [...whole, ...others] };
}

/** The selection of a validated operation, complete in itself. */
export function wholeSelection(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
): SelectionSetNode {
  return merged({ schema, fragments: fragmentsOf(document) }, schema.getRootType(operation)!, selectionSet);
}
