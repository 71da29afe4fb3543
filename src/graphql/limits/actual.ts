import { type Position, type Tallies, WrittenData } from '../execution/leaf-tally.ts';
import type { PlannedField, PlannedFields } from './cost-plan.ts';
import { type AnswerPosition, type Asking, isThere, itemsOf, positionOf, root, runPoints } from './planned-cost.ts';
import { nothing, type Weight } from './weight.ts';

/** Counts of the values at a field of several objects. */
interface Looked {
  /** Number of values that are not null; for lists, of their items. */
  count: number;
  /** Number of items of its lists. */
  items: number;
  /** Characters of its strings. */
  bytes: number;
  below: Values;
}

/** The objects of an answer at one position. */
interface Values {
  look(field: PlannedField): Looked;
}

/** An answer's content at one position. */
interface Found {
  count: number;
  /** Null = they were not visited. */
  values: Values | null;
}

/** Counts made while an answer was written, from a position down. */
function valuesAt(position: Position, tallies: Tallies): Values {
  return {
    look({ key }) {
      const below = position.at(key);
      const { items, count, characters } = tallies.at(below);
      return { items, count, bytes: characters, below: valuesAt(below, tallies) };
    },
  };
}

/** The data of an answer; null if there is none. */
const valuesOf = (data: unknown): Values | null =>
  data instanceof WrittenData ? valuesAt(data.root, data.tallies) : null;

/** True if the fields below must be visited: there are lists, or fields with a cost. */
function needsLook({ below }: PlannedField): boolean {
  return below.fields.some((field) => field.isCounted);
}

/**
 * Actual mean length of the lists that a field reads and that are in the answer; the predicted length of the others.
 */
function sizesRead({ below }: PlannedField, values: Values, parents: number): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const field of below.fields) {
    if (!field.isCounted) continue;
    const found = values.look(field);
    if (!field.isList) Object.assign(sizes, sizesRead(field, found.below, parents));
    else if (typeof field.cost?.rows === 'string') sizes[field.cost.rows] = found.items / parents;
  }
  return sizes;
}

/** The position of a field with the actual length of its lists, if its cost depends on that. */
function asRead(
  planned: PlannedField,
  parents: number,
  found: Looked | null,
  position: AnswerPosition,
): AnswerPosition {
  if (typeof planned.cost?.each !== 'function' || !found) return position;
  return { ...position, sizes: { ...position.sizes, ...sizesRead(planned, found.below, parents) } };
}

/** Remembers the length of a list that no argument bounds. */
function learn(
  planned: PlannedField,
  { items, parents }: { items: number; parents: number },
  position: AnswerPosition,
  asking: Asking,
) {
  if (planned.isList && position.path !== null && !itemsOf(planned, position).isAsked)
    asking.learned.learn(position.path, items / parents);
}

/**
 * Actual weight of an answer, by the plan that predicted it: lists count with their actual length, and nothing is below
 * a null. Rows whose fields have no cost of their own are counted without visiting them.
 */
export function actual(operation: PlannedFields, data: unknown, asking: Asking): Weight {
  const sum: Weight = { ...nothing };

  function add(planned: PlannedField, parents: Found, above: AnswerPosition): void {
    if (parents.count === 0 || !isThere(planned, asking)) return;
    const { cost, isList, isCounted } = planned;
    const position = positionOf(planned, above, asking);
    const found = isCounted && parents.values ? parents.values.look(planned) : null;
    const items = found?.items ?? 0;
    const values = found?.count ?? parents.count;
    if (found) learn(planned, { items, parents: parents.count }, position, asking);
    sum.points += runPoints(planned, parents.count, items, asRead(planned, parents.count, found, position));
    sum.leaves += parents.count + items;
    sum.rows += items;
    const bytes = cost?.isWritten && found ? found.bytes : values * planned.bytes;
    sum.bytes += parents.count * planned.keyBytes + bytes + items + (isList ? 2 * parents.count : 0);
    const there: Found = { count: values, values: needsLook(planned) ? (found?.below ?? null) : null };
    addAll(planned.below, there, position);
  }

  function addAll({ plain, fields }: PlannedFields, parents: Found, above: AnswerPosition): void {
    sum.leaves += parents.count * plain.leaves;
    sum.bytes += parents.count * plain.bytes;
    sum.points += parents.count * plain.points;
    for (const field of fields) add(field, parents, above);
  }

  const values = valuesOf(data);
  const whole: Found = { count: values === null ? 0 : 1, values };
  addAll(operation, whole, root);
  return sum;
}
