import type { PlannedField, PlannedFields } from './cost-plan.ts';
import {
  type AnswerPosition,
  type Asking,
  isThere,
  itemsOf,
  positionOf,
  root,
  runPoints,
  timesOf,
} from './planned-cost.ts';
import { nothing, type Weight } from './weight.ts';

/** Expected items of a field's list per parent: its recent length if no argument gives one, at most its maximum. */
function expectedItems(planned: PlannedField, position: AnswerPosition, { learned }: Asking): number {
  const { items, isAsked } = itemsOf(planned, position);
  return isAsked || position.path === null ? items : learned.expected(position.path, items);
}

/** Predicts the weight of an operation's answer: that of recent answers, or the maximum. */
export function predict(operation: PlannedFields, asking: Asking): Weight {
  const sum: Weight = { ...nothing };

  function add(planned: PlannedField, parentsAbove: number, above: AnswerPosition): void {
    if (!isThere(planned, asking)) return;
    const { isList } = planned;
    const parents = parentsAbove * timesOf(planned, above, asking);
    if (parents === 0) return;
    const position = positionOf(planned, above, asking);
    const items = isList ? parents * expectedItems(planned, position, asking) : 0;
    const values = isList ? items : parents;
    sum.points += runPoints(planned, parents, items, position);
    sum.leaves += parents + items;
    sum.rows += items;
    // Each item of a list has a comma; the comma of a field is counted with its key.
    sum.bytes += parents * planned.keyBytes + values * planned.bytes + items + (isList ? 2 * parents : 0);
    addAll(planned.below, values, position);
  }

  function addAll({ plain, fields }: PlannedFields, parents: number, above: AnswerPosition): void {
    sum.leaves += parents * plain.leaves;
    sum.bytes += parents * plain.bytes;
    sum.points += parents * plain.points;
    for (const field of fields) add(field, parents, above);
  }

  addAll(operation, 1, root);
  return sum;
}
