import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
  visit,
} from 'graphql';
import { fragmentsOf } from '../execution/document.ts';
import { overLimit, requireWithin } from './document-limits.ts';
import { expandedSizes } from './expanded-size.ts';

/** The selection at one position of the answer, by response key: how often, and the selections below. */
interface Selected {
  fields: Map<string, { times: number; below: Selected }>;
  /** Response keys by field. */
  names: Map<string, Set<string>>;
}

const nothingSelected = (): Selected => ({ fields: new Map(), names: new Map() });

/**
 * Throws 400 for a response key selected too often, or a field under too many keys. Call only within the limit of
 * fields.
 */
function checkSelections(
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): void {
  function addField(at: Selected, node: FieldNode): void {
    const name = node.name.value;
    const key = node.alias?.value ?? name;
    const keys = at.names.get(name) ?? new Set();
    at.names.set(name, keys.add(key));
    requireWithin('aliases', keys.size);
    const found = at.fields.get(key) ?? { times: 0, below: nothingSelected() };
    at.fields.set(key, found);
    found.times += 1;
    requireWithin('repeats', found.times);
    if (node.selectionSet) add(found.below, node.selectionSet);
  }

  function add(at: Selected, { selections }: SelectionSetNode): void {
    for (const node of selections) {
      if (node.kind === Kind.FIELD) addField(at, node);
      else if (node.kind === Kind.INLINE_FRAGMENT) add(at, node.selectionSet);
      else if (fragments.has(node.name.value)) add(at, fragments.get(node.name.value)!.selectionSet);
    }
  }

  for (const set of sets) add(nothingSelected(), set);
}

function directivesOf(document: DocumentNode): number {
  let count = 0;
  visit(document, {
    [Kind.DIRECTIVE]() {
      count += 1;
    },
  });
  return count;
}

/**
 * Throws 400 for a document over a limit, before it is validated: GraphQL's rules compare fields with one another, so
 * validating a large repetitive document takes long. Unused fragments count too, since they are validated as well.
 */
export function checkShape(document: DocumentNode): void {
  const fragments = fragmentsOf(document);
  requireWithin('fragments', document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length);
  requireWithin('directives', directivesOf(document));
  const { ofSet, isMeasured } = expandedSizes(fragments);
  const sets: SelectionSetNode[] = [];
  let [fields, depth] = [0, 0];
  const measure = (set: SelectionSetNode) => {
    const size = ofSet(set);
    fields += size.fields;
    depth = Math.max(depth, size.depth);
    sets.push(set);
  };
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) measure(definition.selectionSet);
  for (const [name, fragment] of fragments) if (!isMeasured(name)) measure(fragment.selectionSet);
  requireWithin('fields', fields);
  requireWithin('depth', depth);
  checkSelections(sets, fragments);
}

/** Number of tokens of a text, up to the first syntax error. */
function tokensOf(text: string): number {
  const lexer = new Lexer(new Source(text));
  let count = 0;
  try {
    while (lexer.advance().kind !== TokenKind.EOF) count += 1;
  } catch {
    // It is rejected for its length, regardless of other errors.
  }
  return count;
}

/** Throws 400 for a text that is too long to be parsed. `error` is the parser's error for too many tokens. */
export function checkTokens(text: string, error: unknown): void {
  if (error instanceof Error && /tokens\. Parsing aborted/.test(error.message))
    throw overLimit('tokens', tokensOf(text));
}
