import { type FieldNode, type GraphQLField, getArgumentValues } from 'graphql';
import { type AskingCaller, listSizes, type Sizes } from '../../schema/cost.ts';
import { anyHolds } from './conditions.ts';
import type { PlannedField } from './cost-plan.ts';
import type { LearnedSizes } from './learned-sizes.ts';

/**
 * Facts that decide the size of a plan: the operation's variables, coerced, who asks, and what is known of lists.
 */
export interface Asking {
  variables: Readonly<Record<string, unknown>>;
  caller: AskingCaller;
  learned: LearnedSizes;
  /** Arguments by where they are written: a fragment's are read once, however many fields it is spread in. */
  argumentsRead: Map<FieldNode, ReadArguments>;
}

/** Arguments as a field has them. */
interface ReadArguments {
  field: GraphQLField<unknown, unknown>;
  /** Null when one is not what the schema says, which the execution reports. */
  values: Record<string, unknown> | null;
  /** The values as JSON, as a path has them; empty where there are none. */
  text: string;
}

/** A position in an answer: how long its lists are as far as arguments say, and by which path it was reached. */
export interface AnswerPosition {
  sizes: Sizes;
  /** Field names and arguments from the root; null where they are too long to remember. */
  path: string | null;
}

/** Where an operation begins. */
export const root: AnswerPosition = { sizes: {}, path: '' };

const longestPath = 1000;

/** True if a field of a plan is in the answer. */
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

function argumentsOf(planned: PlannedField, asking: Asking): Pick<ReadArguments, 'values' | 'text'> {
  const { field, node } = planned;
  if (field.args.length === 0) return noArguments;
  let read = asking.argumentsRead.get(node);
  // In a fragment on an interface one field may be another for each type.
  if (read?.field !== field) {
    read = readArguments(planned, asking.variables);
    asking.argumentsRead.set(node, read);
  }
  return read;
}

/** The position of a field, below another. */
export function positionOf(planned: PlannedField, above: AnswerPosition, asking: Asking): AnswerPosition {
  const { cost, field, isCounted } = planned;
  // Nothing at a field of the rest depends on where it is.
  if (!isCounted) return above;
  const { values, text } = argumentsOf(planned, asking);
  const sizes =
    values && cost?.sizes
      ? { ...above.sizes, ...(cost.sizes(values as never, asking.caller, above.sizes) as Sizes) }
      : above.sizes;
  const path = above.path === null ? null : `${above.path}/${field.name}${text}`;
  return { sizes, path: path !== null && path.length > longestPath ? null : path };
}

/** Number of answers of a field for each parent. */
export function timesOf(planned: PlannedField, above: AnswerPosition, asking: Asking): number {
  const { cost } = planned;
  const values = cost?.times ? argumentsOf(planned, asking).values : null;
  return values === null ? 1 : cost!.times!(values as never, above.sizes);
}

const usualSizes: Sizes = listSizes;

/**
 * Items that a field's list has at most; `isAsked`: nothing but the question decides that, and what is known of the
 * market does not.
 */
export function itemsOf({ cost }: PlannedField, { sizes }: AnswerPosition): { items: number; isAsked: boolean } {
  // A test finds lists of the schema that do not say what they are.
  const rows = cost?.rows ?? 'page';
  if (typeof rows === 'number') return { items: rows, isAsked: true };
  const asked = sizes[rows];
  return { items: asked ?? usualSizes[rows] ?? listSizes.page, isAsked: asked !== undefined };
}

/** Points of running a field for a number of parents, and for a number of items of its list. */
export function runPoints(planned: PlannedField, parents: number, items: number, { sizes }: AnswerPosition): number {
  const { once = 0, each = 0, item = 0 } = planned.cost ?? {};
  const own = typeof each === 'number' ? each : each({ ...usualSizes, ...sizes });
  return once + parents * (own + planned.lookup) + items * item;
}
