import type { ObjectRef } from '@pothos/core';
import { isId } from '../core/domain/account.ts';
import { readTicker } from '../core/domain/market/ticker.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import type { RequestContext } from '../resolvers/context.ts';
import { builder } from './builder.ts';
import { type Needs, needsOfGroup } from './field-options.ts';
import {
  contextOfIds,
  decodeId,
  encodeId,
  idDescription,
  idIn,
  type KeyReader,
  needsOfType,
  nodeSizes,
  nodeTypes,
  readNode,
  refetchedTypes,
} from './node-id.ts';

type Ref<T> = ObjectRef<typeof builder.$inferSchemaTypes, T>;
type Read = (context: RequestContext, key: string) => Promise<object | null> | object | null;

/**
 * Sets the scope group in which usage counts an object that is read by its id: that of the field that otherwise returns
 * it.
 */
function countIn<T extends object>(type: Ref<T>, scopeGroup: string): void {
  type.updateConfig((config) => ({ ...config, extensions: { ...config.extensions, scopeGroup } }));
}

/** The resolver of ids below `asOf`. Elsewhere they depend on the object alone, so that lists of them are quick. */
const inContext = <T extends object>(type: Ref<T>, key: (object: T) => string) => ({
  resolveBelowContext: (object: T, _args: object, context: RequestContext) => idIn(context, type.name, key(object)),
});

/** Gives the objects of a type a global `id`, made of `key`, by which `Query.node` reads them. */
export function node<T extends object>(
  type: Ref<T>,
  key: (object: T) => string,
  reader: KeyReader,
  scopeGroup = 'market.reference',
): void {
  countIn(type, scopeGroup);
  nodeTypes.set(type.name, reader);
  needsOfType.set(type.name, needsOfGroup[scopeGroup] ?? 'any');
  type.addInterfaces([builder.nodeInterfaceRef()]);
  // Not by `builder.nodeRef`, whose ids are promises.
  builder.objectField(type, 'id', (t) =>
    t.id({
      description: idDescription,
      resolve: (object) => encodeId(type.name, key(object as T)),
      extensions: inContext(type, key),
    }),
  );
}

/** Keys that are tickers. `points`: cost of reading the object. */
export function byTicker(read: Read, points = 0): KeyReader {
  return (key) => (readTicker(key) === key ? { points, read: (context) => read(context, key) } : null);
}

/** Maximum number of objects of one `nodes` field. */
const maxNodes = 100;

builder.queryField('nodes', (t) =>
  t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: true, items: true },
    description:
      'The objects with these ids, in the same order. An item is null if there is no such object, or if an error says why. For a nodeId use refetch.',
    args: {
      ids: t.arg.idList({ required: true, description: `Ids of objects, at most ${maxNodes}.` }),
    },
    scope: 'market.reference',
    price: {
      each: ({ node: points = 0 }) => points,
      rows: 'page',
      sizes: ({ ids }) => nodeSizes(nodeTypes, ids.slice(0, maxNodes)),
    },
    extensions: {
      contextBelow: (_value: never, { ids }: { ids: readonly string[] }, context: RequestContext) =>
        contextOfIds(context, ids, 'ids'),
    },
    resolve(_root, { ids }, context) {
      if (ids.length > maxNodes) throw invalidParameter('ids', `expected at most ${maxNodes} ids, got ${ids.length}`);
      return ids.map((id) => decodeId(nodeTypes, id, 'ids')).map((id) => readNode(nodeTypes, id, context));
    },
  }),
);

const RefetchableInterface = builder.interfaceRef<object>('Refetchable').implement({
  description: 'An object whose id is not global, such as an option contract or a watchlist. nodeId is its global id.',
  fields: (t) => ({
    nodeId: t.id({
      description: 'Global id, the same in every answer. Send it to refetch to read the object again.',
      resolve: () => {
        throw new TypeError('every type says what its global id is');
      },
    }),
  }),
});

/**
 * Gives the objects of a type, whose `id` is the contract's, a global `nodeId`, by which `Query.refetch` reads them.
 */
export function refetchable<T extends object>(
  type: Ref<T>,
  key: (object: T) => string,
  reader: KeyReader,
  scopeGroup: string,
  required: Needs = 'any',
): void {
  countIn(type, scopeGroup);
  refetchedTypes.set(type.name, reader);
  needsOfType.set(type.name, required);
  type.addInterfaces([RefetchableInterface]);
  builder.objectField(type, 'nodeId', (t) =>
    t.id({
      description: 'Global id, the same in every answer. Send it to refetch to read the object again.',
      resolve: (object) => encodeId(type.name, key(object as T)),
      extensions: inContext(type, key),
    }),
  );
}

/** Keys chosen by an account's owner. `points`: cost of reading the object. */
export function byOwnId(read: Read, points: number): KeyReader {
  return (key) => (isId(key) ? { points, read: (context) => read(context, key) } : null);
}

builder.queryField('refetch', (t) =>
  t.field({
    type: RefetchableInterface,
    nullable: true,
    description:
      'The object with this nodeId; null if there is none, or if it belongs to another account. Gives the same errors as the field that returned the nodeId.',
    args: { nodeId: t.arg.id({ required: true, description: 'The nodeId of an object.' }) },
    // Never shared between callers like market data, since the object may belong to an account.
    scope: 'account',
    price: {
      each: ({ node: points = 0 }) => points,
      sizes: ({ nodeId }) => nodeSizes(refetchedTypes, [nodeId]),
    },
    extensions: {
      contextBelow: (_value: never, { nodeId }: { nodeId: string }, context: RequestContext) =>
        contextOfIds(context, [nodeId], 'nodeId'),
    },
    resolve: (_root, { nodeId }, context) =>
      readNode(refetchedTypes, decodeId(refetchedTypes, nodeId, 'nodeId'), context),
  }),
);
