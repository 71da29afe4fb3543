import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  OperationTypeNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  Source,
  specifiedRules,
  TokenKind,
  type ValidationRule,
  validate,
  visit,
} from 'graphql';
import { isStorableText, storableText } from '../../platform/runtime/storable-text.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { nestsDeeper } from '../../platform/wire/stored-text.ts';
import { fragmentsOf } from '../execution/document.ts';
import { countedNoFurther, documentLimits, overLimit, requireWithin } from './document-limits.ts';

/** Maximum nesting of brackets in a document: the parser recurses into each. */
const deepestBrackets = 100;

function invalid(message: string, details?: object, node?: ASTNode): GraphQLError {
  return new GraphQLError(message, {
    nodes: node ?? null,
    extensions: { code: 'invalid_params', ...(details ? { details } : {}) },
  });
}

/** Name of the argument or input field that a value in the document belongs to. */
function parameterOf(ancestors: readonly (ASTNode | readonly ASTNode[])[]): string {
  for (const node of ancestors.toReversed()) {
    if ('kind' in node && (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD)) return node.name.value;
  }
  return 'query';
}

/** A validation rule: strings in the document can be stored. */
const storableTexts: ValidationRule = (context) => ({
  StringValue(node, _key, parent, _path, ancestors) {
    if (isStorableText(node.value)) return;
    const { message, details } = invalidParameter(
      parameterOf(parent ? [...ancestors, parent] : ancestors),
      `expected ${storableText}`,
    );
    context.reportError(invalid(message, details, node));
  },
});

/** Throws 400 for a document whose brackets are nested too deep. */
function requireShallow(source: string): void {
  if (nestsDeeper(source, deepestBrackets))
    throw invalid(`The document has brackets nested more than ${deepestBrackets} deep.`);
}

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
const unconditionalSubscription: ValidationRule = (context) => ({
  OperationDefinition({ operation, selectionSet }) {
    if (operation !== OperationTypeNode.SUBSCRIPTION) return;
    const found = conditionalSelection(selectionSet, (name) => context.getFragment(name));
    if (found)
      context.reportError(
        new GraphQLError('A subscription cannot have @skip or @include on its root field.', { nodes: found }),
      );
  },
});

/** Maximum number of validation errors: each costs a search for names similar to the wrong one. */
const mostErrors = 20;

/** Parses a document within the limits. Throws 400 for one over them. */
export function parseWithinLimits(source: string, options: object = {}): DocumentNode {
  requireShallow(source);
  requireWithin('characters', source.length);
  let document: DocumentNode;
  try {
    document = parse(source, { ...options, maxTokens: documentLimits.tokens });
  } catch (error) {
    checkTokens(source, error);
    throw error;
  }
  checkShape(document);
  return document;
}

const rulesOf = (rules: readonly ValidationRule[] = specifiedRules) => [
  ...rules,
  storableTexts,
  unconditionalSubscription,
];

/** Errors of a document that does not fit the schema: the first ones. */
export function validationErrors(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules?: readonly ValidationRule[],
): readonly GraphQLError[] {
  return validate(schema, document, rulesOf(rules), { maxErrors: mostErrors });
}

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
function checkShape(document: DocumentNode): void {
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
function checkTokens(text: string, error: unknown): void {
  if (error instanceof Error && /tokens\. Parsing aborted/.test(error.message))
    throw overLimit('tokens', tokensOf(text));
}

/** Size of a selection once its fragments are expanded. */
interface ExpandedSize {
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
function expandedSizes(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
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
