import { type FieldNode, type GraphQLField, getArgumentValues } from 'graphql';
import { LRUCache } from 'lru-cache';
import { type AskingCaller, listSizes, type Sizes } from '../../schema/cost.ts';
import { anyHolds, type PlannedField } from './cost-plan.ts';

/**
 * Inputs that decide the size of a plan: the operation's coerced variables, the caller, and learned lengths of lists.
 */
export interface Asking {
  variables: Readonly<Record<string, unknown>>;
  caller: AskingCaller;
  learned: LearnedSizes;
  /** Arguments by the node that has them: a fragment's are read once, however often it is spread. */
  argumentsRead: Map<FieldNode, ReadArguments>;
}

/** Arguments of a field. */
interface ReadArguments {
  field: GraphQLField<unknown, unknown>;
  /** Null if one does not fit the schema, which the execution reports. */
  values: Record<string, unknown> | null;
  /** The values as JSON, as a path contains them; empty if there are none. */
  text: string;
}

/** A position in an answer: the lengths of its lists as far as arguments give them, and its path. */
export interface AnswerPosition {
  sizes: Sizes;
  /** Field names and arguments from the root; null if too long to remember. */
  path: string | null;
}

/** Position of an operation's root. */
export const root: AnswerPosition = { sizes: {}, path: '' };

const longestPath = 1000;

/** True if a field of a plan is included in the answer. */
export function isThere({ conditions }: PlannedField, { variables }: Asking): boolean {
  return conditions === null || anyHolds(conditions, variables);
}

const noArguments = { values: {}, text: '' };

function readArguments({ field, node }: PlannedField, variables: Asking['variables']): ReadArguments {
  try {
    const values = getArgumentValues(field, node, variables);
    return { field, values, text: JSON.stringify(values) };
  } catch {
    return { field, values: null, text: '' };
  }
}

/** Arguments of a field, read once. */
export function argumentsOf(planned: PlannedField, asking: Asking): Pick<ReadArguments, 'values' | 'text'> {
  const { field, node } = planned;
  if (field.args.length === 0) return noArguments;
  let read = asking.argumentsRead.get(node);
  // In a fragment on an interface, a field may differ by type.
  if (read?.field !== field) {
    read = readArguments(planned, asking.variables);
    asking.argumentsRead.set(node, read);
  }
  return read;
}

export function positionOf(planned: PlannedField, above: AnswerPosition, asking: Asking): AnswerPosition {
  const { cost, field, isCounted } = planned;
  // The cost of the other fields does not depend on their position.
  if (!isCounted) return above;
  const { values, text } = argumentsOf(planned, asking);
  const sizes =
    values && cost?.sizes
      ? { ...above.sizes, ...(cost.sizes(values as never, asking.caller, above.sizes) as Sizes) }
      : above.sizes;
  const path = above.path === null ? null : `${above.path}/${field.name}${text}`;
  return { sizes, path: path !== null && path.length > longestPath ? null : path };
}

/** Number of values of a field per parent. */
export function timesOf(planned: PlannedField, above: AnswerPosition, asking: Asking): number {
  const { cost } = planned;
  const values = cost?.times ? argumentsOf(planned, asking).values : null;
  return values === null ? 1 : cost!.times!(values as never, above.sizes);
}

/** Lengths of lists that no argument bounds, as they are charged. */
export const usualSizes: Sizes = listSizes;

/**
 * Number of items of a field's list, of the lengths in `open` if no argument decides it. `isAsked`: the arguments alone
 * decide it, not the state of the market.
 */
export function itemsOf(
  { cost }: PlannedField,
  { sizes }: AnswerPosition,
  open = usualSizes,
): { items: number; isAsked: boolean } {
  // A test finds lists of the schema that declare no length.
  const rows = cost?.rows ?? 'page';
  if (typeof rows === 'number') return { items: rows, isAsked: true };
  const asked = sizes[rows];
  return { items: asked ?? open[rows] ?? listSizes.page, isAsked: asked !== undefined };
}

/**
 * Work of a field as it was known at an instant, over that of the live one: no block and no figure that is cached for
 * others serves it.
 */
const knownFactor = 2;

/** Points of running a field for a number of parents and of list items. */
export function runPoints(
  planned: PlannedField,
  parents: number,
  items: number,
  { sizes }: AnswerPosition,
  open = usualSizes,
): number {
  const { once = 0, each = 0, item = 0 } = planned.cost ?? {};
  const own = typeof each === 'number' ? each : each({ ...open, ...sizes });
  const run = once + parents * (own + planned.lookup);
  return (sizes.known ? knownFactor * run : run) + items * item;
}

/** Maximum number of remembered lists, and for how long: a market's lists change slowly. */
const mostLists = 20_000;
const rememberedMs = 10 * 60_000;

/** Allowed growth of a list since it was seen: a quarter, or a few items. */
const growth = 1.25;
const fewItems = 5;

/** Lengths of lists in recent answers, by their path from the root with all arguments. */
interface LearnedSizes {
  /** Expected number of items of a list, at most `most`. */
  expected(path: string, most: number): number;
  /** Recent number of items of a list; undefined = none was seen. */
  seen(path: string): number | undefined;
  /** Records the number of items of a list; the average if its path leads to several lists. */
  learn(path: string, items: number): void;
}

/** Lengths learned from answers to callers of the same rights: those of others would tell what they may not read. */
export type LearnedByRights = (rights: string) => LearnedSizes;

/**
 * Remembers the lengths of lists that no argument bounds, so that a repeated operation is predicted by its last answer.
 */
export function learnedSizes(): LearnedByRights {
  const seen = new LRUCache<string, number>({ max: mostLists, ttl: rememberedMs });
  return (rights) => ({
    expected(path, most) {
      const items = seen.get(rights + path);
      return items === undefined ? most : Math.min(most, Math.ceil(items * growth) + fewItems);
    },
    seen: (path) => seen.get(rights + path),
    learn(path, items) {
      if (items > (seen.get(rights + path) ?? -1)) seen.set(rights + path, items);
    },
  });
}
