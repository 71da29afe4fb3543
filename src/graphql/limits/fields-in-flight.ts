import { getNamedType, getNullableType, isListType } from 'graphql';
import { startsInOrder } from '../execution/execution-plan.ts';
import type { PlannedField, PlannedFields } from './cost-plan.ts';
import { type Asking, argumentsOf, isThere } from './planned-cost.ts';
import { assumptions, type FieldWeights, predict } from './predict.ts';
import { weighed } from './weight.ts';

/** Points of an item: one that is looked up, such as a contract by its id. */
const itemPoints = 0.02;

/**
 * Items of the fields that start in order, by their response keys from the root: their cost in items that are looked
 * up, without the statements that they share with others. Undefined for a single field, which starts anyway.
 */
export function itemsInFlight(operation: PlannedFields, asking: Asking): ReadonlyMap<string, number> | undefined {
  const [first, ...others] = operation.fields;
  if (first === undefined || (others.length === 0 && !startsInOrder(first.field))) return undefined;
  const found = new Map<string, number>();
  const seen: FieldWeights = new Map();
  predict(operation, asking, assumptions.charged, seen);
  const pointsOf = (planned: PlannedField): number => {
    const own = seen.get(planned);
    if (!own) return 0;
    const shared = planned.cost?.once ?? 0;
    return planned.below.fields.reduce((sum, field) => sum + pointsOf(field), weighed(own).points - shared);
  };
  const add = ({ fields }: PlannedFields, path: string) => {
    for (const field of fields) {
      const key = path + field.key;
      if (startsInOrder(field.field)) add(field.below, `${key}.`);
      else found.set(key, pointsOf(field) / itemPoints);
    }
  };
  add(operation, '');
  return found;
}

/** Types of arguments whose items each name an object. */
const namingTypes = new Set(['ID', 'OptionContractId', 'Ticker', '_Any']);

/** Objects that the lists among an operation's arguments name, and the argument that names most of them. */
export interface NamedIds {
  count: number;
  argument: string;
}

/** Counts the ids that arguments name, over all fields of an operation. */
export function idsNamed(operation: PlannedFields, asking: Asking): NamedIds {
  const counts = new Map<string, number>();
  const add = ({ fields }: PlannedFields) => {
    for (const planned of fields) {
      if (!isThere(planned, asking)) continue;
      for (const { name, type } of planned.field.args) {
        if (!isListType(getNullableType(type)) || !namingTypes.has(getNamedType(type).name)) continue;
        const named = argumentsOf(planned, asking).values?.[name];
        if (Array.isArray(named)) counts.set(name, (counts.get(name) ?? 0) + named.length);
      }
      add(planned.below);
    }
  };
  add(operation);
  const [most = ['', 0]] = [...counts].sort(([, a], [, b]) => b - a);
  return { count: [...counts.values()].reduce((sum, count) => sum + count, 0), argument: most[0] };
}
