import { GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, type GraphQLLeafType, GraphQLString } from 'graphql';

/** As graphql-js recognizes a promise; functions are none. */
export function isPromise<T>(value: unknown): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** True if a value of a type of the language is answered as it is: `serialize` would return the same. */
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
