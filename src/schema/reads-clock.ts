import type { GraphQLField } from 'graphql';

/** Extensions of a field whose value changes with the clock, whatever session it is of. */
export const readsClock = { readsClock: true } as const;

/** True for such a field: an answer with it has no ETag. */
export function isOfClock({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): boolean {
  return (extensions as Partial<typeof readsClock>).readsClock === true;
}
