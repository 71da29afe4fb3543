import { createHash } from 'node:crypto';
import { invalidParameter } from '../../wire/failure.ts';

/** The tag that an id is bound to: the topics, in their order. */
export function topicsTag(names: readonly string[]): string {
  return createHash('sha256').update(names.join(',')).digest('base64url').slice(0, 8).replaceAll('-', '.');
}

/** The id of an event: where a reader of it stands in each of the stream's topics. */
export function writeEventId(tag: string, cursors: readonly string[]): string {
  return [tag, ...cursors].join('-');
}

/** Where a reader stood; null for a topic in which it begins. Throws 400 for an id that is not of these topics. */
export function readEventId(tag: string, count: number, id: string): (string | null)[] {
  const [bound, ...cursors] = id.split('-');
  if (bound !== tag || cursors.length !== count)
    throw invalidParameter('Last-Event-ID', 'expected the id of an event of a stream of the same topics');
  return cursors.map((cursor) => (cursor === '' ? null : cursor));
}
