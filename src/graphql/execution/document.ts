import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind } from 'graphql';

/** A document's fragments by name; of two with one name, which is invalid, the last. */
export function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

/** The key under which a field is answered. */
export const responseKey = ({ alias, name }: FieldNode): string => (alias ?? name).value;
