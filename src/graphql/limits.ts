import { GraphQLError, Kind, type ValidationRule } from 'graphql';

/** What one GraphQL document may be. Each is far above what a dashboard needs and far below what would hurt. */
export const documentLimits = {
  /** Bytes of the request's body, variables among them. */
  bytes: 1024 * 1024,
  /** Tokens of the document's text. */
  tokens: 5000,
  /** Nesting of fields. */
  depth: 14,
  /** Fields under another name. */
  aliases: 200,
  directives: 100,
  /** Points: see `requestCost`. */
  points: 5000,
};

/** Points that cost as much as one REST request. A field that a REST route answers is worth one point. */
const pointsPerRequest = 10;

/** What a document of so many points takes from the caller's rate, in requests; at least 1. */
export function requestCost(points: number): number {
  return Math.max(1, Math.ceil(points / pointsPerRequest));
}

function overLimit(what: string, limit: number): GraphQLError {
  return new GraphQLError(`The document has more than ${limit} ${what}.`, { extensions: { code: 'invalid_params' } });
}

/** A validation rule that counts nodes of a kind over the whole document. */
function countingRule(
  kind: Kind.FIELD | Kind.DIRECTIVE,
  counts: (node: { alias?: unknown }) => boolean,
  what: string,
  limit: number,
): ValidationRule {
  return (context) => {
    let count = 0;
    return {
      [kind]: (node: { alias?: unknown }) => {
        if (counts(node) && ++count === limit + 1) context.reportError(overLimit(what, limit));
      },
    };
  };
}

/** Validation rules beyond GraphQL's own. */
export const limitRules: readonly ValidationRule[] = [
  countingRule(Kind.FIELD, (node) => node.alias !== undefined, 'aliases', documentLimits.aliases),
  countingRule(Kind.DIRECTIVE, () => true, 'directives', documentLimits.directives),
];
