import { brandWithType } from '@pothos/core';
import { invalidParameter } from '../platform/wire/failure.ts';
import { contextAt } from '../resolvers/as-of.ts';
import type { Past, RequestContext } from '../resolvers/context.ts';
import type { Sizes } from './cost.ts';
import type { Needs } from './field-options.ts';

/** Look-up of the object of an id. */
export interface NodeLookup {
  /** Reads the object by the rules of the field that otherwise returns it; null = there is none. */
  read: (context: RequestContext) => Promise<object | null> | object | null;
  /** Points of reading it, equal to those of that field. 0 by default. */
  points?: number;
  /** Number of items in the lists of the object, if the id determines it. */
  sizes?: Sizes;
}

/** Reads the part of an id after its type; null for an invalid text. */
export type KeyReader = (key: string) => NodeLookup | null;

/** Types whose objects are found by id, by their name. */
export type NodeTypes = Map<string, KeyReader>;

/** Description of the field `id`. */
export const idDescription = 'Global id, the same in every answer. Send it to node to read the object again.';

/** Types that `Query.node` finds. Their objects depend on the caller only by its rights. */
export const nodeTypes: NodeTypes = new Map();
/** Types that `Query.refetch` finds. */
export const refetchedTypes: NodeTypes = new Map();

/** Requirements on callers that read an object by its id, by the name of its type. */
export const needsOfType = new Map<string, Needs>();

/** Upper bound of an id's length: the longest key is 128 characters of at most three bytes. */
const maxLength = 600;

/** Instants of a live object. */
const live: Past = { atMs: null, knownMs: null };

const instantsText = ({ atMs, knownMs }: Past) =>
  atMs === null && knownMs === null ? '' : `@${atMs ?? ''}${knownMs === null ? '' : `~${knownMs}`}`;

/**
 * A global id: the type's name, the instants of event time and knowledge as of which the object is unless it is live,
 * and the object's key within its type.
 */
export function encodeId(typename: string, key: string, past: Past | null = null): string {
  return Buffer.from(`${typename}${instantsText(past ?? live)}:${key}`).toString('base64url');
}

/** As `encodeId`, for an object in a context. */
export function idIn({ past }: Pick<RequestContext, 'past'>, typename: string, key: string): string {
  return encodeId(typename, key, past);
}

interface DecodedId {
  typename: string;
  key: string;
  past: Past;
}

const idText = /^(\w+)(?:@(\d{1,15})?(?:~(\d{1,15}))?)?:(.*)$/s;
const instantOf = (text: string | undefined) => (text === undefined ? null : Number(text));

function decoded(id: string): DecodedId | null {
  if (id.length > maxLength) return null;
  const [, typename, at, known, key] = idText.exec(Buffer.from(id, 'base64url').toString()) ?? [];
  if (typename === undefined || key === undefined) return null;
  const past = { atMs: instantOf(at), knownMs: instantOf(known) };
  // One object has one id: other spellings of its base64 are no ids.
  return encodeId(typename, key, past) === id ? { typename, key, past } : null;
}

/** The context of objects as of instants; the request's own for live ones. */
function contextOf(context: RequestContext, past: Past): RequestContext {
  return instantsText(past) === '' ? context : contextAt(context, past);
}

/** The context of objects that are read by their ids: as of the instants of the ids, which must be the same. */
export function contextOfIds(context: RequestContext, ids: readonly string[], parameter: string): RequestContext {
  const pasts = new Map(ids.map((id) => decoded(id)?.past ?? live).map((past) => [instantsText(past), past]));
  const [past = live, ...others] = pasts.values();
  if (others.length > 0) throw invalidParameter(parameter, 'expected ids of one instant');
  return contextOf(context, past);
}

/** The key of an object of a type, from its id; null for what is no such id. */
export function keyOfId(typename: string, id: string): string | null {
  const parts = decoded(id);
  return parts?.typename === typename ? parts.key : null;
}

function lookup(types: NodeTypes, id: string): { typename: string; found: NodeLookup } | null {
  const parts = decoded(id);
  const found = parts && types.get(parts.typename)?.(parts.key);
  return found ? { typename: parts.typename, found } : null;
}

/** Advice for an id that belongs to the other field. */
const otherField = new Map([
  [nodeTypes, { types: refetchedTypes, message: 'expected the id of an object, got a nodeId; send it to refetch' }],
  [refetchedTypes, { types: nodeTypes, message: 'expected the nodeId of an object, got an id; send it to node' }],
]);

/** An id, decoded. */
export interface NodeId {
  typename: string;
  id: string;
  /** The instants as of which the object is. */
  past: Past;
}

/** Decodes an id; 400 naming `parameter` for what is no id of one of the types. */
export function decodeId(types: NodeTypes, id: string, parameter: string): NodeId {
  const parts = decoded(id);
  if (parts && lookup(types, id)) return { typename: parts.typename, id: parts.key, past: parts.past };
  const other = otherField.get(types);
  throw invalidParameter(parameter, other && lookup(other.types, id) ? other.message : 'expected the id of an object');
}

/** Reads an object by its id; null = there is none. */
export async function readNode(
  types: NodeTypes,
  { typename, id, past }: NodeId,
  context: RequestContext,
): Promise<object | null> {
  const object = (await types.get(typename)?.(id)?.read(contextOf(context, past))) ?? null;
  brandWithType(object, typename as never);
  return object;
}

/** An object by its id, before it is read. */
export interface KnownById {
  key: string;
  /** True for market data, whose keys begin with the symbol. */
  isMarket: boolean;
  /** Requirements on callers that read it. */
  needs: Needs;
}

/** Reads an id without its object; null for any other text. */
export function knownById(id: string): KnownById | null {
  const isMarket = lookup(nodeTypes, id) !== null;
  const parts = isMarket || lookup(refetchedTypes, id) ? decoded(id) : null;
  return parts && { key: parts.key, isMarket, needs: needsOfType.get(parts.typename) ?? 'any' };
}

/** Sizes of the lists below objects that are read by id, and as `node` the points of reading them. */
export function nodeSizes(types: NodeTypes, ids: readonly string[]): { node: number; page: number } {
  const sizes: Record<string, number> = {};
  let node = 0;
  for (const id of ids) {
    const found = lookup(types, id)?.found;
    node += found?.points ?? 0;
    for (const [name, size] of Object.entries(found?.sizes ?? {})) sizes[name] = Math.max(size, sizes[name] ?? 0);
  }
  return { ...sizes, node, page: ids.length };
}
