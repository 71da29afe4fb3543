import {
  DirectiveLocation,
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { rightsOf } from '../../access/entitlement/entitlement.ts';
import type { AnyCost, AskingCaller, Sizes } from '../../schema/cost.ts';
import { startsInOrder } from '../execution/execution-plan.ts';
import { type Position, type Tallies, WrittenData } from '../execution/leaf-tally.ts';
import { scopeGroups } from '../scope-groups.ts';
import { type PlannedField, type PlannedFields, planOf, type Weighing } from './cost-plan.ts';
import { estimated, type OperationEstimate } from './field-estimates.ts';
import {
  type AnswerPosition,
  type Asking,
  argumentsOf,
  isThere,
  itemsOf,
  type LearnedByRights,
  learnedSizes,
  positionOf,
  root,
  runPoints,
} from './planned-cost.ts';
import { assumptions, type FieldWeights, predict } from './predict.ts';
import { nothing, type Weight, weighed, weights } from './weight.ts';

/** Points of each field of introspection. */
const each = 0.004;

/** Bytes of texts that introspection returns. */
const bytes: Record<string, number> = { description: 90, name: 16, deprecationReason: 4, defaultValue: 6 };

const count = (items: object | undefined) => (items === undefined ? 0 : Object.keys(items).length);

/** Number of items of each list of each type. */
function sizesByType(schema: GraphQLSchema): Record<string, number>[] {
  return Object.values(schema.getTypeMap()).map((type) => {
    const hasFields = isObjectType(type) || isInterfaceType(type);
    return {
      fields: hasFields ? count(type.getFields()) : 0,
      inputFields: isInputObjectType(type) ? count(type.getFields()) : 0,
      enumValues: isEnumType(type) ? type.getValues().length : 0,
      interfaces: hasFields ? type.getInterfaces().length : 0,
      possibleTypes: isInterfaceType(type) ? schema.getPossibleTypes(type).length : 0,
    };
  });
}

/** Number of arguments of each field. */
function argumentCounts(schema: GraphQLSchema): number[] {
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()).map(({ args }) => args.length) : [],
  );
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** A type has at most three wrappers: `[T!]!`. The named type within has none. */
const mostWrappers = 3;

/** Costs of the fields that lead to types: any type may be the largest, and types of fields are wrapped. */
function typeCosts(query: string, usual: Sizes, largest: Sizes, typeCount: number): Record<string, AnyCost> {
  const wrapped = { sizes: () => ({ ...largest, wrappers: mostWrappers }) };
  const named = { sizes: () => ({ ...largest, wrappers: 0 }) };
  return {
    [`${query}.__schema`]: {},
    [`${query}.__type`]: named,
    '__Schema.types': { rows: typeCount, sizes: () => ({ ...usual, wrappers: 0 }) },
    '__Schema.directives': { rows: 'directives', sizes: () => largest },
    '__Type.interfaces': named,
    '__Type.possibleTypes': named,
    '__Field.type': wrapped,
    '__InputValue.type': wrapped,
    '__Type.ofType': {
      times: (_args, { wrappers = mostWrappers }) => Math.min(1, wrappers),
      sizes: (_args, _caller, { wrappers = mostWrappers }) => ({ ...largest, wrappers: Math.max(0, wrappers - 1) }),
    },
    '__Directive.locations': { rows: 'locations' },
  };
}

/**
 * Costs of introspection, by `Type.field`. The lengths of a schema's lists are known: all types together have the mean
 * of each, so that `types { fields }` has its actual length; a single type may be the largest.
 */
function introspectionCosts(schema: GraphQLSchema): (coordinate: string) => AnyCost | undefined {
  const types = sizesByType(schema);
  const args = argumentCounts(schema);
  const sizes = (of: (values: readonly number[]) => number): Sizes => ({
    ...Object.fromEntries(Object.keys(types[0]!).map((list) => [list, of(types.map((type) => type[list]!))])),
    args: of(args),
    directives: schema.getDirectives().length,
    locations: Object.keys(DirectiveLocation).length,
  });
  const [usual, largest] = [sizes(mean), sizes((values) => Math.max(...values))];
  const known = new Map<string, AnyCost>();
  for (const [coordinate, cost] of Object.entries(typeCosts(schema.getQueryType()!.name, usual, largest, types.length)))
    known.set(coordinate, { each, ...cost });
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || !isIntrospectionType(type)) continue;
    for (const name of Object.keys(type.getFields())) {
      const coordinate = `${type.name}.${name}`;
      const text = name in bytes ? { bytes: bytes[name]! } : {};
      known.set(coordinate, { each, ...(name in largest && { rows: name }), ...text, ...known.get(coordinate) });
    }
  }
  return (coordinate) => known.get(coordinate);
}

/** Predicted weight of a request, before it runs. */
export interface Prediction extends Weight {
  /** Counts its actual weight in the data of its answer. */
  actual: (data: unknown) => Weight;
  /** The most that it can weigh, without errors that no field of the operation gives. */
  maximum: () => Weight;
  /** Objects that its arguments name. */
  ids: NamedIds;
  /** Items of the fields that start in the order of the document; undefined = there is one. */
  inFlight: () => ReadonlyMap<string, number> | undefined;
}

/**
 * An operation's weight as a formula: built once per document, evaluated with the variables and the caller of each
 * request.
 */
export interface WeighedOperation {
  kind: OperationTypeNode;
  /** Scope groups that its usage is counted under. */
  groups: readonly string[];
  /** Predicts a request by its coerced variables, and the points of reading its body. */
  predict(variables: Record<string, unknown>, caller: AskingCaller, sentPoints?: number): Prediction;
  /** Weighs a request by every assumption, and each of its fields. */
  estimate(
    variables: Record<string, unknown>,
    caller: AskingCaller,
    sentPoints?: number,
  ): OperationEstimate & Pick<Prediction, 'ids'>;
}

function withPoints(weight: Weight, points: number): Weight {
  return { ...weight, points: weight.points + points };
}

function formula(
  weighing: Weighing,
  learned: LearnedByRights,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): WeighedOperation {
  const { schema } = weighing;
  const fields = planOf(weighing, document, operation);
  const tokens = document.tokenCount ?? 0;
  const askingOf = (variables: Asking['variables'], caller: AskingCaller): Asking => ({
    variables,
    caller,
    learned: learned(rightsOf(caller)),
    argumentsRead: new Map(),
  });
  return {
    kind: operation.operation,
    groups: scopeGroups(schema, document, operation.name?.value),
    predict(variables, caller, sentPoints = 0) {
      const asking = askingOf(variables, caller);
      const points = tokens * weights.token + sentPoints;
      return {
        ...withPoints(weighed(predict(fields, asking)), points),
        actual: (data) => withPoints(weighed(actual(fields, data, asking)), points),
        maximum: () => withPoints(weighed(predict(fields, asking, assumptions.maximum)), points),
        ids: idsNamed(fields, asking),
        inFlight: () => itemsInFlight(fields, asking),
      };
    },
    estimate(variables, caller, sentPoints = 0) {
      const asking = askingOf(variables, caller);
      const { charged, expected, maximum, ...others } = estimated(fields, asking);
      const points = tokens * weights.token + sentPoints;
      return {
        ...others,
        ids: idsNamed(fields, asking),
        charged: withPoints(charged, points),
        expected: withPoints(expected, points),
        maximum: withPoints(maximum, points),
      };
    },
  };
}

const noIds: NamedIds = { count: 0, argument: '' };

/** The weight if the document has no such operation, which the execution reports: nothing. */
const noOperation: WeighedOperation = {
  kind: OperationTypeNode.QUERY,
  groups: [],
  predict: () => ({
    ...nothing,
    actual: () => nothing,
    maximum: () => nothing,
    ids: noIds,
    inFlight: () => undefined,
  }),
  estimate: () => ({ charged: nothing, expected: nothing, maximum: nothing, ids: noIds, fields: [] }),
};

/** Weighs an operation of a validated document. */
export type OperationWeights = (document: DocumentNode, operationName: string | null | undefined) => WeighedOperation;

/** Builds the formulas of stored documents, which their owner keeps, each at its first request: few are asked. */
export function storedWeights(schema: GraphQLSchema) {
  const weighing: Weighing = { schema, introspectionCost: introspectionCosts(schema) };
  const learned = learnedSizes();
  return (document: DocumentNode, operation: OperationDefinitionNode): WeighedOperation => {
    let built: WeighedOperation | null = null;
    const build = () => {
      built ??= formula(weighing, learned, document, operation);
      return built;
    };
    return {
      kind: operation.operation,
      groups: scopeGroups(schema, document, operation.name?.value),
      predict: (...asked) => build().predict(...asked),
      estimate: (...asked) => build().estimate(...asked),
    };
  };
}

/**
 * Builds formulas of operations. Each lives as long as its operation: a formula refers to the nodes of its document,
 * whose cache is bounded for both.
 */
export function operationWeights(schema: GraphQLSchema): OperationWeights {
  const weighing: Weighing = { schema, introspectionCost: introspectionCosts(schema) };
  const learned = learnedSizes();
  const formulas = new WeakMap<OperationDefinitionNode, WeighedOperation>();
  return (document, operationName) => {
    const operation = getOperationAST(document, operationName);
    if (!operation) return noOperation;
    const found = formulas.get(operation) ?? formula(weighing, learned, document, operation);
    formulas.set(operation, found);
    return found;
  };
}

/** Points of an item: one that is looked up, such as a contract by its id. */
const itemPoints = 0.02;

/**
 * Items of the fields that start in order, by their response keys from the root: their cost in items that are looked
 * up, without the statements that they share with others. Undefined for a single field, which starts anyway.
 */
function itemsInFlight(operation: PlannedFields, asking: Asking): ReadonlyMap<string, number> | undefined {
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
interface NamedIds {
  count: number;
  argument: string;
}

/** Counts the ids that arguments name, over all fields of an operation. */
function idsNamed(operation: PlannedFields, asking: Asking): NamedIds {
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
function actual(operation: PlannedFields, data: unknown, asking: Asking): Weight {
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
