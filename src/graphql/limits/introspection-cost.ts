import {
  DirectiveLocation,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
} from 'graphql';
import type { AnyCost, Sizes } from '../../schema/cost.ts';

/** Points of each field of introspection. */
const each = 0.004;

/** Bytes of texts that introspection returns. */
const bytes: Record<string, number> = { description: 90, name: 16, deprecationReason: 4, defaultValue: 6 };

const count = (items: object | undefined) => (items === undefined ? 0 : Object.keys(items).length);

/** Number of items of each list of each type. */
function sizesByType(schema: GraphQLSchema): Record<string, number>[] {
  return Object.values(schema.getTypeMap()).map((type) => {
    const hasFields = isObjectType(type) || isInterfaceType(type);
    return {
      fields: hasFields ? count(type.getFields()) : 0,
      inputFields: isInputObjectType(type) ? count(type.getFields()) : 0,
      enumValues: isEnumType(type) ? type.getValues().length : 0,
      interfaces: hasFields ? type.getInterfaces().length : 0,
      possibleTypes: isInterfaceType(type) ? schema.getPossibleTypes(type).length : 0,
    };
  });
}

/** Number of arguments of each field. */
function argumentCounts(schema: GraphQLSchema): number[] {
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()).map(({ args }) => args.length) : [],
  );
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** A type has at most three wrappers: `[T!]!`. The named type within has none. */
const mostWrappers = 3;

/** Costs of the fields that lead to types: any type may be the largest, and types of fields are wrapped. */
function typeCosts(query: string, usual: Sizes, largest: Sizes, typeCount: number): Record<string, AnyCost> {
  const wrapped = { sizes: () => ({ ...largest, wrappers: mostWrappers }) };
  const named = { sizes: () => ({ ...largest, wrappers: 0 }) };
  return {
    [`${query}.__schema`]: {},
    [`${query}.__type`]: named,
    '__Schema.types': { rows: typeCount, sizes: () => ({ ...usual, wrappers: 0 }) },
    '__Schema.directives': { rows: 'directives', sizes: () => largest },
    '__Type.interfaces': named,
    '__Type.possibleTypes': named,
    '__Field.type': wrapped,
    '__InputValue.type': wrapped,
    '__Type.ofType': {
      times: (_args, { wrappers = mostWrappers }) => Math.min(1, wrappers),
      sizes: (_args, _caller, { wrappers = mostWrappers }) => ({ ...largest, wrappers: Math.max(0, wrappers - 1) }),
    },
    '__Directive.locations': { rows: 'locations' },
  };
}

/**
 * Costs of introspection, by `Type.field`. The lengths of a schema's lists are known: all types together have the mean
 * of each, so that `types { fields }` has its actual length; a single type may be the largest.
 */
export function introspectionCosts(schema: GraphQLSchema): (coordinate: string) => AnyCost | undefined {
  const types = sizesByType(schema);
  const args = argumentCounts(schema);
  const sizes = (of: (values: readonly number[]) => number): Sizes => ({
    ...Object.fromEntries(Object.keys(types[0]!).map((list) => [list, of(types.map((type) => type[list]!))])),
    args: of(args),
    directives: schema.getDirectives().length,
    locations: Object.keys(DirectiveLocation).length,
  });
  const [usual, largest] = [sizes(mean), sizes((values) => Math.max(...values))];
  const known = new Map<string, AnyCost>();
  for (const [coordinate, cost] of Object.entries(typeCosts(schema.getQueryType()!.name, usual, largest, types.length)))
    known.set(coordinate, { each, ...cost });
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || !isIntrospectionType(type)) continue;
    for (const name of Object.keys(type.getFields())) {
      const coordinate = `${type.name}.${name}`;
      const text = name in bytes ? { bytes: bytes[name]! } : {};
      known.set(coordinate, { each, ...(name in largest && { rows: name }), ...text, ...known.get(coordinate) });
    }
  }
  return (coordinate) => known.get(coordinate);
}
