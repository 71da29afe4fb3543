import { isEnumType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';

const enums = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type) && !type.name.startsWith('__'));

test.each(enums)('the values of $name are lower_snake_case', (type) => {
  const values = isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
  expect(values.length).toBeGreaterThan(0);
  expect(values.filter((name) => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name))).toEqual([]);
});
