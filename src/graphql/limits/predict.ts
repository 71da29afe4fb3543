import type { PlannedField, PlannedFields } from './plan.ts';
import { type Asking, isThere, itemsOf, type Place, placeOf, root, runPoints, timesOf } from './planned-cost.ts';
import { nothing, type Weight } from './weight.ts';

/** Items of a field's list for one parent: as many as it had lately where no argument says, at most as many as there may be. */
function expectedItems(planned: PlannedField, place: Place, { learned }: Asking): number {
  const { items, isAsked } = itemsOf(planned, place);
  return isAsked || place.path === null ? items : learned.expected(place.path, items);
}

/** Predicts what an operation's answer takes: what it took lately, or the most that it may. */
export function predict(operation: PlannedFields, asking: Asking): Weight {
  const sum: Weight = { ...nothing };

  function add(planned: PlannedField, parentsAbove: number, above: Place): void {
    if (!isThere(planned, asking)) return;
    const { isList } = planned;
    const parents = parentsAbove * timesOf(planned, above, asking);
    if (parents === 0) return;
    const place = placeOf(planned, above, asking);
    const items = isList ? parents * expectedItems(planned, place, asking) : 0;
    const values = isList ? items : parents;
    sum.points += runPoints(planned, parents, items, place);
    sum.leaves += parents + items;
    sum.rows += items;
    // Items of a list have a comma each, where the one of a field is its key's.
    sum.bytes += parents * planned.keyBytes + values * planned.bytes + items + (isList ? 2 * parents : 0);
    addAll(planned.below, values, place);
  }

  function addAll({ plain, fields }: PlannedFields, parents: number, above: Place): void {
    sum.leaves += parents * plain.leaves;
    sum.bytes += parents * plain.bytes;
    for (const field of fields) add(field, parents, above);
  }

  addAll(operation, 1, root);
  return sum;
}
