import { type GraphQLArgument, type GraphQLSchema, Kind, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import type { StoredOperation } from './operation.ts';

/**
 * The argument of the graph that takes a variable of a stored operation. Its description (default, maximum) holds for
 * the parameter behind the variable. Null if no argument takes the variable.
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
      // A directive that includes a field does not describe the variable.
      Directive: () => false,
      Argument: ({ value }) => {
        if (value.kind === Kind.VARIABLE && value.name.value === variable) found ??= types.getArgument() ?? null;
      },
    }),
  );
  return found;
}

/** The variable for a parameter: its name in camelCase, except for the short form of `timeframe`. */
export function variableOf(parameter: string): string {
  if (parameter === 'tf') return 'timeframe';
  return parameter.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
