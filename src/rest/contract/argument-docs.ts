import { type GraphQLArgument, type GraphQLSchema, Kind, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import type { StoredOperation } from './operation.ts';

/**
 * The argument of the graph that a variable of a stored operation is handed to: what the graph says of it (its default,
 * its maximum) holds for the parameter that becomes the variable. Null when the variable is handed to none.
 */
export function argumentOf(
  schema: GraphQLSchema,
  { document }: StoredOperation,
  variable: string,
): GraphQLArgument | null {
  const types = new TypeInfo(schema);
  let found: GraphQLArgument | null = null;
  visit(
    document,
    visitWithTypeInfo(types, {
      Argument: ({ value }) => {
        if (value.kind === Kind.VARIABLE && value.name.value === variable) found ??= types.getArgument() ?? null;
      },
    }),
  );
  return found;
}

/** The variable that a parameter becomes: its name in camelCase, but for the short form of `timeframe`. */
export function variableOf(parameter: string): string {
  if (parameter === 'tf') return 'timeframe';
  return parameter.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
