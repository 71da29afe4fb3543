import { type FragmentDefinitionNode, GraphQLError, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';
import { countedNoFurther } from './document-limits.ts';

/** Size of a selection once its fragments are expanded. */
export interface ExpandedSize {
  /** Fields, and the fragments around them, counted at every spread. Never over `countedNoFurther`. */
  fields: number;
  /** Nesting of fields; the fields of the selection itself are 1 deep. */
  depth: number;
}

const nothing: ExpandedSize = { fields: 0, depth: 0 };

function together(one: ExpandedSize, other: ExpandedSize): ExpandedSize {
  return {
    fields: Math.min(countedNoFurther, one.fields + other.fields),
    depth: Math.max(one.depth, other.depth),
  };
}

/**
 * Measures selections with their fragments expanded. Each fragment is measured once, so a document takes time in
 * proportion to its text however large its expansion is. Throws 400 for a fragment that spreads itself; unknown
 * fragments count as empty.
 */
export function expandedSizes(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const measured = new Map<string, ExpandedSize | 'being measured'>();

  function ofFragment(name: string): ExpandedSize {
    const known = measured.get(name);
    if (known === 'being measured') {
      throw new GraphQLError(`Cannot spread fragment "${name}" within itself.`, { nodes: fragments.get(name)! });
    }
    if (known !== undefined) return known;
    const fragment = fragments.get(name);
    if (fragment === undefined) return nothing;
    measured.set(name, 'being measured');
    const size = ofSet(fragment.selectionSet);
    measured.set(name, size);
    return size;
  }

  function ofSelection(node: SelectionNode): ExpandedSize {
    const isField = node.kind === Kind.FIELD;
    const below = node.kind === Kind.FRAGMENT_SPREAD ? ofFragment(node.name.value) : ofSet(node.selectionSet);
    return { fields: 1 + below.fields, depth: below.depth + (isField ? 1 : 0) };
  }

  function ofSet(set: SelectionSetNode | undefined): ExpandedSize {
    return (set?.selections ?? []).reduce((size, node) => together(size, ofSelection(node)), nothing);
  }

  return { ofSet, isMeasured: (fragment: string) => measured.has(fragment) };
}
