// Search in the index: the query, and the ranking of its documents.
import MiniSearch, { type Options, type SearchResult } from 'minisearch';

/** A document as stored in the index. */
export interface Found extends SearchResult {
  kind: string;
  title: string;
  place: string;
  href: string;
  text: string;
}

/** Names of routes and guides rank above parameters, which many routes share. */
const ranks: Readonly<Record<string, number>> = { Guide: 2, Route: 2, 'Stream topic': 1.5, Parameter: 0.7 };

/** Finds documents by a text, the best first. */
export type Search = (text: string) => Found[];

/** The search in an index with the content of `search.json`. */
export function searchOf({ options, index }: { options: Options; index: never }): Search {
  const loaded = MiniSearch.loadJS(index, options);
  const look = (text: string, combineWith: 'AND' | 'OR') =>
    loaded.search(text, {
      combineWith,
      prefix: true,
      fuzzy: (term) => (term.length > 3 ? 0.2 : false),
      boost: { title: 4, alsoCalled: 4, place: 2, fields: 0.5 },
      boostDocument: (_id, _term, stored) => ranks[String(stored?.kind)] ?? 1,
    }) as Found[];
  return (text) => {
    const all = look(text, 'AND');
    return all.length > 0 ? all : look(text, 'OR');
  };
}
