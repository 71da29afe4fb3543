import {
  type GraphQLArgument,
  type GraphQLScalarType,
  getNamedType,
  graphqlSync,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  printSchema,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { clausesIn } from '../support/description-openings.ts';

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
    } else if (isEnumType(type)) {
      for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value.description];
    } else if (!isScalarType(type)) {
      yield [`${type.name} is of a kind this test does not know`, null];
    }
  }
}

describe('the graph', () => {
  test('describes every type, field, argument and enum value', () => {
    const all = [...places()];
    expect(all.length).toBeGreaterThan(400);
    expect(all.filter(([, description]) => !description?.trim()).map(([place]) => place)).toEqual([]);
  });

  test('describes with noun phrases and verbs, not with clauses', () => {
    expect(clausesIn([['the graph', 'Whether it is.']])).toEqual(['the graph: Whether it is.']);
    expect(clausesIn(places())).toEqual([]);
  });
});

describe('a scalar of the graph', () => {
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type),
  ) as GraphQLScalarType[];

  test.each(scalars)('$name names the public specification of its form', ({ specifiedByURL }) => {
    const url = new URL(specifiedByURL!);
    expect(url.protocol).toBe('https:');
    expect(url.hostname).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);
    expect(printSchema(schema)).toContain(`@specifiedBy(url: "${specifiedByURL}")`);
  });

  test('is introspected with it', () => {
    const { data } = graphqlSync({ schema, source: '{ __type(name: "EpochMs") { specifiedByURL } }' });
    expect(data).toMatchObject({ __type: { specifiedByURL: expect.stringContaining('https://') } });
  });
});

// Words by which a reader knows what a number counts or measures.
const measured =
  /dollars|\$1|shares|contracts|percent|fraction|basis points|thousandths|vol point|divided by the price|days|× 100/i;
const counted =
  /\b(rows|prints|bars|events|trades|executions|requests|symbols|sessions|strikes|captures|buckets|dates|sectors|lists|number of|numbers of)\b/i;
const ordered = /sequence number|rank|sequence|version|highest score|line of the body|\bids?\b/i;

describe('a number of the graph', () => {
  test('says its unit, what it counts, or what it orders', () => {
    const unexplained: string[] = [];
    let numbers = 0;
    for (const type of Object.values(schema.getTypeMap())) {
      if (type.name.startsWith('__') || !(isObjectType(type) || isInterfaceType(type))) continue;
      for (const field of Object.values(type.getFields())) {
        if (!['Int', 'Float', 'Long'].includes(getNamedType(field.type).name)) continue;
        numbers += 1;
        const text = field.description ?? '';
        const said = [measured, counted, ordered].some((words) => words.test(text)) || text.startsWith('Always null');
        if (!said) unexplained.push(`${type.name}.${field.name}: ${text}`);
      }
    }
    expect(numbers).toBeGreaterThan(200);
    expect(unexplained).toEqual([]);
  });

  test('of a scalar with a unit of its own has it in the scalar’s description', () => {
    for (const [name, unit] of Object.entries({
      EpochMs: 'milliseconds',
      StrikeThousandths: 'thousandths of a dollar',
    }))
      expect(schema.getType(name)!.description).toMatch(new RegExp(unit, 'i'));
  });

  test('is introduced by the guide that readers of the documentation see first', () => {
    expect(schema.description).toContain('epoch milliseconds');
  });
});
