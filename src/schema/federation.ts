import { getTypeBrand } from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import FederationPlugin from '@pothos/plugin-federation';
import { type GraphQLObjectType, type GraphQLSchema, type GraphQLUnionType, getNamedType } from 'graphql';
import { contractId, parseOptionContract } from '../core/domain/chain/option-contract.ts';
import { parseTicker } from '../core/domain/market/ticker.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import { shownValue } from '../platform/wire/printed-value.ts';
import type { RequestContext } from '../resolvers/context.ts';
import { WatchlistType } from './account/watchlists.ts';
import { builder } from './builder.ts';
import { OptionContractType } from './chain/contract.ts';
import type { FieldCost } from './cost.ts';
import { schema } from './index.ts';
import { SymbolType } from './market/symbol.ts';
import { encodeId, type NodeId, type NodeTypes, nodeTypes, readNode, refetchedTypes } from './node-id.ts';

/** The types that other subgraphs may refer to. A key is read as the argument of the field of `Query`. */
const entities = [
  { type: SymbolType, key: builder.selection<{ symbol: string }>('symbol'), read: (text: string) => parseTicker(text) },
  {
    type: OptionContractType,
    key: builder.selection<{ id: string }>('id'),
    read: (text: string) => contractId(parseOptionContract(text)),
  },
  { type: WatchlistType, key: builder.selection<{ id: string }>('id'), read: (text: string) => text },
];

const names = entities.map(({ type }) => type.name).join(', ');
const types: NodeTypes = new Map(
  entities.map(({ type: { name } }) => [name, (nodeTypes.get(name) ?? refetchedTypes.get(name))!]),
);

/** Maximum number of representations of a field: a router sends all items of a page at once. */
const maxRepresentations = 1000;

const invalid = (message: string) => invalidParameter('representations', message);

interface Arguments {
  representations: readonly unknown[];
}

/** The object that a representation stands for. Throws 400 for one that stands for none. */
function entityOf(representation: unknown): NodeId & { points: number } {
  const sent = Object(representation) as Record<string, unknown>;
  const entity = entities.find(({ type }) => type.name === sent.__typename);
  if (!entity) throw invalid(`expected a __typename of ${names}, got ${shownValue(sent.__typename)}`);
  const { type, key, read } = entity;
  const value = sent[key.selection];
  if (typeof value !== 'string')
    throw invalid(`expected ${key.selection} of ${type.name} to be a string, got ${shownValue(value)}`);
  const id = read(value);
  const found = types.get(type.name)!(id);
  if (!found) throw invalid(`expected the ${key.selection} of a ${type.name}, got ${shownValue(value)}`);
  return { typename: type.name, id, past: { atMs: null, knownMs: null }, points: found.points ?? 0 };
}

/** Objects of representations that were read: weighing reads those of a request too. */
const known = new WeakMap<object, ReturnType<typeof entityOf>[]>();

/** The objects of representations. Throws 400 for the first that stands for none, and for too many. */
function entitiesOf({ representations }: Arguments) {
  if (representations.length > maxRepresentations)
    throw invalid(`expected at most ${maxRepresentations}, got ${representations.length}`);
  const found = known.get(representations) ?? representations.map(entityOf);
  known.set(representations, found);
  return found;
}

/** The objects of representations; none if they are refused. */
function entitiesIn(args: Arguments) {
  try {
    return entitiesOf(args);
  } catch {
    return [];
  }
}

/** `Query._entities`: reads objects by the rules and at the cost of their global ids. */
const entitiesField = {
  description: `The objects that other subgraphs refer to, at most ${maxRepresentations}, in the order of their representations. An item is null if there is no such object, or if an error says why.`,
  // Never shared between callers like market data, since an object may belong to an account.
  extensions: {
    scopeGroup: 'account',
    idsOf: (args: Arguments) => entitiesIn(args).map(({ typename, id }) => encodeId(typename, id)),
    cost: {
      each: ({ node = 0 }) => node,
      item: 0.01,
      rows: 'page',
      sizes: (args) => {
        const found = entitiesIn(args);
        return { node: found.reduce((sum, { points }) => sum + points, 0), page: found.length };
      },
    } satisfies FieldCost<Arguments>,
  },
  resolve: (_root: unknown, args: Arguments, context: RequestContext) =>
    entitiesOf(args).map((entity) => readNode(types, entity, context)),
};

/** The graph as a subgraph of Apollo Federation. */
function subgraph(): GraphQLSchema {
  // Plugins take part in what is built from now on: the graph itself stays as it is.
  builder.options.plugins?.push(DirectivesPlugin, FederationPlugin);
  // Representations are resolved below.
  for (const { type, key } of entities) builder.asEntity(type, { key, resolveReference: () => null as never });
  const made = builder.toSubGraphSchema({});
  const { _entities, _service } = made.getQueryType()!.getFields();
  Object.assign(_entities!, entitiesField);
  (getNamedType(_entities!.type) as GraphQLUnionType).resolveType = (object) => getTypeBrand(object) as string;
  const { sdl } = (_service!.resolve as () => { sdl: string })();
  (getNamedType(_service!.type) as GraphQLObjectType).getFields().sdl!.extensions = { cost: { bytes: sdl.length } };
  made.description = schema.description;
  return made;
}

/** The graph with `_service` and `_entities`, by which a router of Apollo Federation joins it with other subgraphs. */
export const federatedSchema = subgraph();
