import {
  type GraphQLField,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { costOf, listSizes } from '../../src/schema/cost.ts';
import { schema } from '../../src/schema/index.ts';

const fields: [string, GraphQLField<unknown, unknown>][] = Object.values(schema.getTypeMap()).flatMap((type) =>
  (isObjectType(type) || isInterfaceType(type)) && !isIntrospectionType(type)
    ? Object.values(type.getFields()).map((field): [string, typeof field] => [`${type.name}.${field.name}`, field])
    : [],
);
const isList = ({ type }: GraphQLField<unknown, unknown>) => isListType(isNonNullType(type) ? type.ofType : type);

test.each(fields.filter(([, field]) => isList(field)))(
  'the list %s says how many items it may have',
  (_name, field) => {
    const rows = costOf(field)?.rows;
    if (typeof rows === 'number') expect(rows).toBeGreaterThan(0);
    else expect(Object.keys(listSizes)).toContain(rows);
  },
);

/** What the caller is known by, or what only leads on, is read with nothing. */
const free = ['Query.me', 'Query.contract', 'Query.symbol', 'Query.node'];

test.each(fields.filter(([name, { extensions }]) => extensions.scopeGroup && !free.includes(name)))(
  '%s, which usage counts, says what it costs',
  (_name, field) => {
    const { once = 0, each = 0 } = costOf(field) ?? {};
    expect(typeof each === 'function' || once + each > 0).toBe(true);
  },
);
