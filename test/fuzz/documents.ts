import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { encodeId } from '../../src/schema/node-id.ts';
import type { Grammar } from './request.ts';
import { hostileJson, plausible } from './values.ts';

/** A GraphQL document with the variables that it declares. */
export interface FuzzDocument {
  text: string;
  variables: Record<string, unknown>;
  operation: 'query' | 'mutation' | 'subscription';
  operationNames: string[];
}

/** A document that is being written. */
interface Draft extends Grammar {
  schema: GraphQLSchema;
  /** Fields it may still have. */
  budget: number;
  variables: Map<string, { type: string; value: unknown }>;
  fragments: string[];
}

/** Kind of value that each scalar of the schema takes. */
const meanings: Readonly<Record<string, string>> = {
  Ticker: 'ticker',
  SessionDate: 'date',
  PointInTime: 'time',
  ClockTime: 'clock',
  TimeZone: 'zone',
  OptionContractId: 'contract',
  Instrument: 'contract',
  EpochMs: 'epoch',
};

/** Types whose key is a ticker. */
const bySymbol = [
  'Symbol',
  'SymbolGex',
  'SymbolFlow',
  'SymbolVolatility',
  'SymbolOffExchange',
  'SymbolAccess',
] as const;
const pricesBySymbol = ['Quote', 'Spot', 'VolatilityTerm', 'VolatilitySurface'] as const;

/** A global id as the graph gives it, or nearly. */
function globalId({ random, today }: Pick<Grammar, 'random' | 'today'>): string {
  const ticker = plausible(random, 'ticker', today);
  const contract = plausible(random, 'contract', today);
  const instant = plausible(random, 'epoch', today);
  const [type, key] = random.pick([
    [random.pick([...bySymbol, ...pricesBySymbol]), ticker],
    ['GexCapture', `${ticker}:${instant}:${random.pick(['net', 'expiry'])}:${random.pick(['all', '3', '0'])}`],
    ['FlowEvent', `${random.pick(['sweep', 'single_block'])}:${contract}:${instant}:${random.below(2000)}`],
    ['OptionContract', contract],
    [random.pick(['Watchlist', 'JournalTrade', 'JournalAccount', 'ApiKey', 'Query']), plausible(random, 'text', today)],
  ] as const);
  const id = encodeId(type, key);
  return random.once(10) ? id.slice(0, -1 - random.below(4)) : id;
}

function scalarValue({ random, today }: Grammar, type: string): unknown {
  if (type === 'Int') return random.pick([0, 1, 2, 5, 20, 500, 100_000, -1, 2_147_483_647]);
  if (type === 'Float') return random.pick([0, 0.5, 1, 250_000, 1e12, -1]);
  if (type === 'Boolean') return random.once(2);
  if (type === 'EpochMs') return Number(plausible(random, 'epoch', today));
  if (type === 'Long' || type === 'StrikeThousandths') return random.pick([0, 1, 590_000, 610_000, 2 ** 53]);
  if (type === 'Timeframe') return random.pick(['1s', '1m', '5m', '1h', '1d']);
  if (type === 'OptionTimeframe') return random.pick(['1m', '5m']);
  if (type === 'ID' && random.once(2)) return globalId({ random, today });
  return plausible(random, meanings[type] ?? 'text', today);
}

/** Maximum depth of an input object in itself. */
const deepest = 4;

/** A value of an input type as JSON; anything at all now and then. */
function inputValue(draft: Draft, type: GraphQLInputType, depth = 0): unknown {
  const { random } = draft;
  if (random.once(14)) return hostileJson(random, 2);
  if (isNonNullType(type)) return inputValue(draft, type.ofType, depth);
  if (random.once(20) || depth > deepest) return null;
  if (isListType(type))
    return Array.from({ length: random.below(random.once(30) ? 200 : 4) }, () =>
      inputValue(draft, type.ofType, depth + 1),
    );
  if (isEnumType(type)) return random.pick(type.getValues()).name;
  if (isInputObjectType(type))
    return Object.fromEntries(
      Object.values(type.getFields())
        .filter((field) => isNonNullType(field.type) || random.once(2))
        .map((field) => [field.name, inputValue(draft, field.type, depth + 1)]),
    );
  return scalarValue(draft, type.name);
}

/** A JSON value as the language writes it; a text of an enum's type without quotes. */
function literal(value: unknown, isEnum: boolean): string {
  if (typeof value === 'string') return isEnum && /^\w+$/.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, isEnum)).join(', ')}]`;
  if (value !== null && typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, each]) => `${name}: ${literal(each, isEnum)}`)
      .join(', ')}}`;
  return String(JSON.stringify(value));
}

function argumentText(draft: Draft, argument: GraphQLArgument): string {
  const value = inputValue(draft, argument.type);
  if (!draft.random.once(2) && !draft.random.once(3))
    return `${argument.name}: ${literal(value, isEnumType(getNamedType(argument.type)))}`;
  const name = `v${draft.variables.size}`;
  // Now and then declared as another type than the argument's.
  draft.variables.set(name, {
    type: draft.random.once(30) ? draft.random.pick(['Int', '[Ticker!]', 'None']) : String(argument.type),
    value,
  });
  return `${argument.name}: $${name}`;
}

function directiveText(draft: Draft): string {
  const { random } = draft;
  if (!random.once(25)) return '';
  return random.pick([
    ' @include(if: true)',
    ' @skip(if: false)',
    ' @skip(if: true)',
    ' @include(if: true) @include(if: true)',
    ' @none',
    ' @include(if: "x")',
    ' @include',
  ]);
}

function fieldText(draft: Draft, field: GraphQLField<unknown, unknown>, depth: number): string {
  const { random } = draft;
  draft.budget -= 1;
  const alias = random.once(8) ? `a${random.below(4)}: ` : '';
  const given = field.args.filter((argument) =>
    isNonNullType(argument.type) && argument.defaultValue === undefined ? !random.once(40) : random.once(3),
  );
  const args = given.length > 0 ? `(${given.map((argument) => argumentText(draft, argument)).join(', ')})` : '';
  const type = getNamedType(field.type);
  const below = isCompositeType(type) ? ` ${selectionText(draft, type, depth + 1)}` : '';
  return `${alias}${field.name}${args}${directiveText(draft)}${below}`;
}

/**
 * Fields that can be chosen in a type; those with fields of their own no longer where the document is deep or long
 * enough.
 */
function choices(draft: Draft, type: GraphQLNamedType, depth: number): GraphQLField<unknown, unknown>[] {
  if (isUnionType(type) || !(isObjectType(type) || isInterfaceType(type))) return [];
  const fields = Object.values(type.getFields());
  const leaves = fields.filter((field) => !isCompositeType(getNamedType(field.type)));
  return draft.budget <= 0 || depth > 7 ? leaves : fields;
}

function selectionText(draft: Draft, type: GraphQLNamedType, depth: number): string {
  const { random, schema } = draft;
  const fields = choices(draft, type, depth);
  const texts = Array.from({ length: fields.length > 0 ? 1 + random.below(4) : 0 }, () =>
    fieldText(draft, random.pick(fields), depth),
  );
  if (isUnionType(type) || isInterfaceType(type)) {
    const possible = random.pick(schema.getPossibleTypes(type) as GraphQLObjectType[]);
    if (depth < 9) texts.push(`... on ${possible.name} ${selectionText(draft, possible, depth + 1)}`);
  }
  if (texts.length === 0 || random.once(10)) texts.push('__typename');
  const selection = `{ ${texts.join(' ')} }`;
  if (!random.once(12)) return selection;
  if (random.once(2)) return `{ ... on ${type.name} ${selection} }`;
  const name = `F${draft.fragments.length}`;
  draft.fragments.push(`fragment ${name} on ${type.name} ${selection}`);
  return `{ ${`...${name} `.repeat(1 + random.below(2))}}`;
}

function rootType(schema: GraphQLSchema, operation: FuzzDocument['operation']): GraphQLObjectType {
  return {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  }[operation]!;
}

/** A random document that fits the schema, or nearly: some of its values and variables are wrong on purpose. */
export function randomDocument(
  grammar: Grammar,
  schema: GraphQLSchema,
  operation: FuzzDocument['operation'],
): FuzzDocument {
  const { random } = grammar;
  const draft: Draft = { ...grammar, schema, budget: random.pick([4, 12, 40]), variables: new Map(), fragments: [] };
  const root = rootType(schema, operation);
  const fields = Object.values(root.getFields());
  const count = operation === 'subscription' ? (random.once(20) ? 2 : 1) : 1 + random.below(2);
  const selection = Array.from({ length: count }, () => fieldText(draft, random.pick(fields), 1)).join(' ');
  const declared = [...draft.variables].map(([name, { type }]) => `$${name}: ${type}`).join(', ');
  const text = [
    `${operation} Q${declared === '' ? '' : `(${declared})`} { ${selection} }`,
    ...draft.fragments,
    ...(random.once(25) ? ['query Other { me { tier } }'] : []),
  ].join('\n');
  const sent = [...draft.variables].filter(() => !random.once(30));
  return {
    text,
    operation,
    variables: Object.fromEntries(sent.map(([name, { value }]) => [name, value])),
    operationNames: text.includes('query Other') ? ['Q', 'Other', 'None'] : ['Q'],
  };
}

/** A document about one symbol alone: a selection below `symbol`, or its id, without those fields that describe it. */
export function symbolDocument(grammar: Grammar, schema: GraphQLSchema, symbol: string): string {
  const draft: Draft = { ...grammar, schema, budget: 8, variables: new Map(), fragments: [] };
  const type = schema.getType('Symbol') as GraphQLObjectType;
  const costly = Object.values(type.getFields()).filter(({ name }) => marketFields.has(name));
  const fields = Array.from({ length: 1 + grammar.random.below(3) }, () =>
    fieldText(draft, grammar.random.pick(costly), 2),
  );
  const declared = [...draft.variables].map(([name, { type: declaredType }]) => `$${name}: ${declaredType}`).join(', ');
  const [field, on] = grammar.random.once(3)
    ? [`node(id: "${encodeId('Symbol', symbol)}")`, '... on Symbol']
    : [`symbol(symbol: "${symbol}")`, '...'];
  const prices = grammar.random.pick(pricesBySymbol);
  const price = `p: node(id: "${encodeId(prices, symbol)}") { ... on ${prices} { spot${prices === 'Spot' ? ': price' : ''} } }`;
  const more = grammar.random.once(4) ? price : '';
  return `query${declared === '' ? '' : `(${declared})`} { ${field} { ${on} { ${fields.join(' ')} } } ${more} }\n${draft.fragments.join('\n')}`;
}

/** Fields of a symbol that hold market data, which its tier and the declaration decide over. */
const marketFields = new Set(['spot', 'bars', 'gex', 'chain', 'flow', 'offExchange', 'volatility', 'strikes', 'asOf']);
