import { createHash } from 'node:crypto';
import { invalidParameter } from '../../platform/wire/failure.ts';

/** The tag that binds an id to its topics, in their order. */
export function topicsTag(names: readonly string[]): string {
  return createHash('sha256').update(names.join(',')).digest('base64url').slice(0, 8).replaceAll('-', '.');
}

/** The id of an event: the reader's position in each of the stream's topics. */
export function writeEventId(tag: string, cursors: readonly string[]): string {
  return [tag, ...cursors].join('-');
}

/** The reader's positions; null for a topic without one. Throws 400 for an id of other topics. */
export function readEventId(tag: string, count: number, id: string): (string | null)[] {
  const [bound, ...cursors] = id.split('-');
  if (bound !== tag || cursors.length !== count)
    throw invalidParameter('Last-Event-ID', 'expected the id of an event of a stream of the same topics');
  return cursors.map((cursor) => (cursor === '' ? null : cursor));
}
