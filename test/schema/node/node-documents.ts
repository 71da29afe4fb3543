// Documents that ask for every object of the graph that has an id.
import {
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { schema } from '../../../src/schema/index.ts';
import type { Json } from '../../support/app.ts';

function typesOf(name: string): readonly GraphQLObjectType[] {
  const type = schema.getType(name);
  if (!isInterfaceType(type)) throw new Error(`${name} is no interface`);
  return schema.getPossibleTypes(type);
}

/** Types with a global `id`, and those with a `nodeId` beside the contract's id. */
export const nodeTypes = typesOf('Node');
export const refetchableTypes = typesOf('Refetchable');
const ofOwnIdentity = new Set([...nodeTypes, ...refetchableTypes].map(({ name }) => name));

/** Everything that a type says of itself: its plain values, and those of objects that are part of it. */
function ownFields(type: GraphQLObjectType): string {
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const named = getNamedType(field.type);
    if (field.args.some(isRequiredArgument) || typeof field.extensions.scopeGroup === 'string') return [];
    if (isLeafType(named)) return [field.name];
    return isObjectType(named) && !ofOwnIdentity.has(named.name) ? [`${field.name} { ${ownFields(named)} }`] : [];
  });
  return ['__typename', ...fields].join(' ');
}

/** The fragment `Own_…` of a type: what it says of itself. */
export function ownFragment(name: string): string {
  return `fragment Own_${name} on ${name} { ${ownFields(schema.getType(name) as GraphQLObjectType)} }`;
}

/** Documents that read an object of a type by `$id`. */
export const nodeQuery = (type: string) => `query ($id: ID!) { node(id: $id) { ...Own_${type} } } ${ownFragment(type)}`;
export const refetchQuery = (type: string) =>
  `query ($id: ID!) { refetch(nodeId: $id) { ...Own_${type} } } ${ownFragment(type)}`;

/** A way to an object of each type of `Node` below a symbol. `path` leads to it in the answer. */
export const symbolPaths: readonly {
  name: string;
  type: string;
  selection: string;
  path: readonly (string | number)[];
}[] = [
  { name: 'the symbol', type: 'Symbol', selection: '', path: [] },
  { name: 'access', type: 'SymbolAccess', selection: 'access', path: ['access'] },
  { name: 'chainPolicy', type: 'ChainPolicy', selection: 'chainPolicy', path: ['chainPolicy'] },
  { name: 'quote', type: 'Quote', selection: 'quote', path: ['quote'] },
  { name: 'spot', type: 'Spot', selection: 'spot', path: ['spot'] },
  { name: 'gex', type: 'SymbolGex', selection: 'gex', path: ['gex'] },
  { name: 'gex.latest', type: 'GexCapture', selection: 'gex.latest', path: ['gex', 'latest'] },
  {
    name: 'gex.latest of 3 strikes',
    type: 'GexCapture',
    selection: 'gex.latest(topStrikes: 3)',
    path: ['gex', 'latest'],
  },
  {
    name: 'gex.latest by expiry',
    type: 'GexCapture',
    selection: 'gex.latest(byExpiry: true)',
    path: ['gex', 'latest'],
  },
  { name: 'gex.at', type: 'GexCapture', selection: 'gex.at(time: "2026-11-30")', path: ['gex', 'at'] },
  {
    name: 'gex.history',
    type: 'GexCapture',
    selection: 'gex.history(date: "2026-11-27", top: 5).captures',
    path: ['gex', 'history', 'captures', 0],
  },
  { name: 'flow', type: 'SymbolFlow', selection: 'flow', path: ['flow'] },
  {
    name: 'a large trade',
    type: 'FlowEvent',
    selection: 'flow.largeTrades(limit: 1).events.update.event',
    path: ['flow', 'largeTrades', 'events', 0, 'update', 'event'],
  },
  { name: 'volatility', type: 'SymbolVolatility', selection: 'volatility', path: ['volatility'] },
  { name: 'volatility.term', type: 'VolatilityTerm', selection: 'volatility.term', path: ['volatility', 'term'] },
  {
    name: 'volatility.surface',
    type: 'VolatilitySurface',
    selection: 'volatility.surface',
    path: ['volatility', 'surface'],
  },
  { name: 'offExchange', type: 'SymbolOffExchange', selection: 'offExchange', path: ['offExchange'] },
];

/** The document that asks a symbol for the object of a path. */
export function pathQuery({ type, selection }: (typeof symbolPaths)[number], symbol: string): string {
  const steps = selection === '' ? [] : selection.split('.');
  const own = steps.reduceRight((below, step) => `${step} { ${below} }`, `...Own_${type}`);
  return `{ symbol(symbol: "${symbol}") { ${own} } } ${ownFragment(type)}`;
}

/** The object at a path of a symbol's answer; null where the path ends before. */
export function objectAt(data: Json, path: readonly (string | number)[]): Json {
  return path.reduce((value: Json, step) => value?.[step] ?? null, data?.symbol ?? null);
}
