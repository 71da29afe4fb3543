import type { GraphQLInputType } from 'graphql';
import type { ScalarReader } from './scalar-readers.ts';

/** A variable of the operation as a parameter of the route. */
export interface OwnParameter extends ScalarReader {
  name: string;
  variable: string;
  type: GraphQLInputType;
  isRequired: boolean;
  description: string | undefined;
}
