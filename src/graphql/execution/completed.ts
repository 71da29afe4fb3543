import { GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, type GraphQLLeafType, GraphQLString } from 'graphql';

/** True for a promise by the same test as graphql-js, except that functions are never promises. */
export function isPromise<T>(value: unknown): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** True if a value of a built-in type needs no serialization: `serialize` would return it unchanged. */
export function isAsItIs(type: GraphQLLeafType, value: unknown): boolean {
  switch (typeof value) {
    case 'number':
      return type === GraphQLFloat ? Number.isFinite(value) : type === GraphQLInt && (value | 0) === value;
    case 'string':
      return type === GraphQLString || type === GraphQLID;
    case 'boolean':
      return type === GraphQLBoolean;
    default:
      return false;
  }
}
