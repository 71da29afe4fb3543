import { getArgumentValues } from 'graphql';
import { type AskingCaller, listSizes, type Sizes } from '../../schema/cost.ts';
import { anyHolds } from './conditions.ts';
import type { LearnedSizes } from './learned-sizes.ts';
import type { PlannedField } from './plan.ts';

/** What decides how much of a plan there is: the operation's variables, coerced, who asks, and what is known of lists. */
export interface Asking {
  variables: Readonly<Record<string, unknown>>;
  caller: AskingCaller;
  learned: LearnedSizes;
}

/** A place in an answer: how long its lists are as far as arguments say, and by which path it was reached. */
export interface Place {
  sizes: Sizes;
  /** Field names and arguments from the root; null where they are too long to remember. */
  path: string | null;
}

/** Where an operation begins. */
export const root: Place = { sizes: {}, path: '' };

const longestPath = 1000;

/** Whether a field of a plan is in the answer. */
export function isThere({ conditions }: PlannedField, { variables }: Asking): boolean {
  return conditions === null || anyHolds(conditions, variables);
}

const noArguments: Record<string, unknown> = {};

/** A field's arguments; null when one is not what the schema says, which the execution reports. */
function argumentsOf({ field, node }: PlannedField, { variables }: Asking): Record<string, unknown> | null {
  if (field.args.length === 0) return noArguments;
  try {
    return getArgumentValues(field, node, variables);
  } catch {
    return null;
  }
}

/** The place of a field, below another. */
export function placeOf(planned: PlannedField, above: Place, asking: Asking): Place {
  const { cost, field, isCounted } = planned;
  // Nothing at a field of the rest depends on where it is.
  if (!isCounted) return above;
  const args = argumentsOf(planned, asking);
  const sizes =
    args && cost?.sizes
      ? { ...above.sizes, ...(cost.sizes(args as never, asking.caller, above.sizes) as Sizes) }
      : above.sizes;
  const path =
    above.path === null
      ? null
      : `${above.path}/${field.name}${args && args !== noArguments ? JSON.stringify(args) : ''}`;
  return { sizes, path: path !== null && path.length > longestPath ? null : path };
}

/** How often a field is answered for each parent. */
export function timesOf(planned: PlannedField, above: Place, asking: Asking): number {
  const { cost } = planned;
  const args = cost?.times ? argumentsOf(planned, asking) : null;
  return args === null ? 1 : cost!.times!(args as never, above.sizes);
}

const usualSizes: Sizes = listSizes;

/** Items that a field's list has at most; `isAsked`: nothing but the question decides that, and what is known of the market does not. */
export function itemsOf({ cost }: PlannedField, { sizes }: Place): { items: number; isAsked: boolean } {
  // A test finds lists of the schema that do not say what they are.
  const rows = cost?.rows ?? 'page';
  if (typeof rows === 'number') return { items: rows, isAsked: true };
  const asked = sizes[rows];
  return { items: asked ?? usualSizes[rows] ?? listSizes.page, isAsked: asked !== undefined };
}

/** Points of running a field for so many parents, and of so many items of its list. */
export function runPoints({ cost }: PlannedField, parents: number, items: number, { sizes }: Place): number {
  if (!cost) return 0;
  const { once = 0, each = 0, item = 0 } = cost;
  return once + parents * (typeof each === 'number' ? each : each({ ...usualSizes, ...sizes })) + items * item;
}
