import {
  type GraphQLArgument,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';

/** Every place of the graph that a reader may look up, with its description. */
function* places(): Generator<[string, string | null | undefined]> {
  const args = function* (
    owner: string,
    list: readonly GraphQLArgument[],
  ): Generator<[string, string | null | undefined]> {
    for (const arg of list) yield [`${owner}(${arg.name})`, arg.description];
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || ['String', 'Int', 'Float', 'Boolean', 'ID'].includes(type.name)) continue;
    yield [type.name, type.description];
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        yield [`${type.name}.${field.name}`, field.description];
        yield* args(`${type.name}.${field.name}`, field.args);
      }
    } else if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) yield [`${type.name}.${field.name}`, field.description];
    } else if (!isEnumType(type) && !isScalarType(type)) {
      yield [`${type.name} is of a kind this test does not know`, null];
    }
  }
}

describe('the graph', () => {
  test('describes every type, field and argument', () => {
    const all = [...places()];
    expect(all.length).toBeGreaterThan(400);
    expect(all.filter(([, description]) => !description?.trim()).map(([place]) => place)).toEqual([]);
  });
});
