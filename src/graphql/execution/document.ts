import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind } from 'graphql';

/** A document's fragments by name. If two share a name, which is invalid, the last counts. */
export function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

/** Response key of a field. */
export const responseKey = ({ alias, name }: FieldNode): string => (alias ?? name).value;
