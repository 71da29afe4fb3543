import { readdirSync, readFileSync } from 'node:fs';
import { type DocumentNode, Kind, parse, type SelectionNode, type SelectionSetNode, visit } from 'graphql';

const folder = new URL('../fragments/', import.meta.url);

/** Selections shared by stored operations, by fragment name: those of the files in `fragments/`. */
const shared: ReadonlyMap<string, SelectionSetNode> = new Map(
  readdirSync(folder).flatMap((file) =>
    parse(readFileSync(new URL(file, folder), 'utf8'), { noLocation: true }).definitions.map((fragment) => {
      if (fragment.kind !== Kind.FRAGMENT_DEFINITION) throw new Error(`fragments/${file} holds more than fragments`);
      return [fragment.name.value, fragment.selectionSet] as const;
    }),
  ),
);

function selectionOf(name: string): SelectionSetNode {
  const found = shared.get(name);
  if (!found) throw new Error(`there is no fragment ${name} in fragments/`);
  return found;
}

function withoutSpreads({ selections }: SelectionSetNode): SelectionNode[] {
  return selections.flatMap((node) =>
    node.kind === Kind.FRAGMENT_SPREAD ? withoutSpreads(selectionOf(node.name.value)) : [node],
  );
}

/** A stored operation with each fragment spread replaced by the fields of the fragment, so that it stands alone. */
export function withFragments(document: DocumentNode): DocumentNode {
  return visit(document, {
    SelectionSet: (node) => ({ ...node, selections: withoutSpreads(node) }),
  });
}
