import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { hasCredential } from '../../access/identity/credential.ts';
import { unauthenticated } from '../../wire/failure.ts';
import { documentLimits, requireWithin } from '../limits/document-limits.ts';
import { checkShape, checkTokens } from '../limits/document-shape.ts';
import { requireShallow, storableTexts } from '../limits/document-texts.ts';
import { requestErrorOf } from '../request-error.ts';
import type { OperationState } from '../request-state.ts';
import { isIntrospectionOnly } from '../scope-groups.ts';
import { unconditionalSubscription } from '../subscription-root.ts';

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

/**
 * Bounds parsing and validation. A document that reads more than the schema requires a credential: without one it is
 * rejected before any further work.
 */
export function documentBounds(isStandardIntrospection: (document: DocumentNode) => boolean): Plugin {
  return {
    onParse: ({ setParseFn }) => setParseFn(parseWithinLimits),
    onValidate: ({ params: { documentAST }, context, setResult, setValidationFn }) => {
      const document = documentAST as DocumentNode;
      const { req, params } = context as unknown as OperationState;
      if (isStandardIntrospection(document)) return setResult([]);
      // Thrown instead of returned: validation results are cached for all callers.
      if (!hasCredential(req.headers) && !isIntrospectionOnly(document, params.operationName))
        throw requestErrorOf(unauthenticated());
      setValidationFn(validationErrors);
    },
  };
}
