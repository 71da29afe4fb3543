import type { GraphQLError } from 'graphql';
import { limitExceeded } from '../../platform/wire/failure.ts';
import { requestErrorOf } from '../request-error.ts';

/**
 * Limits of one GraphQL document. Fields, depth, repeats and aliases are counted with fragments expanded, over all
 * operations of the document together. Each limit is far above what a dashboard uses and far below what would load the
 * server.
 */
export const documentLimits = {
  /** Bytes of the request's body, variables among them. */
  bytes: 1024 * 1024,
  /** UTF-16 units of the document's text. */
  characters: 100_000,
  /** Tokens of the document's text. */
  tokens: 5000,
  fragments: 100,
  directives: 100,
  /** Selected fields. */
  fields: 2000,
  /** Nesting of fields. */
  depth: 16,
  /** Response keys under which one field is selected at one position. */
  aliases: 100,
  /** Selections of one response key at one position. */
  repeats: 20,
  /** Objects that lists among the arguments name, over all fields. */
  ids: 1000,
  /** Fields and list items that an answer may hold, as predicted. */
  leaves: 1_000_000,
  /** Bytes of an answer, as predicted and as counted while it is made. */
  answerBytes: 32 * 1024 * 1024,
} as const;

/** Rules of bodies that the graph's endpoints read. */
export const documentBody = {
  maxBytes: documentLimits.bytes,
  mediaTypes: ['application/json', 'application/graphql+json'],
} as const;

/** The limits that are counted here. The body's bytes are counted as it is read. */
type DocumentLimit = Exclude<keyof typeof documentLimits, 'bytes'>;

const messages: Record<DocumentLimit, (counted: string, most: string, argument: string) => string> = {
  characters: (counted, most) =>
    `The document has ${counted} characters; at most ${most}. Send long values as variables.`,
  tokens: (counted, most) => `The document has ${counted} tokens; at most ${most}.`,
  fragments: (counted, most) => `The document has ${counted} fragments; at most ${most}.`,
  directives: (counted, most) => `The document has ${counted} directives; at most ${most}.`,
  fields: (counted, most) => `The document selects ${counted} fields once its fragments are expanded; at most ${most}.`,
  depth: (counted, most) => `The document nests fields ${counted} deep; at most ${most}.`,
  aliases: (counted, most) => `The document selects one field under ${counted} names in one place; at most ${most}.`,
  repeats: (counted, most) => `The document selects one response key ${counted} times in one place; at most ${most}.`,
  ids: (counted, most, argument) =>
    `${argument}: the document names ${counted} ids over all its fields; at most ${most}.`,
  leaves: (counted, most) =>
    `The answer could have ${counted} values; at most ${most}. Request fewer symbols, rows or fields.`,
  answerBytes: (counted, most) =>
    `The answer could have ${counted} bytes; at most ${most}. Request fewer symbols, rows or fields.`,
};

/** Counting stops here; a larger count is reported as "more than". */
export const countedNoFurther = 1_000_000_000;

const inWords = (count: number) =>
  count >= countedNoFurther
    ? `more than ${countedNoFurther.toLocaleString('en-US')}`
    : Math.ceil(count).toLocaleString('en-US');

/** The error of a document over a limit: 400 with the limit and the count, and the argument that exceeds it, if any. */
export function overLimit(limit: DocumentLimit, counted: number, argument?: string): GraphQLError {
  const most = documentLimits[limit];
  const message = messages[limit](inWords(counted), most.toLocaleString('en-US'), argument ?? '');
  const details = {
    limit,
    counted: Math.min(Math.ceil(counted), countedNoFurther),
    most,
    ...(argument !== undefined && { parameter: argument }),
  };
  return requestErrorOf(limitExceeded(message, details));
}

/** Throws `overLimit` if `counted` is more than the limit. */
export function requireWithin(limit: DocumentLimit, counted: number, argument?: string): void {
  if (counted > documentLimits[limit]) throw overLimit(limit, counted, argument);
}

/** An operation's predictions that have a limit. */
interface Predicted {
  leaves: number;
  bytes: number;
  ids: { count: number; argument: string };
}

/** Throws `overLimit` for an operation that names too much, or whose answer could exceed a limit. */
export function requirePredicted({ leaves, bytes, ids }: Predicted): void {
  requireWithin('ids', ids.count, ids.argument);
  requireWithin('leaves', leaves);
  requireWithin('answerBytes', bytes);
}
