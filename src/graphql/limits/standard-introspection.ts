import { type DocumentNode, executeSync, type GraphQLSchema, getIntrospectionQuery, parse } from 'graphql';
import { LRUCache } from 'lru-cache';
import { isWithin, projected, type Selected, selectedBy } from './introspection-selection.ts';

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
