import { type GraphQLArgument, type GraphQLSchema, Kind, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import type { StoredOperation } from './operation.ts';

/**
 * The arguments of the graph that take the variables of a stored operation, by the variable's name; the first of each.
 * Their descriptions (default, maximum) hold for the parameters behind the variables.
 */
export function argumentsOf(schema: GraphQLSchema, { document }: StoredOperation): Map<string, GraphQLArgument> {
  const types = new TypeInfo(schema);
  const found = new Map<string, GraphQLArgument>();
  visit(
    document,
    visitWithTypeInfo(types, {
      // A directive that includes a field does not describe the variable.
      Directive: () => false,
      Argument: ({ value }) => {
        const argument = types.getArgument();
        if (value.kind !== Kind.VARIABLE || !argument || found.has(value.name.value)) return;
        found.set(value.name.value, argument);
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
