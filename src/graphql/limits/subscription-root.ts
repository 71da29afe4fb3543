import {
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationRule,
} from 'graphql';

const conditional = new Set(['skip', 'include']);

/** The first selection at the root, or in a fragment of the root, that has a condition; null if none has. */
function conditionalSelection(
  { selections }: SelectionSetNode,
  fragment: (name: string) => FragmentDefinitionNode | null | undefined,
  seen = new Set<string>(),
): SelectionNode | null {
  for (const selection of selections) {
    if (selection.directives?.some(({ name }) => conditional.has(name.value))) return selection;
    if (selection.kind === Kind.FIELD) continue;
    const name = selection.kind === Kind.FRAGMENT_SPREAD ? selection.name.value : null;
    if (name !== null && seen.has(name)) continue;
    if (name !== null) seen.add(name);
    const within = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragment(selection.name.value);
    const found = within ? conditionalSelection(within.selectionSet, fragment, seen) : null;
    if (found) return found;
  }
  return null;
}

/**
 * The only root field of a subscription has no `@skip` or `@include` (GraphQL specification, "Single Root Field"):
 * without the field there is no source, and graphql-js 16, which does not check it, fails.
 */
export const unconditionalSubscription: ValidationRule = (context) => ({
  OperationDefinition({ operation, selectionSet }) {
    if (operation !== OperationTypeNode.SUBSCRIPTION) return;
    const found = conditionalSelection(selectionSet, (name) => context.getFragment(name));
    if (found)
      context.reportError(
        new GraphQLError('A subscription cannot have @skip or @include on its root field.', { nodes: found }),
      );
  },
});
