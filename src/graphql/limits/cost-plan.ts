import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNullableType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import { type AnyCost, costOf } from '../../schema/cost.ts';
import { fragmentsOf, responseKey } from '../execution/document.ts';
import { weights } from './weight.ts';

/** A field of an operation for weighing: its fragments expanded, selections of one response key merged. */
export interface PlannedField {
  key: string;
  field: GraphQLField<unknown, unknown>;
  /** The first selection, for its arguments: all selections of one key have the same. */
  node: FieldNode;
  cost: AnyCost | undefined;
  isList: boolean;
  /** True for a list of objects of which each may be null, with an error of its own. */
  mayLackItems: boolean;
  /** Bytes of its key in the answer, and of one of its values. */
  keyBytes: number;
  bytes: number;
  /** Points of a look-up per parent, if the field declares no cost. */
  lookup: number;
  /** It is included if one of these sets holds as a whole; null = always. */
  conditions: Condition[][] | null;
  below: PlannedFields;
  /** True if its actual size requires visiting the answer: below are lists, or fields with a cost. */
  isCounted: boolean;
}

/** Fields of one object of the answer. */
export interface PlannedFields {
  /**
   * Fields that are always included and cost no more than their values, summed up with those below them, per object.
   */
  plain: { leaves: number; bytes: number; points: number };
  /** All other fields. */
  fields: PlannedField[];
}

/** A field while its selections are collected. */
type CollectedField = Omit<PlannedField, 'below'> & { below: CollectedFields };
type CollectedFields = Map<string, CollectedField>;

/** True if a field adds the same for every object: nothing about it depends on arguments, variables or the answer. */
function isPlain({ conditions, isCounted, cost, below }: PlannedField): boolean {
  return conditions === null && !isCounted && !cost?.times && below.fields.length === 0;
}

function summedUp(collected: CollectedFields): PlannedFields {
  const plain = { leaves: 0, bytes: 0, points: 0 };
  const fields: PlannedField[] = [];
  for (const each of collected.values()) {
    const field: PlannedField = { ...each, below: summedUp(each.below) };
    if (!isPlain(field)) {
      fields.push(field);
      continue;
    }
    plain.leaves += 1 + field.below.plain.leaves;
    plain.bytes += field.keyBytes + field.bytes + field.below.plain.bytes;
    plain.points += field.lookup + field.below.plain.points;
  }
  return { plain, fields };
}

/**
 * Inputs of weighing, with costs beyond those that the schema's fields declare: those of introspection, by
 * `Type.field`.
 */
export interface Weighing {
  schema: GraphQLSchema;
  introspectionCost: (coordinate: string) => AnyCost | undefined;
}

function fieldOf(schema: GraphQLSchema, parent: GraphQLCompositeType, name: string) {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  if (parent === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

/** True if a resolver reads more than its parent: something of the request. */
function looksUp({ name, resolve }: GraphQLField<unknown, unknown>): boolean {
  return resolve !== undefined && resolve.length > 1 && !name.startsWith('__');
}

function planned(node: FieldNode, field: GraphQLField<unknown, unknown>, cost: AnyCost | undefined): CollectedField {
  const key = responseKey(node);
  const list = getNullableType(field.type);
  const isList = isListType(list);
  return {
    key,
    field,
    node,
    cost,
    isList,
    mayLackItems: isList && isNullableType(list.ofType) && isCompositeType(list.ofType),
    // Its quotes, a colon and a comma.
    keyBytes: key.length + 4,
    bytes: cost?.bytes ?? valueBytes(getNamedType(field.type)),
    lookup: looksUp(field) && cost?.once === undefined && cost?.each === undefined ? weights.lookup : 0,
    conditions: [],
    below: new Map(),
    isCounted: isList || cost?.once !== undefined || cost?.each !== undefined || cost?.isWritten === true,
  };
}

/** Plans an operation, whose fields are within the limit. */
export function planOf(weighing: Weighing, document: DocumentNode, operation: OperationDefinitionNode): PlannedFields {
  const { schema, introspectionCost } = weighing;
  const fragments: ReadonlyMap<string, FragmentDefinitionNode> = fragmentsOf(document);

  function addField(to: CollectedFields, parent: GraphQLCompositeType, node: FieldNode, when: Condition[]): boolean {
    const field = fieldOf(schema, parent, node.name.value);
    if (!field) return false;
    // Fields of different types may share a key; either may be in the answer.
    const id = `${responseKey(node)} ${parent.name}.${field.name}`;
    const found =
      to.get(id) ?? planned(node, field, costOf(field) ?? introspectionCost(`${parent.name}.${field.name}`));
    to.set(id, found);
    if (when.length === 0) found.conditions = null;
    else found.conditions?.push(when);
    const type = getNamedType(field.type);
    if (node.selectionSet && isCompositeType(type) && add(found.below, type, node.selectionSet, []))
      found.isCounted = true;
    return found.isCounted;
  }

  /** Adds the fields of a selection. Returns true if one of them is counted. */
  function add(to: CollectedFields, parent: GraphQLCompositeType, set: SelectionSetNode, when: Condition[]): boolean {
    let isCounted = false;
    for (const node of set.selections) {
      const conditions = conditionsOf(node);
      if (conditions === null) continue;
      const all = conditions.length === 0 ? when : [...when, ...conditions];
      if (node.kind === Kind.FIELD) {
        isCounted = addField(to, parent, node, all) || isCounted;
        continue;
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
      const type = fragment?.typeCondition ? schema.getType(fragment.typeCondition.name.value) : parent;
      if (fragment && isCompositeType(type)) isCounted = add(to, type, fragment.selectionSet, all) || isCounted;
    }
    return isCounted;
  }

  const collected: CollectedFields = new Map();
  add(collected, schema.getRootType(operation.operation)!, operation.selectionSet, []);
  return summedUp(collected);
}

const braces = 2;

/** Bytes of a string of unknown length, including its quotes. */
const usualText = 20;

/** Bytes of a scalar's usual value as JSON, including quotes. */
const scalars: Record<string, number> = {
  Boolean: 5,
  Int: 5,
  // Most are prices of two decimals; greeks and exposures have all 17 digits.
  Float: 7,
  Long: 7,
  EpochMs: 13,
  StrikeThousandths: 7,
  SessionDate: 12,
  Ticker: 6,
  Instrument: 6,
  Timeframe: 4,
  OptionContractId: 24,
  ID: 28,
  // Eleven scope groups and their counts.
  CountsByName: 260,
};

/** Usual bytes of a value of a type as JSON; of an object, its braces alone. */
function valueBytes(type: GraphQLNamedType): number {
  if (!isLeafType(type)) return braces;
  if (isEnumType(type)) return 2 + Math.max(...type.getValues().map(({ name }) => name.length));
  return scalars[type.name] ?? usualText;
}

/** Condition of a selection by `@skip` and `@include`: it is included while a variable has a value. */
interface Condition {
  variable: string;
  is: boolean;
}

function conditionOf({ name, arguments: args = [] }: DirectiveNode): Condition | boolean {
  if (name.value !== 'skip' && name.value !== 'include') return true;
  const wanted = name.value === 'include';
  const value = args.find((argument) => argument.name.value === 'if')?.value;
  if (value?.kind === Kind.VARIABLE) return { variable: value.name.value, is: wanted };
  return value?.kind !== Kind.BOOLEAN || value.value === wanted;
}

/** The conditions of a selection, all of which must hold; null if it is never included. */
function conditionsOf({ directives = [] }: SelectionNode): Condition[] | null {
  const found = directives.map(conditionOf);
  if (found.includes(false)) return null;
  return found.filter((condition) => typeof condition === 'object');
}

/** True if one of several sets of conditions holds as a whole. */
export function anyHolds(sets: readonly Condition[][], variables: Readonly<Record<string, unknown>>): boolean {
  return sets.some((set) => set.every(({ variable, is }) => variables[variable] === is));
}
