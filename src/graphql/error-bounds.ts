import { GraphQLError } from 'graphql';
import { overLimit } from './limits/document-limits.ts';

/** Maximum size of the errors of an answer without data, bytes. */
const mostBytesAlone = 64 * 1024;
/** Bytes of an error besides its message and path. */
const frameBytes = 200;

function bytesOf({ message, path }: GraphQLError): number {
  const keys = (path ?? []).reduce<number>((sum, key) => sum + 3 + String(key).length, 0);
  return frameBytes + 3 * message.length + keys;
}

/** The error without its path, which repeats the names that the client gave. */
function withoutPath(error: GraphQLError): GraphQLError {
  const { message, source = null, positions = null, extensions } = error;
  return new GraphQLError(message, { source, positions, extensions });
}

/**
 * The errors of an answer without data: the first ones that fit in 64 KiB. An answer with data has all of them; null if
 * they exceed the size limit of an answer.
 */
export function boundedErrors(errors: readonly GraphQLError[], hasData: boolean, most: number): GraphQLError[] | null {
  let bytes = 0;
  if (hasData) {
    for (const error of errors) bytes += bytesOf(error);
    return bytes > most ? null : [...errors];
  }
  const kept: GraphQLError[] = [];
  for (const error of errors) {
    bytes += bytesOf(error);
    if (bytes > mostBytesAlone) break;
    kept.push(error);
  }
  return kept.length > 0 ? kept : [withoutPath(errors[0]!)];
}

/** The one error of an answer whose errors would exceed the size limit of an answer. */
export const tooManyErrors = (most: number): GraphQLError => overLimit('answerBytes', most + 1);
