import type { GraphQLField } from 'graphql';

/** True for such a field: an answer with it has no ETag. */
export function isOfClock({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): boolean {
  return (extensions as { readsClock?: true }).readsClock === true;
}
