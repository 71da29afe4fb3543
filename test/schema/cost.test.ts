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

/** Fields that read nothing: those of the caller's identity, and those that only lead on. */
const free = ['AsOf.contract', 'AsOf.symbol', 'Query.me', 'Query.contract', 'Query.symbol', 'Query.node'];

test.each(fields.filter(([name, { extensions }]) => extensions.scopeGroup && !free.includes(name)))(
  '%s, which usage counts, says what it costs',
  (_name, field) => {
    const { once = 0, each = 0 } = costOf(field) ?? {};
    expect(typeof each === 'function' || once + each > 0).toBe(true);
  },
);

test('no field below the root is an async function: a promise for each item of a list costs more than its value', () => {
  const isBelow = (name: string) => !/^(Query|Mutation|Subscription)\./.test(name);
  const found = fields.filter(([name, { resolve }]) => isBelow(name) && resolve?.constructor.name === 'AsyncFunction');
  // The interface's own, which its types replace.
  expect(found.map(([name]) => name)).toEqual(['Node.id']);
});

/** Fields whose look-up is in memory: in the registry, the caller, or what the document has read already. */
const lookupsInMemory = [
  ...['Chain.age', 'GexCapture.age', 'GexExposures.age', 'GexFigures.age', 'GexGrid.age', 'GexInputs.age'],
  ...['GexReference.age', 'QuoteTime.age'],
  ...['AccountUsage.meta', 'AsOf.contract', 'AsOf.symbol', 'Greeks.meta', 'JournalTrade.symbol', 'JournalTrade.ticker'],
  ...['Me.flow', 'Me.meta', 'Me.offExchange'],
  ...['Node.id', 'OptionContract.multiplier', 'OptionContract.settlement', 'OptionContract.style'],
  ...['OptionContract.underlying', 'Query.contract', 'Query.me', 'Query.meta', 'Query.symbol', 'Symbol.access'],
  ...['Symbol.chainPolicy', 'Symbol.class', 'Symbol.minTier', 'Symbol.name', 'Symbol.registered'],
  ...['Symbol.requiresAttestation', 'Symbol.sector'],
];

test('a field that looks something up says what that costs, unless it is in memory', () => {
  const isRead = (name: string) => !/^(Mutation|Subscription)\./.test(name);
  const isFree = (field: { extensions: object }) => Object.keys(costOf(field) ?? {}).length === 0;
  const found = fields.filter(([name, field]) => isRead(name) && isFree(field) && (field.resolve?.length ?? 0) > 1);
  expect(found.map(([name]) => name).sort()).toEqual(lookupsInMemory.toSorted());
});
