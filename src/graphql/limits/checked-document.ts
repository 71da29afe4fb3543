import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { documentLimits, requireWithin } from './document-limits.ts';
import { checkShape, checkTokens } from './document-shape.ts';
import { requireShallow, storableTexts } from './document-texts.ts';
import { unconditionalSubscription } from './subscription-root.ts';

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
