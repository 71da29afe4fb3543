import { isEnumType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';

const enums = Object.values(schema.getTypeMap())
  .filter((type) => isEnumType(type))
  .filter(({ name }) => !name.startsWith('__'));

/** Enums whose values name fields, and the type that has these. */
const fieldsOf: Record<string, string> = { ScreenFigure: 'ScreenRow' };

test.each(enums)('the values of $name are lower_snake_case, or spelled as the fields that they name', (type) => {
  const values = type.getValues().map(({ name }) => name);
  expect(values.length).toBeGreaterThan(0);
  const named = schema.getType(fieldsOf[type.name] ?? '');
  const isSpelled = (name: string) =>
    isObjectType(named) ? name in named.getFields() : /^[a-z0-9]+(_[a-z0-9]+)*$/.test(name);
  expect(values.filter((name) => !isSpelled(name))).toEqual([]);
});
