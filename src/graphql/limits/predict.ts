import { longestLists, type Sizes } from '../../schema/cost.ts';
import type { PlannedField, PlannedFields } from './cost-plan.ts';
import { documentLimits } from './document-limits.ts';
import {
  type AnswerPosition,
  type Asking,
  isThere,
  itemsOf,
  positionOf,
  root,
  runPoints,
  timesOf,
  usualSizes,
} from './planned-cost.ts';
import { addWeight, nothing, type Weight, weights } from './weight.ts';

/** Assumptions about an answer, where the arguments of its document do not determine it. */
interface Assumption {
  /** Items of a field's list per parent. */
  items(planned: PlannedField, position: AnswerPosition, asking: Asking): number;
  /** Lengths of the lists that no argument bounds. */
  open: Sizes;
  /** Points of an error: of a field that reads data per parent, of an item that may be null. */
  error: number;
  /** Bytes of a text of any length; null = its usual ones. */
  textBytes: number | null;
}

/** Items of a field's list per parent: its recent length if no argument gives one, at most its maximum. */
function chargedItems(planned: PlannedField, position: AnswerPosition, { learned }: Asking): number {
  const { items, isAsked } = itemsOf(planned, position);
  return isAsked || position.path === null ? items : learned.expected(position.path, items);
}

/** As `chargedItems`, without the room that is left for growth. */
function expectedItems(planned: PlannedField, position: AnswerPosition, { learned }: Asking): number {
  const { items, isAsked } = itemsOf(planned, position);
  const seen = isAsked || position.path === null ? undefined : learned.seen(position.path);
  return seen === undefined ? items : Math.min(seen, items);
}

function mostItems(planned: PlannedField, position: AnswerPosition): number {
  return Math.max(planned.cost?.mostRows ?? 0, itemsOf(planned, position, longestLists).items);
}

/** Assumptions by which an operation is charged before it runs, and of estimates. */
export const assumptions = {
  charged: { items: chargedItems, open: usualSizes, error: 0, textBytes: null },
  expected: { items: expectedItems, open: usualSizes, error: 0, textBytes: null },
  // An answer with longer texts is stopped.
  maximum: { items: mostItems, open: longestLists, error: weights.error, textBytes: documentLimits.answerBytes },
} satisfies Record<string, Assumption>;

/** Weight of a planned field without those below it, and the items of its list over all parents. */
export interface FieldWeight extends Weight {
  items: number;
}

/** Weights of the fields of an answer that differ from row to row; others are part of the field above. */
export type FieldWeights = Map<PlannedField | null, FieldWeight>;

/**
 * Predicts the weight of an operation's answer by an assumption. `seen`, if given, gets the weight of each field, and
 * under null that of the plain fields of the root.
 */
export function predict(
  operation: PlannedFields,
  asking: Asking,
  assumed: Assumption = assumptions.charged,
  seen?: FieldWeights,
): Weight {
  const sum: Weight = { ...nothing };

  /** Points of running a field, with those of its errors. */
  function points(planned: PlannedField, parents: number, items: number, position: AnswerPosition): number {
    const { once, each } = planned.cost ?? {};
    const errors = (once === undefined && each === undefined ? 0 : parents) + (planned.mayLackItems ? items : 0);
    return runPoints(planned, parents, items, position, assumed.open) + errors * assumed.error;
  }

  /** Bytes of the values of a field. */
  function valueBytes({ cost, bytes }: PlannedField, values: number): number {
    if (cost?.isWritten && assumed.textBytes !== null) return Math.max(values * bytes, assumed.textBytes);
    return values * bytes;
  }

  function add(planned: PlannedField, parentsAbove: number, above: AnswerPosition): void {
    if (!isThere(planned, asking)) return;
    const { isList } = planned;
    const parents = parentsAbove * timesOf(planned, above, asking);
    if (parents === 0) return;
    const position = positionOf(planned, above, asking);
    const items = isList ? parents * assumed.items(planned, position, asking) : 0;
    const values = isList ? items : parents;
    const { plain } = planned.below;
    const own: FieldWeight = {
      points: points(planned, parents, items, position) + values * plain.points,
      leaves: parents + items + values * plain.leaves,
      rows: items,
      // Each item of a list has a comma; the comma of a field is counted with its key.
      bytes:
        parents * planned.keyBytes +
        valueBytes(planned, values) +
        items +
        (isList ? 2 * parents : 0) +
        values * plain.bytes,
      items,
    };
    seen?.set(planned, own);
    addWeight(sum, own);
    for (const field of planned.below.fields) add(field, values, position);
  }

  const own: FieldWeight = { ...operation.plain, rows: 0, items: 0 };
  seen?.set(null, own);
  addWeight(sum, own);
  for (const field of operation.fields) add(field, 1, root);
  return sum;
}
