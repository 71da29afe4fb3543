import type { PlannedField, PlannedFields } from './cost-plan.ts';
import { type AnswerPosition, type Asking, argumentsOf, isThere, positionOf, root } from './planned-cost.ts';
import { assumptions, type FieldWeight, type FieldWeights, predict } from './predict.ts';
import { type Read, readsOf, type Subject } from './reads.ts';
import { type Weight, weighed } from './weight.ts';

/** A field of an operation before it runs. */
export interface FieldEstimate {
  /** Response keys from the root. */
  path: string;
  maximum: FieldWeight;
  expected: FieldWeight;
  /** True for a list. */
  isList: boolean;
  /** Arguments that decide the length of a list, such as `bars(limit)`; null = its own length does. */
  boundBy: string | null;
  /** Data that it reads. */
  reads: Read[];
}

/** Weights of an operation by every assumption, and of its fields. */
export interface OperationEstimate {
  charged: Weight;
  expected: Weight;
  maximum: Weight;
  fields: FieldEstimate[];
}

/** Position while the fields of an operation are described. */
interface Described {
  position: AnswerPosition;
  path: string;
  subject: Subject | null;
  /** Arguments that set the length of each kind of list. */
  boundBy: Readonly<Record<string, string>>;
}

/** The lengths that a field's arguments set, with the names of the arguments that were given and read for them. */
function boundsOf(planned: PlannedField, above: AnswerPosition, asking: Asking): Record<string, string> {
  const { cost, field } = planned;
  const { values } = argumentsOf(planned, asking);
  if (!cost?.sizes || values === null) return {};
  const read = new Set<string>();
  const noted = new Proxy(values, {
    get(target, name) {
      if (typeof name === 'string' && target[name] != null && target[name] !== false) read.add(name);
      return Reflect.get(target, name);
    },
  });
  const sizes = cost.sizes(noted as never, asking.caller, above.sizes);
  if (read.size === 0) return {};
  const text = `${field.name}(${[...read].join(', ')})`;
  return Object.fromEntries(Object.keys(sizes).map((name) => [name, text]));
}

const none: FieldWeight = { points: 0, leaves: 0, rows: 0, bytes: 0, items: 0 };

const withItems = (weight: FieldWeight | undefined): FieldWeight =>
  weight ? { ...weighed(weight), items: weight.items } : none;

/** Weighs an operation by every assumption, without running it. */
export function estimated(operation: PlannedFields, asking: Asking): OperationEstimate {
  const [expectedBy, maximumBy]: [FieldWeights, FieldWeights] = [new Map(), new Map()];
  const weights = {
    charged: weighed(predict(operation, asking)),
    expected: weighed(predict(operation, asking, assumptions.expected, expectedBy)),
    maximum: weighed(predict(operation, asking, assumptions.maximum, maximumBy)),
  };
  const fields: FieldEstimate[] = [];

  function add(planned: PlannedField, above: Described): void {
    const maximum = maximumBy.get(planned);
    if (!maximum || !isThere(planned, asking)) return;
    const { cost, isList, key } = planned;
    const { reads, subject } = readsOf(planned, argumentsOf(planned, asking).values, above.subject);
    const at: Described = {
      subject,
      position: positionOf(planned, above.position, asking),
      path: above.path === '' ? key : `${above.path}.${key}`,
      boundBy: { ...above.boundBy, ...boundsOf(planned, above.position, asking) },
    };
    fields.push({
      path: at.path,
      maximum: withItems(maximum),
      expected: withItems(expectedBy.get(planned)),
      isList,
      boundBy: isList ? (at.boundBy[typeof cost?.rows === 'string' ? cost.rows : 'page'] ?? null) : null,
      reads,
    });
    for (const below of planned.below.fields) add(below, at);
  }

  for (const field of operation.fields) add(field, { position: root, path: '', subject: null, boundBy: {} });
  return { ...weights, fields };
}
